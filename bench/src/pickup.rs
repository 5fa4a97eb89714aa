//! B3 and PG, pick-up: from the moment an execution is durable until its target has the call, on a
//! system that does nothing else.

use refire_store::postgres::Scratch;

use crate::postgres::node;
use crate::prelude::*;

const REPEATS: u32 = 3;
/// Executions of one repeat.
const EXECUTIONS: u64 = 300;
const EXECUTIONS_OF_ANOTHER: u64 = 200;
/// Rest between two, so that nothing is under way.
const REST: Duration = Duration::from_millis(5);
const REST_OF_ANOTHER: Duration = Duration::from_millis(80);

/// A target, and when it was called last.
struct Heard {
    target: Target,
    at: Arc<Mutex<Option<Instant>>>,
}

impl Heard {
    async fn start() -> anyhow::Result<Self> {
        let at = Arc::new(Mutex::new(None));
        let heard = Arc::clone(&at);
        let target = Target::start_and_tell(Manner::AtOnce, move |_| {
            *locked(&heard) = Some(Instant::now());
        });
        let target = target.await?;
        Ok(Self { target, at })
    }

    /// From durable here to called, and from submitted: so many executions, which end there.
    async fn measure(
        &self,
        what: &str,
        (here, there): (&Embedded, &Embedded),
        (count, rest): (u64, Duration),
    ) -> anyhow::Result<(Latency, Latency)> {
        let (mut pick_up, mut whole) = <(Latency, Latency)>::default();
        let mut done = 0;
        for _ in repeats(REPEATS, what) {
            let (mut from_commit, mut from_submit) = <(Waits, Waits)>::default();
            for _ in 0..count {
                let submitted = Instant::now();
                let submission = here.submission(0, None);
                here.engine.executions().submit(submission).await?;
                done += 1;
                there.ended(done).await?;
                let arrived = *locked(&self.at);
                if let (Some(durable), Some(arrived)) = (here.store.admitted_at(), arrived) {
                    from_commit.add(arrived.saturating_duration_since(durable));
                    from_submit.add(arrived.saturating_duration_since(submitted));
                }
                tokio::time::sleep(rest).await;
            }
            pick_up.add(&from_commit);
            whole.add(&from_submit);
        }
        embedded::until(|| self.target.calls() >= done).await?;
        Ok((pick_up, whole))
    }
}

/// Prints `B3`.
pub(crate) async fn report() -> anyhow::Result<()> {
    let heard = Heard::start().await?;
    let one = Embedded::start(&heard.target.workflow(), None).await?;
    let many = (EXECUTIONS, REST);
    let (pick_up, whole) = heard.measure("pick-up", (&one, &one), many).await?;
    Line::new("B3", "pickup")
        .latency(&pick_up)
        .figure("submit_to_call_p50_ms", &whole.p50_ms)
        .figure("submit_to_call_p99_ms", &whole.p99_ms)
        .figure("rss_mb", &machine::rss_mb(std::process::id())?.into())
        .goal("p50_ms", Goal::Below(1.0))
        .goal("p99_ms", Goal::Below(3.0))
        .print();
    one.stop().await;
    Ok(())
}

/// Prints `PG pickup`: from the moment an execution is durable on a node that has no room until its
/// target hears of it from another.
pub(crate) async fn on_postgres() -> anyhow::Result<()> {
    let heard = Heard::start().await?;
    let scratch = Scratch::new();
    let workflow = heard.target.workflow();
    let here = node(&scratch, &workflow, None, embedded::no_room()).await?;
    let there = node(&scratch, &workflow, None, Limits::default()).await?;
    let many = (EXECUTIONS_OF_ANOTHER, REST_OF_ANOTHER);
    let both = (&here, &there);
    let (pick_up, _) = heard.measure("pick-up by another node", both, many).await?;
    Line::new("PG", "pickup")
        .word("nodes", 2)
        .latency(&pick_up)
        .goal("p99_ms", Goal::Below(60.0))
        .print();
    here.stop().await;
    there.stop().await;
    Ok(())
}
