//! What retry settings cost an execution whose attempt succeeds: its decisions with and without them,
//! as a share of what the whole execution takes.

use std::hint::black_box;

use refire_core::definition::{StepId, Workflow};
use refire_core::execution::{Began, Command, Outcome, Report, Start, decide, start};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::time::Timestamp;

use crate::overhead::{POLICY, definition};
use crate::prelude::*;

const REPEATS: usize = 5;
/// Executions decided in one repeat.
const DECIDED: u32 = 20_000;
/// Executions run in one repeat, to know what a whole one takes.
const RUN: usize = 200;
/// How long an execution may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Prints `overhead policy`.
pub(crate) async fn report() -> anyhow::Result<()> {
    say(format_args!("overhead: policy"));
    let embedded =
        Embedded::start(&definition("with", POLICY), Some(Arc::new(AtOnce::new()))).await?;
    let apply = async |id: &str, retry: &str| -> anyhow::Result<Arc<Workflow>> {
        let applied = embedded
            .engine
            .definitions()
            .apply(&definition(id, retry), None, "bench")
            .await?;
        Ok(Arc::clone(&applied.definition.workflow))
    };
    let with = apply("with", POLICY).await?;
    let without = apply("without", "false").await?;
    let (mut with_ns, mut without_ns, mut whole_ns) = <(Repeats, Repeats, Repeats)>::default();
    for _ in 0..REPEATS {
        without_ns.add(decided_ns(&without)?);
        with_ns.add(decided_ns(&with)?);
        whole_ns.add(executed_ns(&embedded).await?);
    }
    let share = (with_ns.median() - without_ns.median()) / whole_ns.median() * 100.0;
    Line::new("overhead", "policy")
        .figure("share_percent", &share.into())
        .figure("decide_with_ns", &with_ns)
        .figure("decide_without_ns", &without_ns)
        .figure("execution_p50_ns", &whole_ns)
        .goal("share_percent", Goal::Below(1.0))
        .print();
    embedded.stop().await;
    Ok(())
}

/// Nanoseconds for the two decisions of an execution that succeeds.
fn decided_ns(workflow: &Workflow) -> anyhow::Result<f64> {
    let input = Json::parse(String::from_utf8(rows::body())?)?;
    let output = AtOnce::new().answer().output;
    let (now, step) = (Timestamp::from_millis(1), StepId::new("call")?);
    let began = Instant::now();
    for n in 0..DECIDED {
        let mut id = [0; 16];
        id[..4].copy_from_slice(&n.to_be_bytes());
        let begin = Start::plain(ExecutionId::from_bytes(id), u64::from(n), input.clone());
        let first = start(workflow, begin, now);
        let result = Report {
            step: step.clone(),
            attempt: 1,
            began: Began::Called(now),
            duration_ms: 1,
            outcome: Outcome::Succeeded(output.clone()),
            mapped: None,
        };
        let last = decide(workflow, &first.state, Command::Report(result), now);
        let last = last.map_err(|refusal| anyhow::anyhow!("refused: {refusal:?}"))?;
        anyhow::ensure!(last.state.status.is_terminal(), "a success did not end it");
        black_box(last);
    }
    Ok(began.elapsed().as_nanos() as f64 / f64::from(DECIDED))
}

/// Nanoseconds of a whole execution, the middle one of some.
async fn executed_ns(embedded: &Embedded) -> anyhow::Result<f64> {
    let mut waits = Waits::default();
    for number in 0..RUN {
        let submission = embedded.submission(number, None);
        let began = Instant::now();
        embedded
            .engine
            .executions()
            .submit_and_wait(submission, PATIENCE)
            .await?;
        waits.add(began.elapsed());
    }
    Ok(waits.percentile_ms(0.5) * 1e6)
}
