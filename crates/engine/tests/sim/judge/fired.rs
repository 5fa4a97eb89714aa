//! The account of what triggers have started: every execution has its row of the ledger, its
//! request or somebody who asked for it, and the other way round.

use std::collections::{BTreeMap, BTreeSet};

use refire_core::execution::{EventKind, TriggerKind};
use refire_core::id::{ExecutionId, TriggerId};
use refire_core::time::Timestamp;
use refire_store::model::Image;

use super::account::{agree, number_of};
use super::trigger::{COMPLETE, ONCE};
use super::{Judge, Known};
use crate::clients::key_text;
use crate::ledger::{Asked, Ledger, Sent};
use crate::world::Violation;

/// What triggers have started, by what it was for.
#[derive(Default)]
pub(super) struct Fired {
    slots: BTreeMap<(TriggerId, Timestamp), Vec<ExecutionId>>,
    filled: BTreeMap<(TriggerId, Timestamp), Vec<(ExecutionId, String)>>,
    runs: BTreeMap<String, Vec<ExecutionId>>,
    keyed: BTreeMap<(TriggerId, String), Vec<ExecutionId>>,
    plain: BTreeMap<(TriggerId, u32), Vec<ExecutionId>>,
}

impl Fired {
    /// Takes an execution if a trigger started it.
    pub(super) fn add(&mut self, id: ExecutionId, known: &Known) -> Result<bool, Violation> {
        let Some(origin) = &known.state.origin else {
            return Ok(false);
        };
        let started = &origin.trigger;
        let is_clock = matches!(started.kind, TriggerKind::Cron | TriggerKind::Schedule);
        let is_hook = started.kind == TriggerKind::Webhook;
        if origin.lineage.letter.is_some() || !(is_clock || is_hook) {
            return Ok(false);
        }
        let unasked = || Violation::new(ONCE, format!("nothing has started {id}"));
        let trigger = started.id.as_ref().and_then(|id| id.parse().ok());
        let trigger: TriggerId = trigger.ok_or_else(unasked)?;
        match (started.scheduled_at, &started.by) {
            (Some(slot), None) if is_clock => {
                self.slots.entry((trigger, slot)).or_default().push(id);
            }
            (Some(slot), Some(by)) if is_clock => {
                let filled = self.filled.entry((trigger, slot)).or_default();
                filled.push((id, by.clone()));
            }
            (None, Some(by)) if is_clock => self.runs.entry(by.clone()).or_default().push(id),
            (None, None) if is_hook => match &origin.idempotency_key {
                Some(key) => {
                    let name = (trigger, key.clone());
                    self.keyed.entry(name).or_default().push(id);
                }
                None => {
                    let number = number_in(known).ok_or_else(unasked)?;
                    self.plain.entry((trigger, number)).or_default().push(id);
                }
            },
            _ => return Err(unasked()),
        }
        Ok(true)
    }
}

/// The number that a request put into its body.
fn number_in(known: &Known) -> Option<u32> {
    match &known.log.first()?.kind {
        EventKind::ExecutionStarted(started) => number_of(started.input.as_str()),
        _ => None,
    }
}

impl Judge {
    /// Compares what triggers have started with what the ledgers have and what people were told.
    pub(super) fn account_of_triggers(
        &self,
        image: &Image,
        fired: &Fired,
        ledger: &Ledger,
    ) -> Result<(), Violation> {
        let mut slots = BTreeMap::new();
        let mut filled: BTreeMap<(TriggerId, Timestamp), BTreeSet<ExecutionId>> = BTreeMap::new();
        for (id, line) in self.lines() {
            if !line.is_at_rest() {
                let what = format!("{id} still owes slots after {}", line.done);
                return Err(Violation::new(COMPLETE, what));
            }
            let started = line.started().iter();
            slots.extend(started.map(|(slot, execution)| ((*id, *slot), vec![*execution])));
            for (slot, execution) in line.filled() {
                filled.entry((*id, *slot)).or_default().insert(*execution);
            }
        }
        let differ = |what: String| Err(Violation::new("the ledger has what was started", what));
        if let Some(name) = first_difference(&slots, &fired.slots) {
            let (row, there) = (slots.get(&name), fired.slots.get(&name));
            return differ(format!("{name:?}: {row:?}, there is {there:?}"));
        }
        let made = fired.filled.iter();
        let made: BTreeMap<_, BTreeSet<ExecutionId>> = made
            .map(|(name, all)| (*name, all.iter().map(|(id, _)| *id).collect()))
            .collect();
        if let Some(name) = first_difference(&filled, &made) {
            return differ(format!("{name:?} was backfilled"));
        }
        for (name, all) in &fired.filled {
            let missed = all.iter().filter(|(_, by)| by.starts_with("filler"));
            let missed = missed.count();
            if missed > 1 || (missed == 1 && slots.contains_key(name)) {
                let what = format!("{name:?}: {all:?}, {:?}", slots.get(name));
                return Err(Violation::new("what was missed is run once", what));
            }
        }
        for asked in &ledger.runs {
            agree(&asked.what.by, &[asked], fired.runs.get(&asked.what.by))?;
        }
        account_of_requests(image, fired, ledger)
    }
}

/// An accepted request has one execution, and the same key the same.
fn account_of_requests(image: &Image, fired: &Fired, ledger: &Ledger) -> Result<(), Violation> {
    let mut keyed: BTreeMap<(TriggerId, String), Vec<&Asked<Sent>>> = BTreeMap::new();
    for asked in &ledger.requests {
        let Sent {
            trigger,
            number,
            key,
        } = asked.what;
        match key {
            Some(key) => {
                let name = (trigger, key_text(key));
                keyed.entry(name).or_default().push(asked);
            }
            None => {
                let made = fired.plain.get(&(trigger, number));
                agree(&format!("request {number}"), &[asked], made)?;
            }
        }
    }
    for (name, asked) in &keyed {
        agree(&format!("{name:?}"), asked, fired.keyed.get(name))?;
    }
    let all = fired.keyed.values().chain(fired.plain.values()).flatten();
    let logged: BTreeSet<ExecutionId> = image
        .requests
        .values()
        .filter_map(|row| row.execution)
        .collect();
    match all.into_iter().find(|id| !logged.contains(id)) {
        Some(id) => Err(Violation::new(
            "a request that starts something is logged with it",
            id.to_string(),
        )),
        None => Ok(()),
    }
}

fn first_difference<K: Ord + Copy, V: PartialEq>(
    one: &BTreeMap<K, V>,
    other: &BTreeMap<K, V>,
) -> Option<K> {
    let differs = |name: &&K| one.get(name) != other.get(name);
    one.keys().chain(other.keys()).find(differs).copied()
}
