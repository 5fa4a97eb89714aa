//! What people are told, and through which channels: kinds of notices, what a notice says, how many become
//! one message, and what each service is sent. Nothing here sends anything.

pub mod channel;
mod choice;
mod facts;
mod group;
mod kind;
mod message;
mod read;
mod render;
mod words;

pub use channel::{Channel, HIDDEN, Language, Target};
pub use choice::{Choice, WorkflowPattern};
pub use facts::{Fact, FactName, Facts};
pub use group::{Group, Turn, group_id};
pub use kind::{Family, NoticeKind};
pub use message::{Message, Phase};
pub use read::{NAME_CHARS_MAX, WrittenChannel, patched};
pub use render::{Mail, Occasion, Rendered, render, sign};
