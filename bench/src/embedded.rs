//! The engine inside this process, on a store of its own: what a program that embeds it has.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::failure::Failure;
use refire_core::json::Json;
use refire_engine::caller::Caller;
use refire_engine::clock::{Clock, SystemClock};
use refire_engine::limit::Limits;
use refire_engine::target::{Allow, HttpAnswer, HttpRequest};
use refire_engine::vault::{MasterKey, Vault};
use refire_engine::{Accepted, Engine, Submission};
use refire_store::sqlite::{Options, Sqlite};
use refire_store::{Layered, Store};
use tempfile::TempDir;

use crate::place;
use crate::rows::BODY_BYTES;
use crate::watched::Watched;

/// Executions submitted together where many are needed.
pub(crate) const TOGETHER: usize = 1_000;
/// Between two looks at a counter.
const GLANCE: Duration = Duration::from_millis(1);
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running engine.
pub(crate) struct Embedded {
    pub(crate) engine: Arc<Engine>,
    pub(crate) store: Arc<Layered<Watched>>,
    pub(crate) workflow: WorkflowId,
    /// None when the directory belongs to somebody else.
    _dir: Option<TempDir>,
}

impl Embedded {
    /// Starts it on an empty directory, with one workflow. Without a caller, calls go out over
    /// real sockets.
    pub(crate) async fn start(
        definition: &str,
        caller: Option<Arc<dyn Caller>>,
    ) -> anyhow::Result<Self> {
        let dir = place::fresh()?;
        let clock = Arc::new(SystemClock::new());
        let mut started = Self::start_in(dir.path(), clock, definition, caller).await?;
        started._dir = Some(dir);
        Ok(started)
    }

    /// The same on a given directory, which is left behind, with a clock that is also asked elsewhere.
    pub(crate) async fn start_in(
        dir: &Path,
        clock: Arc<SystemClock>,
        definition: &str,
        caller: Option<Arc<dyn Caller>>,
    ) -> anyhow::Result<Self> {
        let below = sqlite(dir, &clock)?;
        Self::start_on(below, clock, definition, caller, Limits::default()).await
    }

    /// The same on a given store.
    pub(crate) async fn start_on(
        below: Arc<dyn Store>,
        clock: Arc<SystemClock>,
        definition: &str,
        caller: Option<Arc<dyn Caller>>,
        limits: Limits,
    ) -> anyhow::Result<Self> {
        let store = Arc::new(Layered(Watched::new(below)));
        let mut builder = Engine::builder(Arc::clone(&store) as _)
            .clock(clock)
            .limits(limits)
            .vault(Vault::new(MasterKey::new([7; 32]), None))
            .allow_private_targets(Allow::All);
        if let Some(caller) = caller {
            builder = builder.caller(caller);
        }
        let engine = builder.start().await?;
        let applied = engine
            .definitions()
            .apply(definition, None, "bench")
            .await?;
        Ok(Self {
            engine,
            store,
            workflow: applied.definition.workflow.id.clone(),
            _dir: None,
        })
    }

    /// A submission of the usual size that carries a number.
    pub(crate) fn submission(&self, number: usize, delay: Option<Duration>) -> Submission {
        Submission {
            delay,
            ..Submission::manual(self.workflow.clone(), input(number))
        }
    }

    /// Submits many, all of which must be accepted.
    pub(crate) async fn submit_all(&self, all: Vec<Submission>) -> anyhow::Result<Vec<Accepted>> {
        let results = self.engine.executions().submit_all(all).await;
        Ok(results.into_iter().collect::<Result<_, _>>()?)
    }

    /// Returns when so many executions have ended.
    pub(crate) async fn ended(&self, count: u64) -> anyhow::Result<()> {
        until(|| self.store.counts().ended >= count).await
    }

    pub(crate) async fn stop(self) {
        self.engine.stop().await;
    }
}

/// An SQLite store in a directory.
pub(crate) fn sqlite(dir: &Path, clock: &SystemClock) -> anyhow::Result<Arc<dyn Store>> {
    Ok(Arc::new(Sqlite::open_in(dir, &Options::new(clock.now()))?))
}

/// Limits of a node that has no room: what is started is written, and waits.
pub(crate) fn no_room() -> Limits {
    Limits {
        attempts: 0,
        ..Limits::default()
    }
}

/// Returns when something holds.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) -> anyhow::Result<()> {
    let until = Instant::now() + PATIENCE;
    while !holds() {
        anyhow::ensure!(Instant::now() < until, "what was waited for did not happen");
        tokio::time::sleep(GLANCE).await;
    }
    Ok(())
}

/// An input of the usual size with a number in it.
fn input(number: usize) -> Json {
    let frame = r#"{"number":0000000000,"text":""}"#.len();
    let text = "x".repeat(BODY_BYTES - frame);
    Json::parse(format!(r#"{{"number":{number:<10},"text":"{text}"}}"#))
        .unwrap_or_else(|_| Json::empty_object())
}

/// The number in a call's body.
pub(crate) fn number(body: &[u8]) -> Option<usize> {
    let start = body.windows(9).position(|nine| nine == b"\"number\":")? + 9;
    let digits = body[start..].split(|byte| !byte.is_ascii_digit()).next()?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// A target without a network that answers at once.
pub(crate) struct AtOnce(Json);

impl AtOnce {
    pub(crate) fn new() -> Self {
        let answer = Json::parse(r#"{"status":200,"headers":{},"body":{"ok":true}}"#);
        Self(answer.unwrap_or_else(|_| Json::empty_object()))
    }

    pub(crate) fn answer(&self) -> HttpAnswer {
        HttpAnswer::new(200, self.0.clone())
    }
}

#[async_trait]
impl Caller for AtOnce {
    async fn call(&self, _: HttpRequest) -> Result<HttpAnswer, Failure> {
        Ok(self.answer())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_have_the_usual_size_and_their_number() {
        for one in [0, 7, 100_000, 9_999_999_999] {
            let input = input(one);
            assert_eq!(input.as_str().len(), BODY_BYTES);
            assert_eq!(number(input.as_str().as_bytes()), Some(one));
        }
        assert_eq!(number(b"{}"), None);
    }

    #[tokio::test]
    async fn an_execution_is_written_twice() {
        let workflow = crate::target::workflow("https://target.example/");
        let caller = Some(Arc::new(AtOnce::new()) as _);
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(SystemClock::new());
        let embedded = Embedded::start_in(dir.path(), clock, &workflow, caller);
        let embedded = embedded.await.unwrap();
        let before = embedded.store.counts();
        let submission = embedded.submission(1, None);
        embedded
            .engine
            .executions()
            .submit(submission)
            .await
            .unwrap();
        embedded.ended(1).await.unwrap();
        let after = embedded.store.counts();
        assert_eq!(
            (after.moves - before.moves, after.ended - before.ended),
            (2, 1)
        );
        embedded.stop().await;
    }
}
