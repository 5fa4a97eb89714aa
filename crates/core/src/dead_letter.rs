//! Dead letters: failed executions kept for a person, and what the rules know about them.

mod fingerprint;
mod letter;
mod suggestion;

pub use fingerprint::fingerprint;
pub use letter::{Letter, LetterStatus, Reason};
pub use suggestion::{Suggestion, suggest};
