//! What people are told, and through which channels: kinds of notices, what a notice says, how many become
//! one message, and what each service is sent. Nothing here sends anything.

pub mod channel;
mod choice;
mod facts;
mod kind;

pub use channel::{Channel, HIDDEN, Language, Target};
pub use choice::{Choice, WorkflowPattern};
pub use facts::{Fact, FactName, Facts};
pub use kind::{Family, NoticeKind};
