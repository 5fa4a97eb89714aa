//! B3, pick-up: from the moment an execution is durable until its target has the call, on a system
//! that does nothing else.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::embedded::{self, Embedded};
use crate::line::{Goal, Line};
use crate::machine;
use crate::progress::say;
use crate::sample::{Latency, Waits};
use crate::target::{Manner, Target};

const REPEATS: usize = 3;
/// Executions of one repeat.
const EXECUTIONS: u64 = 300;
/// Rest between two, so that nothing is under way.
const REST: Duration = Duration::from_millis(5);

/// Prints `B3`.
pub(crate) async fn report() -> anyhow::Result<()> {
    let arrived = Arc::new(Mutex::new(None::<Instant>));
    let heard = Arc::clone(&arrived);
    let target = Target::start_and_tell(Manner::AtOnce, move |_| {
        *heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    });
    let target = target.await?;
    let embedded = Embedded::start(&target.workflow(), None).await?;
    let mut pick_up = Latency::default();
    let mut whole = Latency::default();
    let mut done = 0;
    for repeat in 1..=REPEATS {
        say(format_args!("pick-up: {repeat} of {REPEATS}"));
        let mut from_commit = Waits::default();
        let mut from_submit = Waits::default();
        for _ in 0..EXECUTIONS {
            let submitted = Instant::now();
            let submission = embedded.submission(0, None);
            embedded.engine.executions().submit(submission).await?;
            done += 1;
            embedded.ended(done).await?;
            let arrived = *arrived.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some(durable), Some(arrived)) = (embedded.store.admitted_at(), arrived) {
                from_commit.add(arrived.saturating_duration_since(durable));
                from_submit.add(arrived.saturating_duration_since(submitted));
            }
            tokio::time::sleep(REST).await;
        }
        pick_up.add(&from_commit);
        whole.add(&from_submit);
    }
    embedded::until(|| target.calls() >= done).await?;
    Line::new("B3", "pickup")
        .latency(&pick_up)
        .figure("submit_to_call_p50_ms", &whole.p50_ms)
        .figure("submit_to_call_p99_ms", &whole.p99_ms)
        .figure("rss_mb", &machine::rss_mb(std::process::id())?.into())
        .goal("p50_ms", Goal::Below(1.0))
        .goal("p99_ms", Goal::Below(3.0))
        .print();
    embedded.stop().await;
    Ok(())
}
