//! The headers of a request as its row holds them: those that may be shown, and all of them sealed, for a
//! later check.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use refire_core::id::RequestId;
use refire_core::webhook::Method;
use refire_core::webhook::headers::{Shown, unpack};
use refire_core::webhook::key::body_hash;
use refire_store::RequestRow;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::TriggerError;
use crate::entropy::Entropy;
use crate::vault::{Belongs, Vault};

/// What the sealed headers are for.
const PURPOSE: &str = "webhook request";
/// The same where the signature or key was checked. It is a part of the seal, as is the body that was
/// checked: nobody makes a checked request of another one by changing its row.
const PURPOSE_VERIFIED: &str = "verified webhook request";

/// The headers of a request, as a row holds them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoggedHeaders {
    /// Name and value, in their order, without secrets.
    pub headers: Vec<(String, String)>,
    /// How many did not fit.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// All of them, sealed, for a later check of what was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sealed: Option<String>,
    /// How the sender was recognised when the request came. Absent if it was not, or if nothing tells who
    /// the sender is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verified_by: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks in this way")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl LoggedHeaders {
    /// Where it is not known which of them are secret, none is shown.
    pub(super) fn hidden(count: usize) -> Self {
        Self::new(Shown {
            headers: Vec::new(),
            left_out: count,
        })
    }

    /// What the log shows of them.
    pub(super) fn new(shown: Shown) -> Self {
        Self {
            headers: shown.headers,
            left_out: shown.left_out,
            sealed: None,
            verified_by: None,
        }
    }

    /// The same with everything that a later check needs.
    pub(super) fn with_sealed(
        mut self,
        vault: Option<&Vault>,
        entropy: &dyn Entropy,
        owner: &Owner,
        packed: Vec<u8>,
    ) -> Self {
        let packed = Zeroizing::new(packed);
        let sealed = vault.and_then(|vault| vault.seal(entropy, owner.belongs(), &packed).ok());
        self.sealed = sealed.map(|bytes| STANDARD_NO_PAD.encode(bytes));
        self.verified_by = owner.verified_by.map(|method| method.as_str().to_owned());
        self
    }

    /// How the sender was recognised when the request came.
    pub(super) fn verified_by(&self) -> Option<Method> {
        let word = self.verified_by.as_deref()?;
        Method::ALL
            .into_iter()
            .find(|method| method.as_str() == word)
    }

    /// What a row holds.
    #[must_use]
    pub fn read(row: &RequestRow) -> Option<Self> {
        serde_json::from_slice(&row.headers).ok()
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// The headers as they came.
    pub(super) fn open(
        &self,
        vault: Option<&Vault>,
        request: RequestId,
        body: &[u8],
    ) -> Result<Vec<(String, Vec<u8>)>, TriggerError> {
        let vault = vault.ok_or(TriggerError::NoMasterKey)?;
        let sealed = self.sealed.as_ref().ok_or(TriggerError::NotKept)?;
        let sealed = STANDARD_NO_PAD
            .decode(sealed)
            .map_err(|_| TriggerError::NotKept)?;
        let owner = Owner::new(request, self.verified_by(), body);
        let packed = vault.open(owner.belongs(), &sealed)?;
        let headers = unpack(&packed.secret).ok_or(TriggerError::NotKept)?;
        let owned = |(name, value): (&str, &[u8])| (name.to_owned(), value.to_vec());
        Ok(headers.into_iter().map(owned).collect())
    }
}

/// Whose the sealed headers are: a request, with all that was checked of it.
pub(super) struct Owner {
    verified_by: Option<Method>,
    purpose: &'static str,
    bytes: Vec<u8>,
}

impl Owner {
    pub(super) fn new(request: RequestId, verified_by: Option<Method>, body: &[u8]) -> Self {
        let id = request.as_bytes().as_slice();
        let (purpose, bytes) = match verified_by {
            None => (PURPOSE, id.to_vec()),
            Some(method) => {
                let hash = body_hash(body);
                let bytes = [id, &hash, method.as_str().as_bytes()].concat();
                (PURPOSE_VERIFIED, bytes)
            }
        };
        Self {
            verified_by,
            purpose,
            bytes,
        }
    }

    fn belongs(&self) -> Belongs<'_> {
        Belongs {
            purpose: self.purpose,
            owner: &self.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use refire_core::webhook::Headers;
    use refire_core::webhook::headers::pack;

    use super::*;
    use crate::entropy::SystemEntropy;
    use crate::vault::MasterKey;

    #[test]
    fn nobody_makes_a_verified_request_by_changing_its_row() {
        let entropy = SystemEntropy::default();
        let vault = Vault::new(MasterKey::random(&entropy), None);
        let id = RequestId::from_bytes([7; 16]);
        let logged = |verified_by| {
            let pairs: [(&str, &[u8]); 1] = [("x-from", b"crm")];
            let packed = pack(None, Headers(&pairs));
            let owner = Owner::new(id, verified_by, b"{}");
            LoggedHeaders::hidden(1).with_sealed(Some(&vault), &entropy, &owner, packed)
        };
        let opens = |logged: &LoggedHeaders, body: &[u8]| logged.open(Some(&vault), id, body);
        let (plain, verified) = (logged(None), logged(Some(Method::Hmac)));
        assert!(opens(&plain, b"{}").is_ok());
        assert!(opens(&verified, b"{}").is_ok());
        assert_eq!(verified.verified_by(), Some(Method::Hmac));
        assert!(opens(&verified, b"[]").is_err(), "another body");
        for (row, word) in [
            (&plain, Some("hmac")),
            (&verified, None),
            (&verified, Some("github")),
        ] {
            let changed = LoggedHeaders {
                verified_by: word.map(str::to_owned),
                ..row.clone()
            };
            assert!(opens(&changed, b"{}").is_err(), "{word:?}");
        }
        // A row of a version that knew nothing of this.
        let old = String::from_utf8(plain.to_bytes()).unwrap();
        assert!(!old.contains("verified_by"), "{old}");
    }
}
