//! NOTE, telling people: how soon a single dead letter is told, and what a storm of them costs beside one that
//! nobody is told of.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use refire_core::failure::{ErrorClass, Failure};

use crate::prelude::*;

/// Single letters, each of a workflow of its own: more at once would be a digest.
const QUIET: usize = 10;
/// Letters of a storm.
const STORM: usize = 100_000;
const CHANNEL: &str = "{name: ops, type: webhook, config: {url: 'https://hooks.example/ops'}}";
/// Longer than a letter ever takes.
const PATIENCE: Duration = Duration::from_secs(30);

/// Fails every call but those that tell people, and counts these.
struct Failing {
    answers: AtOnce,
    told: Arc<AtomicU64>,
}

#[async_trait]
impl Caller for Failing {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        if !request.url.contains("hooks.example") {
            return Err(Failure::new(ErrorClass::HttpStatus, "no").with_code("404"));
        }
        self.told.fetch_add(1, Ordering::SeqCst);
        Ok(self.answers.answer())
    }
}

async fn engine(told: &Arc<AtomicU64>, has_channel: bool) -> anyhow::Result<Embedded> {
    let caller = Failing {
        answers: AtOnce::new(),
        told: Arc::clone(told),
    };
    let definition = target::workflow_to_nowhere() + "retry: false\n";
    let embedded = Embedded::start(&definition, Some(Arc::new(caller))).await?;
    for rule in embedded.engine.alerts().rules().await? {
        embedded.engine.alerts().remove_rule(rule.id).await?;
    }
    if has_channel {
        embedded.engine.notifications().create(CHANNEL).await?;
    }
    Ok(embedded)
}

/// Prints `NOTE`.
pub(crate) async fn report() -> anyhow::Result<()> {
    quiet().await?;
    storm().await
}

/// `NOTE quiet`: from the request to the message.
async fn quiet() -> anyhow::Result<()> {
    say(format_args!("notices: quiet"));
    let told = Arc::new(AtomicU64::new(0));
    let embedded = engine(&told, true).await?;
    let (mut waits, mut latency) = (Waits::default(), Latency::default());
    for n in 0..QUIET {
        let definition = target::workflow_to_nowhere() + "retry: false\n";
        let definition =
            definition.replace(&format!("id: {WORKFLOW}\n"), &format!("id: quiet{n}\n"));
        let applied = embedded
            .engine
            .definitions()
            .apply(&definition, None, "bench")
            .await?;
        let mut submission = embedded.submission(n, None);
        submission.workflow = applied.definition.workflow.id.clone();
        let (before, began) = (told.load(Ordering::SeqCst), Instant::now());
        embedded.engine.executions().submit(submission).await?;
        while told.load(Ordering::SeqCst) == before {
            anyhow::ensure!(began.elapsed() < PATIENCE, "nobody was told");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        waits.add(began.elapsed());
    }
    latency.add(&waits);
    embedded.stop().await;
    Line::new("NOTE", "quiet")
        .latency(&latency)
        .goal("p99_ms", Goal::Below(1_000.0))
        .print();
    Ok(())
}

/// `NOTE storm`: letters a second with a channel and without one, and messages a minute.
async fn storm() -> anyhow::Result<()> {
    say(format_args!("notices: storm"));
    let (without, _) = letters_s(false).await?;
    let (with, messages) = letters_s(true).await?;
    Line::new("NOTE", "storm")
        .word("letters", STORM)
        .figure("letter_s", &with.into())
        .figure("without_s", &without.into())
        .figure("ratio", &(with / without).into())
        .figure("messages_min", &messages.into())
        .goal("ratio", Goal::AtLeast(0.9))
        .goal("messages_min", Goal::Below(2.0))
        .print();
    Ok(())
}

/// Letters a second, and messages a minute.
async fn letters_s(has_channel: bool) -> anyhow::Result<(f64, f64)> {
    let told = Arc::new(AtomicU64::new(0));
    let embedded = engine(&told, has_channel).await?;
    let began = Instant::now();
    for chunk in 0..STORM / TOGETHER {
        let many = (0..TOGETHER).map(|n| embedded.submission(chunk * TOGETHER + n, None));
        embedded.submit_all(many.collect()).await?;
    }
    embedded.ended(STORM as u64).await?;
    let took = began.elapsed().as_secs_f64();
    let messages = told.load(Ordering::SeqCst) as f64 / (took / 60.0).max(1.0);
    embedded.stop().await;
    Ok((STORM as f64 / took, messages))
}
