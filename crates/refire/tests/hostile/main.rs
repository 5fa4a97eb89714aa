//! Targets and senders that misbehave, against the real binary: what they do to themselves, and
//! that nobody else notices.
//!
//! Each test prints what it measured; `--no-capture` shows it. The short forms are part of the
//! tests; `REFIRE_TEST_LONG=1` runs more of each.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod broken;
mod files;
mod frames;
#[path = "../../../engine/tests/hostile/mod.rs"]
#[expect(dead_code, reason = "shared with the tests of the outgoing call")]
mod hostile;
mod load;
mod node;
mod oversize;
#[path = "../it/process.rs"]
#[expect(dead_code, reason = "shared with tests that end it in other ways")]
mod process;
mod secure;
mod senders;
mod slow;
mod stub;
mod targets;

use tokio::sync::{Mutex, MutexGuard};

/// Each of these loads the machine: they run one at a time, also where one process runs them all.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Held by a test that wants the machine for itself.
async fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().await
}

/// Whether the long forms are asked for.
fn is_long() -> bool {
    std::env::var_os("REFIRE_TEST_LONG").is_some_and(|value| value == "1")
}
