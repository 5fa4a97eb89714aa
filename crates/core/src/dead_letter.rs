//! Dead letters: failed executions kept for a person, and what the rules know about them.

use std::time::Duration;

use crate::time::Timestamp;

mod fingerprint;
mod history;
mod letter;
mod obstacle;
mod state;
mod suggestion;
mod transform;

/// Dead letters that failed longer ago are archived: only who asks for them sees them in lists and counts.
pub const ARCHIVED_AFTER: Duration = Duration::from_secs(30 * 24 * 3_600);

/// What failed before is archived; to the millisecond, by which letters are counted at once.
#[must_use]
pub fn archived_before(now: Timestamp) -> Timestamp {
    Timestamp::from_millis(now.minus(ARCHIVED_AFTER).as_millis())
}

pub use fingerprint::fingerprint;
pub use history::{RetryEntry, RetryHistory, Tried};
pub use letter::{Letter, LetterStatus, Reason, RetryFrom};
pub use obstacle::{Case, Obstacle};
pub use state::LetterState;
pub use suggestion::{Situation, Suggestion, suggest};
pub use transform::{OfError, OfLetter, Source, Transform, TransformError, TransformProblem};
