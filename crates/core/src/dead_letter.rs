//! Dead letters: failed executions kept for a person, and what the rules know about them.

mod fingerprint;
mod history;
mod letter;
mod obstacle;
mod state;
mod suggestion;
mod transform;

pub use fingerprint::fingerprint;
pub use history::{RetryEntry, RetryHistory, Tried};
pub use letter::{Letter, LetterStatus, Reason, RetryFrom};
pub use obstacle::{Case, Obstacle};
pub use state::LetterState;
pub use suggestion::{Situation, Suggestion, suggest};
pub use transform::{OfError, OfLetter, Source, Transform, TransformError, TransformProblem};
