//! The step types: one file each in `step_type/`, and the list of them below. Whatever names the
//! types (messages, the schema, the canonical form, [`StepKind`]) is made from that list.
//!
//! What a type does when it runs is in the engine's `step/`.

mod external_task;
mod http;
mod local;

use std::sync::LazyLock;
use std::time::Duration;

use super::check::{Owner, Sites};
use super::fields::{Field, Fields};
use super::keys::Known;
use super::parse::ParseOptions;
use super::problem::Problems;
use crate::template::Reference;

pub use external_task::{ExternalTask, Heartbeat, check_task_type};
pub use http::Http;
pub use local::Local;

/// The shortest time that an attempt may be given.
const TIMEOUT_MIN: Duration = Duration::from_millis(100);

/// Step types that are planned: known words that get an answer of their own.
pub(super) const LATER: &[&str] = &["lambda", "sns", "sqs", "eventbridge", "amqp"];

/// All that a step type says about itself.
pub(super) struct StepType {
    /// As written in definitions, in lower case.
    pub(super) name: &'static str,
    /// What it does, after "`http` calls a service, `local` …".
    pub(super) does: &'static str,
    /// The keys of `config` in their canonical order.
    pub(super) keys: &'static [Known],
    /// The JSON Schema of `config`, indented as it stands in the whole.
    pub(super) schema: &'static str,
    /// Reads `config`; `None` after a problem was reported.
    pub(super) read: fn(Config<'_, '_>) -> Option<StepKind>,
}

/// A `config` that is being read.
pub(super) struct Config<'a, 'b> {
    /// Which step it belongs to.
    pub(super) step: usize,
    pub(super) fields: &'b Fields<'a>,
    pub(super) options: &'b ParseOptions<'b>,
    pub(super) sites: &'b mut Sites,
    pub(super) problems: &'b mut Problems,
}

impl<'a> Config<'a, '_> {
    /// The member of that name, null included; its templates may use secrets and earlier steps.
    fn with_templates(&mut self, name: &'static str) -> Option<Field<'a>> {
        self.templates(name, Owner::Config(self.step))
    }

    /// The same with templates that may use what their owner may.
    fn templates(&mut self, name: &'static str, owner: Owner) -> Option<Field<'a>> {
        let field = self.fields.any(name)?;
        self.sites.add_all(owner, &field);
        Some(field)
    }
}

/// What the rest of the core asks a step's settings.
pub(super) trait Settings {
    /// Every reference that must have a value when the step runs.
    fn required(&self) -> Vec<&Reference>;

    /// What is allowed but probably not meant.
    fn note(&self) -> Option<String> {
        None
    }
}

macro_rules! step_types {
    ($($(#[$doc:meta])* $kind:ident,)+) => {
        /// What a step does.
        #[derive(Debug, Clone, PartialEq)]
        pub enum StepKind {
            $($(#[$doc])* $kind($kind),)+
        }

        impl StepKind {
            /// The type as written in definitions and shown in lists.
            #[must_use]
            pub fn type_name(&self) -> &'static str {
                match self {
                    $(Self::$kind(_) => $kind::TYPE.name,)+
                }
            }

            pub(super) fn settings(&self) -> &dyn Settings {
                match self {
                    $(Self::$kind(settings) => settings,)+
                }
            }
        }

        /// The step types of this version. New ones are added at the end.
        pub(super) const TYPES: &[StepType] = &[$($kind::TYPE,)+];
    };
}

step_types! {
    /// Calls an HTTP service.
    Http,
    /// Calls a function of the embedding program.
    Local,
    /// Waits for a worker outside.
    ExternalTask,
}

impl StepKind {
    /// Whether its target can say later how it went.
    pub(super) fn takes_callbacks(&self) -> bool {
        matches!(self, Self::Http(_))
    }

    /// What does the same where there are no callbacks.
    pub(super) fn instead_of_callbacks(&self) -> &'static str {
        match self {
            Self::ExternalTask(_) => {
                "its worker reports when it is done, and says until then that it is at it"
            }
            _ => "it is done when its call comes back",
        }
    }

    /// Its settings, if a worker outside does the work.
    #[must_use]
    pub fn external_task(&self) -> Option<&ExternalTask> {
        match self {
            Self::ExternalTask(task) => Some(task),
            _ => None,
        }
    }
}

/// The type of that name, in lower case.
pub(super) fn named(name: &str) -> Option<&'static StepType> {
    TYPES.iter().find(|one| one.name == name)
}

/// The names of all types.
pub(super) fn names() -> Vec<&'static str> {
    TYPES.iter().map(|one| one.name).collect()
}

/// What any step's `config` may hold.
pub(super) static ANY_KEYS: LazyLock<Vec<Known>> =
    LazyLock::new(|| TYPES.iter().flat_map(|one| one.keys).copied().collect());

/// Every type with the keys of its `config`, for the tests of the guides.
#[must_use]
pub fn step_type_keys() -> Vec<(&'static str, Vec<&'static str>)> {
    let keys = |one: &StepType| one.keys.iter().map(|key| key.name).collect();
    TYPES.iter().map(|one| (one.name, keys(one))).collect()
}
