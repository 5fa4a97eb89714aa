//! Template values for a call: the execution's, the attempt's, and the secrets that only a call may see.

use std::borrow::Cow;
use std::cell::RefCell;

use refire_core::execution::{Execution, StateScope};
use refire_core::json::Json;
use refire_core::template::{Reference, Root, Scope};

use crate::callback::Issued;
use crate::secret::{SECRET_BYTES_MIN, Secrets};

/// The execution's values and secrets; remembers which secrets were given out.
pub(super) struct CallScope<'a> {
    state: StateScope<'a>,
    secrets: &'a dyn Secrets,
    used: RefCell<Vec<String>>,
    /// The first secret that is too short to be used.
    too_short: RefCell<Option<String>>,
    /// Which attempt it is.
    attempt: u32,
    /// What its target calls back with.
    issued: Option<&'a Issued>,
}

impl<'a> CallScope<'a> {
    pub(super) fn new(
        state: &'a Execution,
        secrets: &'a dyn Secrets,
        (attempt, issued): (u32, Option<&'a Issued>),
    ) -> Self {
        // Whatever it is used for, its target has it and may send it back.
        let used = issued.map(|issued| issued.token.clone());
        Self {
            state: StateScope::new(state),
            secrets,
            used: RefCell::new(used.into_iter().collect()),
            too_short: RefCell::default(),
            attempt,
            issued,
        }
    }

    /// The values of the secrets that were used: to be cut from whatever is recorded.
    pub(super) fn into_used(self) -> Vec<String> {
        self.used.into_inner()
    }

    /// The name of a secret that was asked for and is too short to be cut from what is recorded.
    pub(super) fn too_short(&self) -> Option<String> {
        self.too_short.borrow().clone()
    }
}

impl Scope for CallScope<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Cow<'_, str>> {
        let quoted = |text: &str| Some(Cow::Owned(Json::string(text).as_str().to_owned()));
        let name = match &reference.root {
            Root::Secret(name) => name,
            Root::Attempt => return Some(Cow::Owned(self.attempt.to_string())),
            Root::CallbackUrl => return quoted(&self.issued?.url),
            Root::CallbackToken => return quoted(&self.issued?.token),
            _ => return self.state.resolve(reference),
        };
        let value = self.secrets.get(name)?;
        if value.len() < SECRET_BYTES_MIN {
            self.too_short.borrow_mut().get_or_insert(name.to_string());
        }
        let text = Json::string(&value).as_str().to_owned();
        self.used.borrow_mut().push(value);
        Some(Cow::Owned(text))
    }

    fn is_exhausted(&self) -> bool {
        self.state.is_exhausted()
    }
}
