//! Everything the server knows, read through its public API.

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use refire_client::model::{DeadLetter, Event, Execution, ReplayResult, Task, TaskPage};
use refire_core::time::Timestamp;
use reqwest::Method;
use serde_json::Value;

use crate::client::Client;

/// Executions read at once.
const AT_ONCE: usize = 8;
/// Between two looks at how many are open.
const GLANCE: Duration = Duration::from_millis(100);
/// The statuses of executions that have not ended.
const OPEN: &str = "pending,running,retrying,waiting,paused";

/// One execution: how it stands in the list, its whole log, and what its replay says.
#[derive(Debug, Clone)]
pub(crate) struct Exported {
    pub(crate) id: String,
    pub(crate) status: String,
    /// The dead letter that it retries.
    pub(crate) retries: Option<String>,
    /// The dead letter made of it.
    pub(crate) letter: Option<String>,
    /// The number that the client put into its input.
    pub(crate) request: Option<u64>,
    /// Whether a planned time of a trigger started it.
    pub(crate) is_of_slot: bool,
    pub(crate) log: Vec<Entry>,
    /// What is wrong with its replay.
    pub(crate) replay: Option<String>,
}

/// One event, as far as the checks look at it.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) sequence: u64,
    pub(crate) name: String,
    pub(crate) step: Option<String>,
    pub(crate) attempt: Option<u32>,
    pub(crate) at: Timestamp,
    /// From when on the attempt that it plans may be made.
    pub(crate) due: Timestamp,
    /// The node with which the attempt died.
    pub(crate) node: Option<String>,
    /// The worker that had the attempt's task, and since when.
    pub(crate) holder: Option<(Option<String>, Timestamp)>,
    /// What the worker said of the attempt's end.
    pub(crate) word: Option<String>,
}

/// A dead letter, as far as the checks look at it.
#[derive(Debug, Clone)]
pub(crate) struct Letter {
    pub(crate) id: String,
    pub(crate) execution: String,
    pub(crate) status: String,
    pub(crate) resolution: Option<String>,
}

/// All of it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Export {
    pub(crate) executions: Vec<Exported>,
    pub(crate) letters: Vec<Letter>,
}

/// Reads everything. An execution's row is read before its log: what has ended by its row does not
/// change any more, and what has not is a finding of its own.
pub(crate) async fn export(client: &Client) -> Export {
    let rows: Vec<Execution> = client.list("/api/executions").await;
    let executions = futures_util::stream::iter(rows)
        .map(|row| one(client, row))
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    Export {
        executions,
        letters: letters(client).await.unwrap(),
    }
}

/// Every dead letter.
pub(crate) async fn letters(client: &Client) -> Result<Vec<Letter>, String> {
    let path = "/api/dlq?status=pending,retrying,resolved,deleted";
    let all: Vec<DeadLetter> = client.try_list(path).await?;
    let letters = all.into_iter().map(|letter| Letter {
        id: letter.id,
        execution: letter.execution_id,
        status: letter.status.to_string(),
        resolution: letter.resolution_execution_id,
    });
    Ok(letters.collect())
}

async fn one(client: &Client, row: Execution) -> Exported {
    let id = row.execution_id;
    let events: Vec<Event> = client.list(&format!("/api/executions/{id}/events")).await;
    let path = format!("/api/executions/{id}/replay");
    let replay: ReplayResult = client.read(Method::POST, &path).await;
    let input = events
        .first()
        .map(|event| serde_json::from_str::<Value>(event.payload.get()).unwrap());
    Exported {
        status: row.status.to_string(),
        is_of_slot: row.scheduled_at.is_some(),
        retries: row.parent_dlq_entry_id,
        letter: row.dlq_entry_id,
        request: input.and_then(|payload| payload["input"]["request"].as_u64()),
        replay: wrong_with(&replay, events.len()),
        log: events.into_iter().map(entry).collect(),
        id,
    }
}

fn wrong_with(replay: &ReplayResult, events: usize) -> Option<String> {
    if !replay.identical {
        return Some(format!("it differs: {:?}", replay.first_difference));
    }
    let compared = usize::try_from(replay.events).unwrap();
    (compared != events).then(|| format!("it compared {compared} of {events} events"))
}

fn entry(event: Event) -> Entry {
    let payload: Value = serde_json::from_str(event.payload.get()).unwrap();
    let at: Timestamp = event.timestamp.parse().unwrap();
    let due = payload["due_at"].as_str();
    let locked_at = payload["locked_at"].as_str();
    let holder = locked_at.map(|at| {
        let worker = payload["worker_id"].as_str().map(str::to_owned);
        (worker, at.parse().unwrap())
    });
    let word = match event.event_type.as_str() {
        "STEP_COMPLETED" => payload["output"]["word"].as_str(),
        "STEP_FAILED" if payload["error"]["type"] == "worker" => {
            payload["error"]["message"].as_str()
        }
        _ => None,
    };
    Entry {
        holder,
        word: word.map(str::to_owned),
        due: due.map_or(at, |due| due.parse().unwrap()),
        node: payload["node"].as_str().map(str::to_owned),
        sequence: event.sequence,
        name: event.event_type,
        step: event.step_id,
        attempt: event.attempt_number,
        at,
    }
}

/// Every task's row.
pub(crate) async fn tasks(client: &Client) -> Vec<Task> {
    let first = "/api/external-tasks?limit=200".to_owned();
    let (mut rows, mut path) = (Vec::new(), first.clone());
    loop {
        let page: TaskPage = client.read(Method::GET, &path).await;
        rows.extend(page.items);
        let Some(cursor) = page.next_cursor else {
            return rows;
        };
        path = format!("{first}&cursor={cursor}");
    }
}

/// Waits until no execution is open; how long it took. None when it takes too long.
pub(crate) async fn all_end(client: &Client, limit: Duration) -> Option<Duration> {
    let begun = Instant::now();
    let path = format!("/api/executions?status={OPEN}&limit=1");
    loop {
        let page: Value = client.read(Method::GET, &path).await;
        if page["items"].as_array().unwrap().is_empty() {
            return Some(begun.elapsed());
        }
        if begun.elapsed() > limit {
            return None;
        }
        tokio::time::sleep(GLANCE).await;
    }
}
