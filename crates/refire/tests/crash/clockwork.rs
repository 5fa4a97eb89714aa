//! Triggers that go by the clock, and what their ledgers must say whatever was done to the servers:
//! every planned time once, and one execution for each that was started.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use refire_client::model::{Execution, LedgerEntry, SlotStatus, Trigger};
use refire_core::time::Timestamp;
use refire_core::trigger::ledger::SLOTS_KEPT;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;

/// Their inputs have numbers beyond those of any load.
const FIRST_NUMBER: u64 = 9_000_000;
/// Between deciding on a change and writing it a slot may become due.
const CHANGE_TAKES: Duration = Duration::from_secs(1);

/// Nodes can only estimate what the database's clock shows.
const CLOCKS_DIFFER: Duration = Duration::from_millis(500);

/// A trigger.
struct Piece {
    id: String,
    every: Duration,
    overlap: &'static str,
}

/// See the module.
pub(crate) struct Clockwork(Vec<Piece>);

/// What was found when everything was right.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) slots: u64,
    pub(crate) started: usize,
    pub(crate) late: usize,
    pub(crate) skipped: u64,
    /// The longest time after a slot until it was started.
    pub(crate) latest: Duration,
}

impl Clockwork {
    /// Makes them; they begin at once.
    pub(crate) async fn start(client: &Client) -> Self {
        let all = [
            (
                "one",
                json!({"trigger_type": "schedule", "every": "1s"}),
                1,
                "allow",
            ),
            (
                "one",
                json!({"trigger_type": "cron", "cron_expression": "* * * * * *"}),
                1,
                "skip",
            ),
            (
                "two",
                json!({"trigger_type": "cron", "cron_expression": "*/2 * * * * *"}),
                2,
                "buffer_one",
            ),
            (
                "two",
                json!({"trigger_type": "schedule", "every": "1s"}),
                1,
                "cancel_previous",
            ),
        ];
        let mut made = Vec::new();
        for ((workflow, mut settings, seconds, overlap), number) in
            all.into_iter().zip(FIRST_NUMBER..)
        {
            settings["overlap"] = overlap.into();
            settings["misfire"] = "fire_all".into();
            settings["input"] = json!({ "request": number });
            let trigger = client.make_trigger(workflow, &settings).await;
            made.push(Piece {
                id: trigger.about.id,
                every: Duration::from_secs(seconds),
                overlap,
            });
        }
        Self(made)
    }

    /// Nothing more is planned from now on.
    pub(crate) async fn stop(&self, client: &Client) {
        for piece in &self.0 {
            let path = format!("/api/triggers/{}/disable", piece.id);
            let _: Value = client.read(Method::POST, &path).await;
        }
    }

    /// Compares the ledgers with the executions, once all have ended.
    pub(crate) async fn must_hold(&self, client: &Client) -> Tally {
        let executions: Vec<Execution> = client.list("/api/executions").await;
        let mut tally = Tally::default();
        let mut wrong = Vec::new();
        for piece in &self.0 {
            let path = format!("/api/triggers/{}", piece.id);
            let trigger: Trigger = client.read(Method::GET, &path).await;
            let mut ledger: Vec<LedgerEntry> = client.list(&format!("{path}/slots")).await;
            ledger.reverse();
            let of = |one: &&Execution| one.trigger_id.as_ref() == Some(&piece.id);
            let own: Vec<&Execution> = executions.iter().filter(of).collect();
            let life = (&trigger.about.created_at, &trigger.about.updated_at);
            let mut found = gaps(piece.every, (moment(life.0), moment(life.1)), &ledger);
            found.extend(differences(&ledger, &own));
            if matches!(piece.overlap, "skip" | "buffer_one" | "cancel_previous") {
                found.extend(overlaps(&own));
            }
            wrong.extend(
                found
                    .into_iter()
                    .map(|what| format!("{} {}: {what}", piece.id, piece.overlap)),
            );
            tally.add(&ledger);
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
        tally
    }
}

/// Where the ledger is not every planned time once, from the beginning to the end.
fn gaps(
    every: Duration,
    (created, stopped): (Timestamp, Timestamp),
    ledger: &[LedgerEntry],
) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut done: Option<Timestamp> = None;
    for row in ledger {
        let (first, last) = (moment(&row.nominal), moment(&row.to));
        let is_next = match done {
            Some(done) => first == done.plus(every),
            // What is older than the rows that are kept is not there any more.
            None if ledger.len() as u64 >= SLOTS_KEPT => true,
            None => first > created && first <= created.plus(every),
        };
        let count = last.since(first).as_micros() / every.as_micros() + 1;
        if !is_next || u128::from(row.count) != count {
            wrong.push(format!("after {done:?} there is {row:?}"));
        }
        done = Some(last);
    }
    let end = stopped.minus(every + CHANGE_TAKES);
    if done.is_none_or(|done| done < end) {
        wrong.push(format!(
            "it ends with {done:?} and was stopped at {stopped}"
        ));
    }
    wrong
}

/// Executions that the ledger has not, and the other way round.
fn differences(ledger: &[LedgerEntry], own: &[&Execution]) -> Vec<String> {
    let kept_from = match ledger.first() {
        Some(first) if ledger.len() as u64 >= SLOTS_KEPT => moment(&first.nominal),
        _ => Timestamp::default(),
    };
    let mut by_slot: BTreeMap<Timestamp, BTreeSet<&str>> = BTreeMap::new();
    for one in own {
        let slot = one.scheduled_at.as_deref().map(moment).unwrap();
        if slot < kept_from {
            continue;
        }
        by_slot.entry(slot).or_default().insert(&one.execution_id);
    }
    let mut wrong = Vec::new();
    for row in ledger {
        let is_started = matches!(row.status.name(), "fired" | "late");
        let told: BTreeSet<&str> = row.execution_id.as_deref().into_iter().collect();
        let made = by_slot.remove(&moment(&row.nominal)).unwrap_or_default();
        if told != made || is_started != (made.len() == 1) {
            wrong.push(format!("{row:?} has {made:?}"));
        }
    }
    wrong.extend(
        by_slot
            .iter()
            .map(|left| format!("the ledger has no {left:?}")),
    );
    wrong
}

/// Executions that began before the one before them had ended.
fn overlaps(own: &[&Execution]) -> Vec<String> {
    let mut spans: Vec<(Timestamp, Option<Timestamp>, &str)> = own
        .iter()
        .map(|one| {
            let ended = one.completed_at.as_deref().map(moment);
            (moment(&one.created_at), ended, one.execution_id.as_str())
        })
        .collect();
    spans.sort_unstable();
    let pairs = spans.windows(2);
    let meets = |pair: &&[(Timestamp, Option<Timestamp>, &str)]| {
        pair[0]
            .1
            .is_none_or(|ended| ended > pair[1].0.plus(CLOCKS_DIFFER))
    };
    pairs
        .filter(meets)
        .map(|pair| format!("two ran at once: {pair:?}"))
        .collect()
}

impl Tally {
    fn add(&mut self, ledger: &[LedgerEntry]) {
        for row in ledger {
            self.slots += row.count;
            if row.execution_id.is_none() {
                self.skipped += row.count;
                continue;
            }
            self.started += 1;
            self.late += usize::from(row.status == SlotStatus::Late);
            if row.reason.as_deref() != Some("overlap") {
                let after = moment(&row.at).since(moment(&row.nominal));
                self.latest = self.latest.max(after);
            }
        }
    }
}

fn moment(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The checks themselves are checked: they are content with a sound story, and name each breach.
#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_millis(1_767_225_600_000 + second * 1_000)
    }

    fn row(from: i64, to: i64, execution: Option<&str>) -> LedgerEntry {
        let status = if execution.is_some() {
            "fired"
        } else {
            "skipped"
        };
        serde_json::from_value(json!({
            "nominal": at(from).to_string(),
            "to": at(to).to_string(),
            "count": to - from + 1,
            "status": status,
            "reason": null,
            "execution_id": execution,
            "at": at(to).to_string(),
            "local": "",
            "local_to": "",
        }))
        .unwrap()
    }

    /// Slots 1 to 5 of a trigger of every second that was made before the first.
    fn sound() -> Vec<LedgerEntry> {
        vec![row(1, 1, Some("a")), row(2, 4, None), row(5, 5, Some("b"))]
    }

    fn gaps_in(ledger: &[LedgerEntry]) -> usize {
        let second = Duration::from_secs(1);
        let life = (at(0).plus(second / 2), at(5).plus(second / 2));
        gaps(second, life, ledger).len()
    }

    #[test]
    fn a_ledger_is_every_slot_once() {
        assert_eq!(gaps_in(&sound()), 0);
        let mut late = sound();
        late.remove(0);
        assert_eq!(gaps_in(&late), 1, "it begins late");
        let mut short = sound();
        short.truncate(1);
        assert_eq!(gaps_in(&short), 1, "it ends early");
        let mut gap = sound();
        gap[1] = row(2, 3, None);
        assert_eq!(gaps_in(&gap), 1, "a slot is missing");
        let mut twice = sound();
        twice.insert(1, row(1, 1, Some("c")));
        assert_eq!(gaps_in(&twice), 1, "a slot is there twice");
        let mut miscounted = sound();
        miscounted[1].count = 2;
        assert_eq!(gaps_in(&miscounted), 1, "a stretch is counted wrongly");
    }

    fn execution(id: &str, slot: i64, began: i64, ended: i64) -> Execution {
        serde_json::from_value(json!({
            "execution_id": id,
            "workflow_id": "one",
            "workflow_version": 1,
            "status": "completed",
            "retry_count": 0,
            "max_retries": 0,
            "trigger_type": "cron",
            "scheduled_at": at(slot).to_string(),
            "priority": 5,
            "created_at": at(began).to_string(),
            "updated_at": at(ended).to_string(),
            "completed_at": at(ended).to_string(),
        }))
        .unwrap()
    }

    #[test]
    fn a_slot_has_the_execution_that_its_row_names() {
        let (a, b) = (execution("a", 1, 1, 2), execution("b", 5, 5, 6));
        let (again, lost) = (execution("c", 1, 1, 2), execution("c", 3, 3, 4));
        assert!(differences(&sound(), &[&a, &b]).is_empty());
        assert_eq!(differences(&sound(), &[&a]).len(), 1, "one is missing");
        assert_eq!(
            differences(&sound(), &[&a, &b, &again]).len(),
            1,
            "two of one slot"
        );
        assert_eq!(
            differences(&sound(), &[&a, &b, &lost]).len(),
            1,
            "the ledger has it not"
        );
    }

    #[test]
    fn executions_that_meet_are_found() {
        let (a, b) = (execution("a", 1, 1, 3), execution("b", 2, 2, 4));
        assert_eq!(overlaps(&[&a, &b]).len(), 1);
        assert!(overlaps(&[&a, &execution("c", 3, 3, 4)]).is_empty());
    }
}
