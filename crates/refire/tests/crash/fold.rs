//! What the database keeps of each execution beside its log, read behind the servers' backs: the
//! snapshot and the columns that lists go by are what the log folds to.

use futures_util::StreamExt;
use refire_core::execution::{Event, Execution, fold};
use refire_core::id::ExecutionId;
use refire_store::postgres::{Options, Postgres};
use refire_store::{EventFilter, ExecutionFilter, Executions, LIMIT_MAX, Store, Stretch};
use tokio_postgres::NoTls;

/// Executions compared at once.
const AT_ONCE: usize = 4;
/// Differences that are shown.
const SHOWN_MAX: usize = 5;
/// What is written beside the snapshot, and whether there is one.
const COLUMNS: &str =
    "SELECT version, status, snapshot IS NOT NULL FROM executions WHERE id = $1::text::uuid";

/// What was compared.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) executions: usize,
    /// Those that have a snapshot. Of the others the state is read from the log, too.
    pub(crate) snapshots: usize,
}

impl Tally {
    /// Whether all were compared that the server lists, and snapshots among them.
    #[track_caller]
    pub(crate) fn must_cover(&self, listed: usize) {
        assert_eq!(self.executions, listed, "not all were compared");
        assert!(self.snapshots > 0, "nothing had a snapshot");
    }
}

/// Compares every execution; nothing may change meanwhile.
pub(crate) async fn must_be_what_is_stored(url: &str) -> Tally {
    let store = Postgres::open(&Options::new(url).unwrap()).await.unwrap();
    let (client, driver) = tokio_postgres::connect(url, NoTls).await.unwrap();
    let driving = tokio::spawn(driver);
    let compared: Vec<(bool, Option<String>)> = futures_util::stream::iter(ids(&store).await)
        .map(|id| compared(&store, &client, id))
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    store.close().await;
    drop(client);
    driving.await.unwrap().unwrap();
    let mut wrong: Vec<&String> = compared.iter().filter_map(|one| one.1.as_ref()).collect();
    let count = wrong.len();
    wrong.truncate(SHOWN_MAX);
    assert!(
        wrong.is_empty(),
        "{count} differ from their logs: {wrong:#?}"
    );
    Tally {
        executions: compared.len(),
        snapshots: compared.iter().filter(|one| one.0).count(),
    }
}

async fn ids(store: &Postgres) -> Vec<ExecutionId> {
    let mut ids: Vec<ExecutionId> = Vec::new();
    let all = ExecutionFilter::default();
    loop {
        let before = ids.last().copied();
        let page = store
            .executions(&all, &Stretch::new(before, LIMIT_MAX))
            .await
            .unwrap()
            .rows;
        if page.is_empty() {
            return ids;
        }
        ids.extend(page.iter().map(|one| one.id));
    }
}

/// Whether an execution has a snapshot, and what is wrong with what is stored.
async fn compared(
    store: &Postgres,
    client: &tokio_postgres::Client,
    id: ExecutionId,
) -> (bool, Option<String>) {
    let folded = fold(&log(store, id).await);
    let stored = store.execution(id).await.unwrap().unwrap();
    let row = client.query_one(COLUMNS, &[&hex(id)]).await.unwrap();
    let (version, status): (i64, String) = (row.get(0), row.get(1));
    let columns = (u64::try_from(version).unwrap(), status);
    let expected = (folded.version, folded.status.name().to_owned());
    let wrong = if stored.state != folded {
        Some(differ(id, &stored.state, &folded))
    } else if columns != expected {
        Some(format!(
            "{id}: the row says {columns:?}, the log {expected:?}"
        ))
    } else if folded.status.is_terminal() && !stored.work.is_empty() {
        Some(format!("{id} has ended and has work: {:?}", stored.work))
    } else {
        None
    };
    (row.get(2), wrong)
}

fn differ(id: ExecutionId, stored: &Execution, folded: &Execution) -> String {
    format!("{id}: stored is {stored:?}, the log folds to {folded:?}")
}

async fn log(store: &Postgres, id: ExecutionId) -> Vec<Event> {
    let mut log: Vec<Event> = Vec::new();
    let all = EventFilter::default();
    loop {
        let after = log.len() as u64;
        let rows = store.history(id, &all, after, LIMIT_MAX).await.unwrap();
        if rows.is_empty() {
            return log;
        }
        log.extend(rows.iter().map(|row| Event::decode(row).unwrap()));
    }
}

fn hex(id: ExecutionId) -> String {
    id.as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
