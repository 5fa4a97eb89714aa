//! How much may run at once: everywhere, per workflow, per key, per target host.
//!
//! A permit is held from the moment an attempt may run until its result is committed. Nothing
//! here waits: who gets no permit leaves the work in the store for a later claim.

mod backlog;
mod bounds;
mod counts;
mod gate;
mod permit;
mod rate;
mod slots;

pub use bounds::{HostLimit, Limits};
pub(crate) use gate::Told;
pub(crate) use permit::Permit;
pub(crate) use rate::Rate;
pub(crate) use slots::{Ask, Blocked, Slots, bounds, is_alone};
