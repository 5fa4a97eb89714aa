//! Secrets at rest: sealed with a key that is not in the database.
//!
//! A sealed secret is `version · key id · nonce · ciphertext and tag` (XChaCha20-Poly1305). What it
//! belongs to, its purpose and its owner, is not stored with it but is part of the seal: moved to
//! another row, it does not open. The key id is a hash of the key, so that a key is told from
//! another without trying it; it says nothing of the key.
//!
//! Two master keys may be known, for a change of the key: everything is sealed with the current
//! one, and what the previous one sealed still opens and says that it wants to be sealed anew.

use std::fmt;

use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use refire_core::callback::token::TokenKey;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use crate::entropy::Entropy;

/// Bytes of a master key.
pub const MASTER_KEY_BYTES: usize = 32;

/// The only layout so far.
const VERSION: u8 = 1;
const KEY_ID_BYTES: usize = 8;
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
/// What stands before the ciphertext.
const HEAD_BYTES: usize = 1 + KEY_ID_BYTES + NONCE_BYTES;
/// Set before a key when its id is hashed, so that the hash is of use for nothing else.
const KEY_ID_CONTEXT: &[u8] = b"refire master key id";

/// What became of secrets that were to be sealed with a new master key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Resealed {
    /// Secrets that were sealed anew.
    pub sealed: u64,
    /// Secrets that open with neither key.
    pub closed: u64,
}

impl std::ops::Add for Resealed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            sealed: self.sealed + other.sealed,
            closed: self.closed + other.closed,
        }
    }
}

/// A key that seals. Wiped when dropped, never shown.
pub struct MasterKey {
    bytes: Zeroizing<[u8; MASTER_KEY_BYTES]>,
    id: [u8; KEY_ID_BYTES],
}

impl MasterKey {
    /// A key from its bytes.
    #[must_use]
    pub fn new(bytes: [u8; MASTER_KEY_BYTES]) -> Self {
        let digest = Sha256::new()
            .chain_update(KEY_ID_CONTEXT)
            .chain_update(bytes)
            .finalize();
        let mut id = [0; KEY_ID_BYTES];
        id.copy_from_slice(&digest[..KEY_ID_BYTES]);
        Self {
            bytes: Zeroizing::new(bytes),
            id,
        }
    }

    /// A new key.
    #[must_use]
    pub fn random(entropy: &dyn Entropy) -> Self {
        let mut bytes = Zeroizing::new([0; MASTER_KEY_BYTES]);
        entropy.fill(&mut *bytes);
        Self::new(*bytes)
    }

    /// The bytes, to be written to the file they are kept in.
    #[must_use]
    pub fn reveal(&self) -> &[u8; MASTER_KEY_BYTES] {
        &self.bytes
    }

    /// What tells it apart from other keys; it does not help to guess one.
    #[must_use]
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.bytes).into())
    }
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MasterKey(…)")
    }
}

/// What a sealed secret belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Belongs<'a> {
    /// What it is for, such as `webhook secret`.
    pub purpose: &'a str,
    /// Whose it is: an id that never changes.
    pub owner: &'a [u8],
}

impl Belongs<'_> {
    /// Both parts, told apart by the length of the first.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(8 + self.purpose.len() + self.owner.len());
        bytes.extend((self.purpose.len() as u64).to_be_bytes());
        bytes.extend(self.purpose.as_bytes());
        bytes.extend(self.owner);
        bytes
    }
}

/// A secret that was opened.
pub struct Opened {
    /// The secret; wiped when dropped.
    pub secret: Zeroizing<Vec<u8>>,
    /// It was sealed with the previous master key and should be sealed anew.
    pub stale: bool,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("stale", &self.stale)
            .finish_non_exhaustive()
    }
}

/// Why a secret cannot be sealed or opened. Says nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VaultError {
    /// The key that it needs is not here.
    #[error("sealed with another master key")]
    OtherKey,
    /// It was changed, cut, or belongs to something else.
    #[error("the sealed secret is damaged or belongs to something else")]
    Damaged,
    /// It was made by a newer version of the program.
    #[error("sealed in a form that this version does not know")]
    UnknownForm,
    /// It is larger than the cipher can take.
    #[error("too large to be sealed")]
    TooLarge,
}

/// Seals and opens secrets.
#[derive(Debug)]
pub struct Vault {
    current: MasterKey,
    previous: Option<MasterKey>,
}

impl Vault {
    /// A vault with the key that seals, and the one before it during a change.
    #[must_use]
    pub fn new(current: MasterKey, previous: Option<MasterKey>) -> Self {
        Self { current, previous }
    }

    /// What tells the current key apart from others.
    #[must_use]
    pub fn key_id(&self) -> &[u8] {
        self.current.id()
    }

    /// Whether the key is being changed.
    #[must_use]
    pub fn is_changing(&self) -> bool {
        self.previous.is_some()
    }

    /// Whether one of its keys has this id.
    #[must_use]
    pub fn has_key(&self, id: &[u8]) -> bool {
        let keys = [Some(&self.current), self.previous.as_ref()];
        keys.into_iter().flatten().any(|key| key.id == *id)
    }

    /// Whether one of its keys sealed this, as far as can be told without opening it.
    #[must_use]
    pub fn knows(&self, sealed: &[u8]) -> bool {
        let id = sealed.get(1..=KEY_ID_BYTES);
        id.is_some_and(|id| self.has_key(id))
    }

    /// What the tokens of callbacks are made with, and were made with before a change of the key.
    #[must_use]
    pub(crate) fn token_keys(&self) -> (Option<TokenKey>, Option<TokenKey>) {
        let of = |key: &MasterKey| TokenKey::of(&*key.bytes);
        (Some(of(&self.current)), self.previous.as_ref().map(of))
    }

    /// Seals a secret with the current key.
    ///
    /// # Errors
    /// When it is larger than the cipher can take (256 GiB).
    pub fn seal(
        &self,
        entropy: &dyn Entropy,
        belongs: Belongs<'_>,
        secret: &[u8],
    ) -> Result<Vec<u8>, VaultError> {
        // So many random bytes never meet twice, so no counter needs to be kept.
        let mut nonce = [0; NONCE_BYTES];
        entropy.fill(&mut nonce);
        let payload = Payload {
            msg: secret,
            aad: &belongs.bytes(),
        };
        let sealed = self
            .current
            .cipher()
            .encrypt(&XNonce::from(nonce), payload)
            .map_err(|_| VaultError::TooLarge)?;
        let mut whole = Vec::with_capacity(HEAD_BYTES + sealed.len());
        whole.push(VERSION);
        whole.extend(self.current.id);
        whole.extend(nonce);
        whole.extend(sealed);
        Ok(whole)
    }

    /// The same secret sealed with the current key, if it was the previous one that had sealed it.
    ///
    /// # Errors
    /// When it opens with neither key.
    pub fn reseal(
        &self,
        entropy: &dyn Entropy,
        belongs: Belongs<'_>,
        sealed: &[u8],
    ) -> Result<Option<Vec<u8>>, VaultError> {
        let opened = self.open(belongs, sealed)?;
        match opened.stale {
            true => self.seal(entropy, belongs, &opened.secret).map(Some),
            false => Ok(None),
        }
    }

    /// Opens a sealed secret.
    ///
    /// # Errors
    /// When neither key sealed it, or it is not what was sealed for this owner and purpose.
    pub fn open(&self, belongs: Belongs<'_>, sealed: &[u8]) -> Result<Opened, VaultError> {
        let (version, rest) = sealed.split_first().ok_or(VaultError::Damaged)?;
        if *version != VERSION {
            return Err(VaultError::UnknownForm);
        }
        if sealed.len() < HEAD_BYTES + TAG_BYTES {
            return Err(VaultError::Damaged);
        }
        let (id, rest) = rest
            .split_first_chunk::<KEY_ID_BYTES>()
            .ok_or(VaultError::Damaged)?;
        let (nonce, text) = rest
            .split_first_chunk::<NONCE_BYTES>()
            .ok_or(VaultError::Damaged)?;
        let known = |key: &&MasterKey| key.id == *id;
        let previous = self.previous.as_ref().filter(known);
        let key = Some(&self.current).filter(known).or(previous);
        let key = key.ok_or(VaultError::OtherKey)?;
        let payload = Payload {
            msg: text,
            aad: &belongs.bytes(),
        };
        let secret = key
            .cipher()
            .decrypt(&XNonce::from(*nonce), payload)
            .map_err(|_| VaultError::Damaged)?;
        Ok(Opened {
            secret: Zeroizing::new(secret),
            stale: key.id != self.current.id,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SystemEntropy;

    const SECRET: &[u8] = b"canary-canary-canary-canary";
    const OWNER: Belongs<'static> = Belongs {
        purpose: "webhook secret",
        owner: b"trg_1",
    };

    fn key(byte: u8) -> MasterKey {
        MasterKey::new([byte; MASTER_KEY_BYTES])
    }

    fn sealed(byte: u8) -> Vec<u8> {
        Vault::new(key(byte), None)
            .seal(&SystemEntropy::default(), OWNER, SECRET)
            .unwrap()
    }

    #[test]
    fn what_is_sealed_opens() {
        let vault = Vault::new(MasterKey::random(&SystemEntropy::default()), None);
        for secret in [SECRET, b"", &[0; 5_000]] {
            let sealed = vault
                .seal(&SystemEntropy::default(), OWNER, secret)
                .unwrap();
            assert_eq!(sealed.len(), HEAD_BYTES + secret.len() + TAG_BYTES);
            let opened = vault.open(OWNER, &sealed).unwrap();
            assert_eq!(*opened.secret, secret);
            assert!(!opened.stale);
        }
        let kept = MasterKey::new(*vault.current.reveal());
        assert_eq!(kept.id, vault.current.id);
    }

    #[test]
    fn a_seal_is_never_the_same_twice_and_shows_nothing() {
        let [one, two] = [sealed(1), sealed(1)];
        assert_ne!(one, two);
        assert!(
            !one.windows(8)
                .any(|part| SECRET.windows(8).any(|known| known == part))
        );
        assert!(!one.windows(8).any(|part| part == [1; 8]));
    }

    #[test]
    fn it_opens_only_for_what_it_belongs_to() {
        let vault = Vault::new(key(1), None);
        let sealed = sealed(1);
        for other in [
            Belongs {
                owner: b"trg_2",
                ..OWNER
            },
            Belongs {
                purpose: "api key",
                ..OWNER
            },
            // The same bytes, divided elsewhere.
            Belongs {
                purpose: "webhook secrett",
                owner: b"rg_1",
            },
        ] {
            assert_eq!(vault.open(other, &sealed).unwrap_err(), VaultError::Damaged);
        }
    }

    #[test]
    fn every_bit_and_every_byte_counts() {
        let vault = Vault::new(key(1), None);
        let sealed = sealed(1);
        for place in 0..sealed.len() {
            for bit in 0..8 {
                let mut bent = sealed.clone();
                bent[place] ^= 1 << bit;
                let expected = match place {
                    0 => VaultError::UnknownForm,
                    1..=KEY_ID_BYTES => VaultError::OtherKey,
                    _ => VaultError::Damaged,
                };
                assert_eq!(vault.open(OWNER, &bent).unwrap_err(), expected, "{place}");
            }
            assert_eq!(
                vault.open(OWNER, &sealed[..place]).unwrap_err(),
                VaultError::Damaged
            );
        }
        let longer = [sealed.as_slice(), b"x"].concat();
        assert_eq!(vault.open(OWNER, &longer).unwrap_err(), VaultError::Damaged);
    }

    #[test]
    fn a_change_of_the_master_key_keeps_what_is_sealed() {
        let changing = Vault::new(key(2), Some(key(1)));
        let opened = changing.open(OWNER, &sealed(1)).unwrap();
        assert_eq!(*opened.secret, SECRET);
        assert!(opened.stale);
        assert!(!changing.open(OWNER, &sealed(2)).unwrap().stale);
        let anew = changing
            .seal(&SystemEntropy::default(), OWNER, &opened.secret)
            .unwrap();
        let changed = Vault::new(key(2), None);
        assert_eq!(*changed.open(OWNER, &anew).unwrap().secret, SECRET);
        let error = changed.open(OWNER, &sealed(1)).unwrap_err();
        assert_eq!(error.to_string(), "sealed with another master key");
    }

    #[test]
    fn debug_shows_nothing() {
        let vault = Vault::new(key(7), Some(key(8)));
        let opened = vault.open(OWNER, &sealed(7)).unwrap();
        let said = format!("{vault:?} {opened:?}");
        assert!(!said.contains('7') && !said.contains("99"), "{said}");
    }
}
