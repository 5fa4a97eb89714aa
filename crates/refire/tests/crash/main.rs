//! Crash tests: the real binary is killed, starved, cut off and lied to, and afterwards every
//! promise is checked against what its clients and its targets saw.
//!
//! The short forms are part of the tests; `REFIRE_TEST_LONG=1` runs the long ones.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod check;
mod client;
mod clockwork;
#[path = "../postgres/cluster.rs"]
mod cluster;
mod crew;
mod disk;
mod drain;
mod eio;
mod export;
mod fence;
mod fleet;
mod fold;
mod full;
mod hook;
mod kill;
mod load;
mod node;
mod nodes;
mod pgrestart;
mod power;
#[path = "../it/process.rs"]
mod process;
mod rest;
mod retry;
mod script;
mod skew;
mod sweep;
mod takeover;
mod target;
mod torn;
mod tracer;
mod trigger;
mod worker;
mod workers;

use std::io::Write as _;
use std::time::{Duration, Instant};

use tokio::sync::{Mutex, MutexGuard};

/// Each of these loads the machine: they run one at a time, also where one process runs them all.
static ALONE: Mutex<()> = Mutex::const_new(());

/// Held by a test that wants the machine for itself.
async fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().await
}

/// Between two looks at something that changes by itself.
const GLANCE: Duration = Duration::from_millis(5);

/// What a look finds, once it finds something.
async fn within<T>(limit: Duration, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < limit, "not within {limit:?}: {what}");
        tokio::time::sleep(GLANCE).await;
    }
}

/// Says what cannot be tested here, past whoever keeps the output of tests that pass to himself.
fn skipped(what: &str, why: &str) {
    // In one piece, since other tests write meanwhile.
    let line = format!("\nSKIPPED: {what}: {}\n", why.trim());
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// Retries that the steps of [`workflows`] have.
const RETRIES_MAX: u32 = 2;

/// Whether the long forms are asked for.
fn is_long() -> bool {
    std::env::var_os("REFIRE_TEST_LONG").is_some_and(|value| value == "1")
}

/// The two workflows that the load uses: one step, and one step after another.
async fn workflows(client: &client::Client, target: &target::Target) {
    let head = |id: &str| {
        format!(
            "id: {id}\nretry: {{ maxRetries: {RETRIES_MAX}, initialDelay: 50ms, \
             strategy: exponential, jitter: proportional }}\nsteps:\n"
        )
    };
    let step = |id: &str, needs: &str| {
        let url = target.url();
        format!(
            "  - id: {id}\n    type: http\n    needs: [{needs}]\n    config:\n      method: POST\n      \
             url: {url}/{id}\n      timeout: 400ms\n      \
             body: {{ request: \"${{input.request}}\", fate: '${{input.fate ?? \"good\"}}' }}\n"
        )
    };
    let one = format!("{}{}", head("one"), step("first", ""));
    let two = format!(
        "{}{}{}",
        head("two"),
        step("first", ""),
        step("second", "first")
    );
    client.apply("one", &one).await;
    client.apply("two", &two).await;
}
