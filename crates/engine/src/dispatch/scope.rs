//! Template values for a call: the execution's, and the secrets that only a call may see.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use refire_core::execution::{Execution, StateScope};
use refire_core::json::Json;
use refire_core::template::{Reference, Root, Scope, Template};

use crate::secret::Secrets;

/// The execution's values and secrets; remembers which secrets were given out.
pub(super) struct CallScope<'a> {
    state: StateScope<'a>,
    secrets: &'a dyn Secrets,
    used: RefCell<Vec<String>>,
}

impl<'a> CallScope<'a> {
    pub(super) fn new(state: &'a Execution, secrets: &'a dyn Secrets) -> Self {
        Self {
            state: StateScope::new(state),
            secrets,
            used: RefCell::default(),
        }
    }

    /// The values of the secrets that were used: to be cut from whatever is recorded.
    pub(super) fn into_used(self) -> Vec<String> {
        self.used.into_inner()
    }
}

impl Scope for CallScope<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Cow<'_, str>> {
        let Root::Secret(name) = &reference.root else {
            return self.state.resolve(reference);
        };
        let value = self.secrets.get(name)?;
        let text = Json::string(&value).as_str().to_owned();
        self.used.borrow_mut().push(value);
        Some(Cow::Owned(text))
    }
}

/// Everything but letters, digits and `-._~` is escaped: a value stays inside its place.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Values for a URL: escaped once the address itself is settled, so that an input such as
/// `../admin?x=` cannot leave its place.
pub(super) struct UrlScope<'a> {
    inner: &'a CallScope<'a>,
    /// How many references from the left belong to the address and are taken as they are.
    plain: Cell<usize>,
}

impl<'a> UrlScope<'a> {
    pub(super) fn new(inner: &'a CallScope<'a>, url: &Template) -> Self {
        let prefix = url.literal_prefix();
        let path_is_literal = prefix
            .split_once("://")
            .is_some_and(|(_, rest)| rest.contains(['/', '?', '#']));
        Self {
            inner,
            plain: Cell::new(usize::from(!path_is_literal)),
        }
    }
}

impl Scope for UrlScope<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Cow<'_, str>> {
        // Counted whether it has a value or not: a default takes its place.
        let is_plain = self.plain.get() > 0;
        self.plain.set(self.plain.get().saturating_sub(1));
        let raw = self.inner.resolve(reference)?;
        if is_plain {
            return Some(raw);
        }
        let value = Json::parse(raw.as_ref()).ok()?;
        let text = value
            .as_text()
            .map_or_else(|| value.as_str().to_owned(), Cow::into_owned);
        let escaped = utf8_percent_encode(&text, VALUE).to_string();
        Some(Cow::Owned(Json::string(&escaped).as_str().to_owned()))
    }
}
