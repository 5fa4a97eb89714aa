//! What kinds of tasks there are: a registry. A new kind is a file with its checks and defaults, and a line
//! here.

mod business;
mod custom;
mod maintenance;
mod notification;
mod report;
mod sync;

use super::target::Default;
use crate::definition::Problems;
use crate::definition::fields::Field;

/// Every kind, in the order of the documentation.
pub const TYPES: [&TaskType; 6] = [
    &notification::TYPE,
    &report::TYPE,
    &sync::TYPE,
    &maintenance::TYPE,
    &business::TYPE,
    &custom::TYPE,
];

/// A kind of task.
#[derive(Debug)]
pub struct TaskType {
    /// The word for it.
    pub name: &'static str,
    /// What such tasks do, for people.
    pub does: &'static str,
    /// Finds what is wrong with a task of this kind in particular.
    pub(super) check: fn(&Given<'_>, &mut Problems),
    /// Where it is sent when the request does not say.
    pub(super) target: for<'a> fn(&Given<'a>) -> Option<Default<'a>>,
}

impl TaskType {
    /// A kind that asks for nothing in particular.
    const fn plain(name: &'static str, does: &'static str) -> Self {
        Self {
            name,
            does,
            check: |_, _| {},
            target: |_| None,
        }
    }
}

impl PartialEq for TaskType {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// What a kind may look at.
pub(super) struct Given<'a> {
    /// The payload, if it is an object.
    pub(super) payload: Option<&'a Field<'a>>,
}

/// The kinds by their words.
pub(super) fn words() -> [(&'static str, &'static TaskType); TYPES.len()] {
    TYPES.map(|known| (known.name, known))
}
