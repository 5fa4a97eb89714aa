//! The tokens that targets call back with. They are derived and not stored: a token is the attempt that it
//! is for, and a mark that only the key makes.
//!
//! `cb_` + base64url(execution · step · attempt) + `.` + base64url(mark)

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;
use subtle::ConstantTimeEq as _;
use zeroize::Zeroizing;

use crate::id::ExecutionId;

const PREFIX: &str = "cb_";
/// What the key is derived for: another purpose would have another key.
const PURPOSE: &[u8] = b"refire callback token v1";
const MARK_BYTES: usize = 16;
const NAME_BYTES: usize = 16 + 2 + 4;

/// The attempt that a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenFor {
    /// The execution.
    pub execution: ExecutionId,
    /// The place of the step in its definition.
    pub step_no: u16,
    /// The attempt.
    pub attempt: u32,
}

impl TokenFor {
    /// Its name as bytes, which tell it from every other.
    #[must_use]
    pub fn bytes(&self) -> [u8; NAME_BYTES] {
        let mut bytes = [0; NAME_BYTES];
        bytes[..16].copy_from_slice(self.execution.as_bytes());
        bytes[16..18].copy_from_slice(&self.step_no.to_be_bytes());
        bytes[18..].copy_from_slice(&self.attempt.to_be_bytes());
        bytes
    }

    fn read(bytes: [u8; NAME_BYTES]) -> Self {
        let (execution, rest) = bytes.split_at(16);
        let (step_no, attempt) = rest.split_at(2);
        Self {
            execution: ExecutionId::from_bytes(execution.try_into().unwrap_or_default()),
            step_no: u16::from_be_bytes(step_no.try_into().unwrap_or_default()),
            attempt: u32::from_be_bytes(attempt.try_into().unwrap_or_default()),
        }
    }
}

/// What makes tokens and knows them again. Wiped when dropped, never shown.
pub struct TokenKey(Zeroizing<[u8; 32]>);

impl std::fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TokenKey(…)")
    }
}

impl TokenKey {
    /// The key that a master key gives.
    #[must_use]
    pub fn of(master: &[u8]) -> Self {
        Self(Zeroizing::new(mac(master, PURPOSE)))
    }

    /// The token of an attempt.
    #[must_use]
    pub fn token(&self, of: TokenFor) -> String {
        let name = of.bytes();
        let mark = mac(&*self.0, &name);
        let mut text = PREFIX.to_owned();
        URL_SAFE_NO_PAD.encode_string(name, &mut text);
        text.push('.');
        URL_SAFE_NO_PAD.encode_string(&mark[..MARK_BYTES], &mut text);
        text
    }
}

/// The attempt that a token is for, if one of these keys made it. What is cut, lengthened or changed is
/// nobody's; how far it is right cannot be told by the time that this takes.
#[must_use]
pub fn read<'a>(token: &str, keys: impl IntoIterator<Item = &'a TokenKey>) -> Option<TokenFor> {
    let (name, _) = token.strip_prefix(PREFIX)?.split_once('.')?;
    let mut bytes = [0; NAME_BYTES];
    let length = URL_SAFE_NO_PAD.decode_slice(name, &mut bytes).ok()?;
    let of = TokenFor::read(bytes);
    // As it is written, so that there is one text for each token.
    let is_theirs = |key: &TokenKey| bool::from(key.token(of).as_bytes().ct_eq(token.as_bytes()));
    let known = keys
        .into_iter()
        .fold(false, |known, key| known | is_theirs(key));
    (length == NAME_BYTES && known).then_some(of)
}

fn mac(key: &[u8], text: &[u8]) -> [u8; 32] {
    // A code of this kind takes keys of any length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return [0; 32];
    };
    mac.update(text);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF: TokenFor = TokenFor {
        execution: ExecutionId::from_bytes([7; 16]),
        step_no: 3,
        attempt: 2,
    };

    #[test]
    fn a_token_is_for_one_attempt_and_of_one_key() {
        let (key, other) = (TokenKey::of(&[1; 32]), TokenKey::of(&[2; 32]));
        let token = key.token(OF);
        assert_eq!(
            token,
            "cb_BwcHBwcHBwcHBwcHBwcHBwADAAAAAg.dVBD9DHdNgFF_KCv6ypKqw"
        );
        assert_eq!(read(&token, [&key]), Some(OF));
        assert_eq!(
            read(&token, [&other, &key]),
            Some(OF),
            "while the key changes both count"
        );
        assert_eq!(read(&token, [&other]), None);
        assert_eq!(read(&token, []), None);
        let next = TokenFor { attempt: 3, ..OF };
        assert_ne!(key.token(next), token);
    }

    #[test]
    fn what_was_changed_is_nobodys() {
        let key = TokenKey::of(&[1; 32]);
        let token = key.token(OF);
        for (at, letter) in token.char_indices() {
            let changed = if letter == 'A' { 'B' } else { 'A' };
            let mut other = token.clone();
            other.replace_range(at..=at, &changed.to_string());
            assert_eq!(read(&other, [&key]), None, "{other}");
            assert_eq!(read(&token[..at], [&key]), None);
        }
        let (name, mark) = token.split_once('.').unwrap();
        let mine = key.token(TokenFor { attempt: 1, ..OF });
        let (_, other_mark) = mine.split_once('.').unwrap();
        for other in [
            format!("{token}A"),
            format!("{token}="),
            format!("{token}."),
            format!(" {token}"),
            format!("{name}.{other_mark}"),
            format!("{name}=.{mark}"),
            token.replace("cb_", "xx_"),
            token.replace('.', ""),
            String::new(),
            "cb_.".to_owned(),
        ] {
            assert_eq!(read(&other, [&key]), None, "{other}");
        }
    }
}
