//! How much may run at once: everywhere, per workflow, per key, per target host.
//!
//! A permit is held from the moment an attempt may run until its result is committed. Nothing
//! here waits: who gets no permit leaves the work in the store for a later claim.

mod backlog;
mod bounds;
mod counts;
mod permit;
mod rate;
mod slots;

pub use bounds::{HostLimit, Limits};
pub use permit::Permit;
pub use rate::Rate;
pub use slots::{Ask, Blocked, Room, Slots, bounds};
