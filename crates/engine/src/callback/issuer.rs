//! What targets are given to call back with. Tokens are derived from the master key and stored nowhere.

use refire_core::callback::token::{self, TokenFor, TokenKey};

use crate::next_look::NextLook;
use crate::vault::Vault;

/// Where callbacks go on a server.
const PATH: &str = "/task-callback/";

/// Makes tokens and knows them again.
#[derive(Default)]
pub(crate) struct Issuer {
    current: Option<TokenKey>,
    /// While the master key changes, tokens of both count.
    previous: Option<TokenKey>,
    /// What the addresses begin with, without a slash at the end.
    base: String,
    /// When the windows are looked at next.
    pub(crate) windows: NextLook,
}

/// What one attempt's target is given. Never shown.
pub(crate) struct Issued {
    pub(crate) token: String,
    pub(crate) url: String,
}

impl Issuer {
    pub(crate) fn new(vault: Option<&Vault>, base: &str) -> Self {
        let (current, previous) = vault.map_or((None, None), Vault::token_keys);
        Self {
            current,
            previous,
            base: base.trim_end_matches('/').to_owned(),
            windows: NextLook::default(),
        }
    }

    /// Whether there is a key to make tokens with.
    pub(crate) fn has_key(&self) -> bool {
        self.current.is_some()
    }

    /// The token and address of an attempt; none without a master key.
    pub(crate) fn issue(&self, of: TokenFor) -> Option<Issued> {
        let token = self.current.as_ref()?.token(of);
        let url = format!("{}{PATH}{token}", self.base);
        Some(Issued { token, url })
    }

    /// The attempt that a token is for.
    pub(crate) fn read(&self, token: &str) -> Option<TokenFor> {
        let keys = [self.current.as_ref(), self.previous.as_ref()];
        token::read(token, keys.into_iter().flatten())
    }
}
