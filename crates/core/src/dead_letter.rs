//! Dead letters: failed executions kept for a person, and what the rules know about them.

mod fingerprint;
mod letter;
mod obstacle;
mod suggestion;

pub use fingerprint::fingerprint;
pub use letter::{Letter, LetterStatus, Reason, RetryFrom};
pub use obstacle::{Case, Obstacle};
pub use suggestion::{Situation, Suggestion, suggest};
