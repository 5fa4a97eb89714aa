//! Background services that keep the store small and the clock right. They go through the commit
//! queue's last lane, a chunk at a time, and never hold up work.

mod pruner;
mod watch;

pub use pruner::Retention;
pub(crate) use pruner::prune_loop;
pub(crate) use watch::clock_loop;
