//! A store that can be brought into trouble.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::sqlite::{Options, Sqlite};
use refire_store::{
    Batch, Catalog, CommitError, Layer, Layered, NotWritten, Part, PartOutcome, ReadError, Store,
    VersionRow,
};

use crate::fixture::World;

/// A store whose disk can be filled and whose reads can be made to fail.
pub(crate) struct Troubled {
    inner: Sqlite,
    pub(crate) disk_is_full: AtomicBool,
    pub(crate) reads_fail: AtomicBool,
    pub(crate) poison: AtomicU32,
    pub(crate) commits_panic: AtomicBool,
    pub(crate) claims_panic: AtomicBool,
    pub(crate) states_panic: AtomicBool,
    /// Versions of workflows from this one on are not there.
    pub(crate) versions_gone_from: AtomicU32,
    /// This version of a workflow is not there.
    pub(crate) version_gone: AtomicU32,
    /// Nothing that is written or signed off is answered any more.
    pub(crate) is_silent: AtomicBool,
    /// Definitions of the workflow `w` are damaged.
    pub(crate) w_is_damaged: AtomicBool,
}

/// An execution that cannot be read, whatever is stored of it.
pub(crate) fn damaged() -> ExecutionId {
    ExecutionId::from_bytes([0xda; 16])
}

fn corrupt(what: &str) -> ReadError {
    ReadError::Corrupt {
        what: what.to_owned(),
        source: "it is made to be damaged".into(),
    }
}

impl Troubled {
    /// Does not return while it is silent.
    async fn says_nothing(&self) {
        while self.is_silent.load(Ordering::SeqCst) {
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

fn is_poison(part: &Part) -> bool {
    let text = |payload: &[u8]| String::from_utf8_lossy(payload).contains("POISON");
    match part {
        Part::Admit(admit) => admit.events.iter().any(|event| text(&event.payload)),
        Part::Advance(advance) => advance.events.iter().any(|event| text(&event.payload)),
        Part::Fire(fire) => {
            let events = fire.admission.iter().flat_map(|admit| &admit.events);
            events.into_iter().any(|event| text(&event.payload))
        }
        _ => false,
    }
}

#[async_trait]
impl Layer for Troubled {
    fn below(&self) -> &dyn Store {
        &self.inner
    }

    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        let fail = |reason, text: &str| {
            Err(CommitError::NotWritten {
                reason,
                source: text.to_owned().into(),
            })
        };
        self.says_nothing().await;
        if self.disk_is_full.load(Ordering::SeqCst) {
            return fail(NotWritten::Full, "no space left");
        }
        if self.commits_panic.load(Ordering::SeqCst) {
            // What it was about to say is lost, but it is written.
            self.inner.commit(batch).await.unwrap();
            panic!("the commit panics");
        }
        if batch.parts.iter().any(is_poison) {
            self.poison.fetch_add(1, Ordering::SeqCst);
            return fail(NotWritten::Statement, "a statement chokes on its data");
        }
        self.inner.commit(batch).await
    }

    async fn asked(
        &self,
        method: &'static str,
        executions: &[ExecutionId],
    ) -> Result<(), ReadError> {
        match method {
            "backup" | "join" | "renew" | "reap" | "nodes" | "has_lease" => return Ok(()),
            "leave" => {
                self.says_nothing().await;
                return Ok(());
            }
            "states" => assert!(
                !self.states_panic.load(Ordering::SeqCst),
                "reading states panics"
            ),
            "ready_workflows" => assert!(
                !self.claims_panic.load(Ordering::SeqCst),
                "the claim panics"
            ),
            _ => {}
        }
        if self.reads_fail.load(Ordering::SeqCst) {
            return Err(ReadError::Unavailable("the reads are made to fail".into()));
        }
        match executions.contains(&damaged()) {
            true => Err(corrupt("an execution")),
            false => Ok(()),
        }
    }

    async fn version(
        &self,
        id: &WorkflowId,
        version: u32,
    ) -> Result<Option<VersionRow>, ReadError> {
        if version >= self.versions_gone_from.load(Ordering::SeqCst)
            || version == self.version_gone.load(Ordering::SeqCst)
        {
            return Ok(None);
        }
        if id.as_str() == "w" && self.w_is_damaged.load(Ordering::SeqCst) {
            return Err(corrupt("a definition"));
        }
        self.asked("version", &[]).await?;
        self.inner.version(id, version).await
    }
}

/// One that is well so far.
pub(crate) fn troubled(world: &World) -> Arc<Layered<Troubled>> {
    let options = Options::new(Timestamp::from_millis(1));
    Arc::new(Layered(Troubled {
        inner: Sqlite::open_in(world.dir.path(), &options).unwrap(),
        disk_is_full: AtomicBool::new(false),
        reads_fail: AtomicBool::new(false),
        poison: AtomicU32::new(0),
        commits_panic: AtomicBool::new(false),
        claims_panic: AtomicBool::new(false),
        states_panic: AtomicBool::new(false),
        versions_gone_from: AtomicU32::new(u32::MAX),
        version_gone: AtomicU32::new(u32::MAX),
        is_silent: AtomicBool::new(false),
        w_is_damaged: AtomicBool::new(false),
    }))
}
