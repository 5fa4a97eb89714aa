//! The names people give: of workflows and of steps.
//!
//! A name is checked once, when it is made, so that whoever holds one can put it into a URL, a
//! template or a row without asking again.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The longest name, in characters (which are all ASCII).
pub const NAME_LENGTH_MAX: usize = 128;

/// What the names begin with that people cannot give.
const SYSTEM: char = '.';

/// Why a text cannot be a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NameError(String);

fn check(text: &str) -> Result<(), NameError> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    if text.is_empty() {
        return Err(NameError("the id is empty".to_owned()));
    }
    if let Some(bad) = text.chars().find(|c| !allowed(*c)) {
        return Err(NameError(format!(
            "an id consists of letters, digits, `_`, `.` and `-`; it cannot contain {bad:?}"
        )));
    }
    if text.len() > NAME_LENGTH_MAX {
        return Err(NameError(format!(
            "an id has at most {NAME_LENGTH_MAX} characters, this one has {}",
            text.len()
        )));
    }
    if text.starts_with(['.', '-']) {
        return Err(NameError("an id does not begin with `.` or `-`".to_owned()));
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Checks a text: 1–128 characters of `[A-Za-z0-9_.-]`, the first not `.` or `-`.
            ///
            /// # Errors
            /// Says which rule the text breaks.
            pub fn new(text: impl Into<Arc<str>>) -> Result<Self, NameError> {
                let text = text.into();
                check(&text)?;
                Ok(Self(text))
            }

            /// A text that was written down: also a name of the server's own.
            ///
            /// # Errors
            /// Says which rule the text breaks.
            pub fn kept(text: impl Into<Arc<str>>) -> Result<Self, NameError> {
                let text = text.into();
                check(text.strip_prefix(SYSTEM).unwrap_or(&text))?;
                Ok(Self(text))
            }

            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::str::FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::new(text)
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.0)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::kept(text).map_err(serde::de::Error::custom)
            }
        }
    };
}

name!(
    /// The name of a workflow. What the server itself runs has a name that begins with a dot, as none that
    /// people give does, and stands in no list.
    WorkflowId
);
name!(
    /// The name of a step; unique in its workflow.
    StepId
);

impl WorkflowId {
    /// Whether the server runs it for itself.
    #[must_use]
    pub fn is_system(&self) -> bool {
        is_system(&self.0)
    }
}

/// Whether a workflow's name is one that people cannot give.
#[must_use]
pub fn is_system(workflow: &str) -> bool {
    workflow.starts_with(SYSTEM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked() {
        for good in [
            "a",
            "customer_360_view",
            "A.b-c",
            "9lives",
            "_x",
            &"a".repeat(128),
        ] {
            assert!(StepId::new(good).is_ok(), "{good}");
        }
        let table = [
            ("", "empty"),
            ("a b", "cannot contain ' '"),
            ("ä", "cannot contain 'ä'"),
            ("a/b", "cannot contain '/'"),
            (".a", "does not begin"),
            ("-a", "does not begin"),
            (&"a".repeat(129), "at most 128"),
        ];
        for (bad, expected) in table {
            let said = WorkflowId::new(bad).expect_err(bad).to_string();
            assert!(said.contains(expected), "{bad:?}: {said}");
        }
    }

    #[test]
    fn only_the_server_has_names_with_a_dot() {
        assert!(WorkflowId::new(".notify").is_err());
        let own = WorkflowId::kept(".notify").unwrap();
        assert!(own.is_system());
        assert!(!WorkflowId::new("notify.x").unwrap().is_system());
        assert!(WorkflowId::kept("..").is_err() && WorkflowId::kept(".").is_err());
        let read: WorkflowId = serde_json::from_str("\".notify\"").unwrap();
        assert_eq!(read, own);
    }

    #[test]
    fn names_are_checked_when_read_back() {
        let id: StepId = serde_json::from_str("\"a-1\"").unwrap();
        assert_eq!(serde_json::to_string(&id).unwrap(), "\"a-1\"");
        assert!(serde_json::from_str::<StepId>("\"a 1\"").is_err());
    }
}
