//! Bulk jobs: what they may do, where they stand, and what becomes of each thing that they are about.
//! Stores compare and write by this; which things those are, and when, is the engine's.

use crate::dead_letter::{LetterState, LetterStatus};
use crate::time::Timestamp;

/// Things that one job may name by their ids.
pub const IDS_MAX: usize = 10_000;
/// How many a second, unless the job says otherwise.
pub const RATE_DEFAULT: u32 = 50;
/// The most a second.
pub const RATE_MAX: u32 = 10_000;

/// Words that name each variant, and a list of all.
macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$doc])* $variant,)* }

        impl $name {
            /// All of them; the place of each stands in stored rows and never changes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The word used everywhere.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The one of that name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == name)
            }
        }
    };
}

words! {
    /// What a job does with each thing.
    Action {
        /// A dead letter is retried.
        Retry = "retry",
        /// A dead letter is given up.
        Delete = "delete",
        /// A dead letter goes for good, with its execution.
        Purge = "purge",
        /// An execution is cancelled.
        Cancel = "cancel",
        /// An execution is paused.
        Pause = "pause",
        /// An execution is resumed.
        Resume = "resume",
        /// An execution is run again, as a new one.
        RunAgain = "run_again",
    }
}

impl Action {
    /// Whether it is about dead letters; else it is about executions.
    #[must_use]
    pub fn is_about_letters(self) -> bool {
        matches!(self, Self::Retry | Self::Delete | Self::Purge)
    }
}

words! {
    /// Where a job stands.
    JobState {
        /// It goes on.
        Running = "running",
        /// It waits until somebody resumes it.
        Paused = "paused",
        /// Somebody has ended it.
        Cancelled = "cancelled",
        /// It has come to its end.
        Completed = "completed",
    }
}

words! {
    /// What people ask of a job.
    JobChange {
        /// It is to wait.
        Pause = "pause",
        /// It is to go on.
        Resume = "resume",
        /// It is to end.
        Cancel = "cancel",
    }
}

impl JobState {
    /// Whether nothing follows.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Cancelled | Self::Completed)
    }

    /// Where it stands after a change; none if it cannot be made. Asking for what is so already is fine.
    #[must_use]
    pub fn changed(self, change: JobChange) -> Option<Self> {
        match (self, change) {
            (Self::Running | Self::Paused, JobChange::Pause) => Some(Self::Paused),
            (Self::Running | Self::Paused, JobChange::Resume) => Some(Self::Running),
            (Self::Running | Self::Paused | Self::Cancelled, JobChange::Cancel) => {
                Some(Self::Cancelled)
            }
            (Self::Cancelled, JobChange::Pause | JobChange::Resume) | (Self::Completed, _) => None,
        }
    }
}

words! {
    /// What became of one thing.
    ItemOutcome {
        /// It was done.
        Ok = "ok",
        /// It could not be done.
        Failed = "failed",
        /// There was nothing to do.
        Skipped = "skipped",
    }
}

/// How many things had each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Done.
    pub ok: u64,
    /// Not possible.
    pub failed: u64,
    /// Nothing to do.
    pub skipped: u64,
}

impl Counts {
    /// So many more with this outcome.
    pub fn add(&mut self, outcome: ItemOutcome, count: u64) {
        let place = match outcome {
            ItemOutcome::Ok => &mut self.ok,
            ItemOutcome::Failed => &mut self.failed,
            ItemOutcome::Skipped => &mut self.skipped,
        };
        *place += count;
    }

    /// All of them.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.ok + self.failed + self.skipped
    }
}

/// What became of one thing, and why if it was not done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// In a word.
    pub outcome: ItemOutcome,
    /// In a sentence.
    pub detail: Option<String>,
}

impl Verdict {
    /// It was done.
    pub const OK: Self = Self {
        outcome: ItemOutcome::Ok,
        detail: None,
    };

    /// It could not be done.
    #[must_use]
    pub fn failed(why: impl Into<String>) -> Self {
        Self {
            outcome: ItemOutcome::Failed,
            detail: Some(why.into()),
        }
    }

    /// There was nothing to do.
    #[must_use]
    pub fn skipped(why: impl Into<String>) -> Self {
        Self {
            outcome: ItemOutcome::Skipped,
            detail: Some(why.into()),
        }
    }

    /// A letter is not where it would have to be.
    #[must_use]
    pub fn not_pending(status: Option<LetterStatus>) -> Self {
        match status {
            Some(status) => Self::skipped(format!("it is {}, not pending", status.name())),
            None => Self::skipped("it is gone"),
        }
    }
}

/// What a job does with letters where it stores nothing else: the rows of the letters are compared and
/// changed by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LetterWork {
    /// They are given up.
    Delete,
    /// They go with their executions.
    Purge {
        /// Those that wait for a person, too.
        pending: bool,
    },
}

/// What becomes of a letter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LetterEnd {
    /// It stays, and stands so.
    Stays(LetterState),
    /// It goes for good.
    Goes,
}

impl LetterWork {
    /// What becomes of a letter that stands so, if something does, and the verdict on it.
    #[must_use]
    pub fn on(
        self,
        state: Option<LetterState>,
        by: &str,
        now: Timestamp,
    ) -> (Option<LetterEnd>, Verdict) {
        let status = state.as_ref().map(|state| state.status);
        match self {
            Self::Delete => match state.and_then(|state| state.given_up(by.to_owned(), now)) {
                Some(gone) => (Some(LetterEnd::Stays(gone)), Verdict::OK),
                None => (None, Verdict::not_pending(status)),
            },
            Self::Purge { pending } => match status {
                None => (None, Verdict::skipped("it is gone")),
                Some(LetterStatus::Retrying) => (None, Verdict::skipped("it is being retried")),
                Some(LetterStatus::Pending) if !pending => (
                    None,
                    Verdict::skipped("it is pending: it waits for somebody"),
                ),
                Some(_) => (Some(LetterEnd::Goes), Verdict::OK),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(5_000);

    fn letter(status: LetterStatus) -> Option<LetterState> {
        Some(LetterState {
            status,
            ..LetterState::default()
        })
    }

    #[test]
    fn a_job_that_is_over_does_not_go_on() {
        use JobChange as C;
        use JobState as S;
        let table = [
            (S::Running, C::Pause, Some(S::Paused)),
            (S::Running, C::Resume, Some(S::Running)),
            (S::Running, C::Cancel, Some(S::Cancelled)),
            (S::Paused, C::Pause, Some(S::Paused)),
            (S::Paused, C::Resume, Some(S::Running)),
            (S::Paused, C::Cancel, Some(S::Cancelled)),
            (S::Cancelled, C::Pause, None),
            (S::Cancelled, C::Resume, None),
            (S::Cancelled, C::Cancel, Some(S::Cancelled)),
            (S::Completed, C::Pause, None),
            (S::Completed, C::Resume, None),
            (S::Completed, C::Cancel, None),
        ];
        for (state, change, after) in table {
            assert_eq!(state.changed(change), after, "{state:?} {change:?}");
        }
    }

    #[test]
    fn only_what_waits_is_deleted_and_only_what_is_over_is_purged() {
        let outcome = |work: LetterWork, state| {
            let (end, verdict) = work.on(state, "ann", AT);
            (end.is_some(), verdict.outcome)
        };
        let (done, not) = ((true, ItemOutcome::Ok), (false, ItemOutcome::Skipped));
        let (delete, purge) = (LetterWork::Delete, LetterWork::Purge { pending: false });
        let purge_all = LetterWork::Purge { pending: true };
        for (status, expected) in [
            (LetterStatus::Pending, [done, not, done]),
            (LetterStatus::Retrying, [not, not, not]),
            (LetterStatus::Resolved, [not, done, done]),
            (LetterStatus::Deleted, [not, done, done]),
        ] {
            let found = [delete, purge, purge_all].map(|work| outcome(work, letter(status)));
            assert_eq!(found, expected, "{status:?}");
        }
        assert_eq!(outcome(delete, None), not);
        assert_eq!(outcome(purge_all, None), not);
    }

    #[test]
    fn every_word_is_found_again() {
        for action in Action::ALL {
            assert_eq!(Action::from_name(action.name()), Some(*action));
        }
        assert_eq!(Action::from_name("explode"), None);
        let mut counts = Counts::default();
        ItemOutcome::ALL.iter().for_each(|it| counts.add(*it, 2));
        assert_eq!(counts.all(), 6);
    }
}
