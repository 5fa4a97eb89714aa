//! A database that no server has open: whether it is sound, and whether every stored state is what
//! its log says.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use refire_core::definition::{ParseOptions, Workflow, WorkflowId};
use refire_core::execution::replay::replay;
use refire_core::execution::{Event, fold};
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::sqlite::{Options, Sqlite};
use refire_store::{
    Catalog, EventFilter, ExecutionFilter, Executions, LIMIT_MAX, ReadError, Store, Stretch,
};
use rusqlite::Connection;

/// What a database holds.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// The executions, as the API names them.
    pub(crate) executions: BTreeSet<String>,
    /// What is wrong, in words.
    pub(crate) wrong: Vec<String>,
}

/// What SQLite itself says about the file; empty = sound.
pub(crate) fn damage(database: &Path) -> Vec<String> {
    let check = || -> rusqlite::Result<Vec<String>> {
        let connection = Connection::open(database)?;
        let mut check = connection.prepare("PRAGMA integrity_check")?;
        let rows = check.query_map([], |row| row.get(0))?;
        rows.collect()
    };
    match check() {
        Ok(said) if said == ["ok"] => Vec::new(),
        Ok(said) => said,
        Err(error) => vec![error.to_string()],
    }
}

/// Reads all of it and compares.
pub(crate) async fn examine(database: &Path) -> Content {
    let mut examiner = Examiner::open(database).unwrap();
    let mut content = Content::default();
    for id in examiner.ids().await.unwrap() {
        content.executions.insert(id.to_string());
        if let Err(wrong) = examiner.execution(id).await {
            content.wrong.push(format!("{id}: {wrong:?}"));
        }
    }
    examiner.store.close().await;
    content.wrong.extend(damage(database));
    content
}

/// Reads a database as a server does.
pub(crate) struct Examiner {
    pub(crate) store: Sqlite,
    workflows: HashMap<(WorkflowId, u32), Workflow>,
}

impl Examiner {
    pub(crate) fn open(database: &Path) -> Result<Self, ReadError> {
        let options = Options::new(Timestamp::from_millis(1));
        Ok(Self {
            store: Sqlite::open(database, &options)?,
            workflows: HashMap::new(),
        })
    }

    /// Every execution.
    pub(crate) async fn ids(&self) -> Result<Vec<ExecutionId>, ReadError> {
        let filter = ExecutionFilter::default();
        let mut ids: Vec<ExecutionId> = Vec::new();
        loop {
            let before = ids.last().copied();
            let page = self
                .store
                .executions(&filter, &Stretch::new(before, LIMIT_MAX))
                .await?
                .rows;
            if page.is_empty() {
                return Ok(ids);
            }
            ids.extend(page.iter().map(|row| row.id));
        }
    }

    /// An execution's log, if the stored state is what the log says and the log is what its causes
    /// lead to.
    pub(crate) async fn execution(&mut self, id: ExecutionId) -> Result<Vec<Event>, Wrong> {
        let stored = self.store.execution(id).await?;
        let state = stored.ok_or(Wrong::Absent)?.state;
        let log = self.log(id).await?;
        let folded = fold(&log);
        if folded != state {
            let what = format!("the log says {folded:?}, the stored state {state:?}");
            return Err(Wrong::Unsound(what));
        }
        let origin = state.origin.as_ref();
        let origin = origin.ok_or_else(|| Wrong::Unsound("it has no first event".to_owned()))?;
        let version = (origin.workflow.clone(), origin.workflow_version);
        let workflow = self.workflow(version).await?;
        match replay(workflow, &log).first_difference {
            None => Ok(log),
            Some(difference) => {
                let what = format!("its replay differs: {difference}");
                Err(Wrong::Unsound(what))
            }
        }
    }

    async fn workflow(&mut self, version: (WorkflowId, u32)) -> Result<&Workflow, Wrong> {
        match self.workflows.entry(version) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(new) => {
                let (id, version) = new.key();
                let row = self.store.version(id, *version).await?;
                let gone = || Wrong::Unsound("its definition is gone".to_owned());
                let options = ParseOptions {
                    expected_id: None,
                    local_tasks: None,
                    stored: true,
                };
                let workflow = Workflow::parse(&row.ok_or_else(gone)?.source, &options);
                let workflow = workflow.map_err(|problems| {
                    Wrong::Unsound(format!("its definition cannot be read: {problems:?}"))
                })?;
                Ok(new.insert(workflow))
            }
        }
    }

    async fn log(&self, id: ExecutionId) -> Result<Vec<Event>, Wrong> {
        let mut log = Vec::new();
        loop {
            let after = log.len() as u64;
            let filter = EventFilter::default();
            let rows = self.store.history(id, &filter, after, LIMIT_MAX).await?;
            if rows.is_empty() {
                return Ok(log);
            }
            for row in &rows {
                let event = Event::decode(row).map_err(|error| Wrong::Unsound(words(&error)))?;
                log.push(event);
            }
        }
    }
}

/// What is wrong with an execution.
#[derive(Debug)]
pub(crate) enum Wrong {
    /// There is no such execution.
    Absent,
    /// The store found it, and said so.
    Reported(String),
    /// The store gave it out as if it were sound.
    Unsound(String),
}

impl From<ReadError> for Wrong {
    fn from(error: ReadError) -> Self {
        Self::Reported(words(&error))
    }
}

/// An error with its causes.
pub(crate) fn words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
