//! The account at the end: what people were told against what is there. Every answer has exactly
//! one execution, every refusal none, and nothing is there that nobody asked for.

use std::collections::BTreeMap;

use refire_core::execution::{EventKind, Execution, Status, fold};
use refire_core::id::ExecutionId;
use refire_store::model::Image;

use super::fired::Fired;
use super::{Judge, Known};
use crate::ledger::{Answer, Asked, Ledger};
use crate::plan::{Plan, Wish};
use crate::world::Violation;

const ONE_EACH: &str = "one execution per answer";

impl Judge {
    /// Somebody is told about an execution: by now it must be durable, and be what they are told.
    pub(crate) fn told(
        &self,
        image: &Image,
        id: ExecutionId,
        state: Option<&Execution>,
    ) -> Result<(), Violation> {
        const CHECK: &str = "no answer before it is durable";
        if !image.executions.contains_key(&id) {
            return Err(Violation::new(CHECK, format!("{id} is not there")));
        }
        let Some((known, told)) = self.known.get(&id).zip(state) else {
            return Ok(());
        };
        if told.version > known.log.len() as u64 {
            let what = format!("version {} of {id} is not there", told.version);
            return Err(Violation::new(CHECK, what));
        }
        let seen = usize::try_from(told.version).unwrap_or(0);
        if fold(&known.log[..seen]) != *told {
            let what = format!("{id} was something else at version {seen}");
            return Err(Violation::new("what is told is what is stored", what));
        }
        Ok(())
    }

    /// Compares the whole ledger with what is durable.
    pub(crate) fn account(
        &self,
        image: &Image,
        ledger: &Ledger,
        plan: &Plan,
    ) -> Result<(), Violation> {
        let mut made: Made = Made::default();
        let mut fired = Fired::default();
        for (id, known) in &self.known {
            if !fired.add(*id, known)? {
                made.add(*id, known)?;
            }
        }
        self.account_of_triggers(image, &fired, ledger)?;
        for asked in ledger
            .wishes
            .iter()
            .filter(|asked| asked.what.key.is_none())
        {
            let of = made.plain.get(&asked.what.number);
            agree(&format!("wish {}", asked.what.number), &[asked], of)?;
        }
        let mut keyed: BTreeMap<(usize, u64), Vec<&Asked<Wish>>> = BTreeMap::new();
        for asked in &ledger.wishes {
            if let Some(key) = asked.what.key {
                keyed.entry((asked.what.flow, key)).or_default().push(asked);
            }
        }
        for ((flow, key), asked) in keyed {
            let name = (plan.flows[flow].id.clone(), format!("key {key}"));
            agree(&format!("{name:?}"), &asked, made.keyed.get(&name))?;
        }
        for asked in &ledger.retries {
            agree(&asked.what.by, &[asked], made.retried.get(&asked.what.by))?;
        }
        self.nothing_by_refused(ledger)?;
        let dead = self
            .known
            .values()
            .filter(|known| known.state.status == Status::Dlq);
        if dead.count() != image.letters.len() {
            let what = format!("there are {} letters", image.letters.len());
            return Err(Violation::new("one letter per dead execution", what));
        }
        Ok(())
    }

    /// Whoever was refused has left no trace.
    fn nothing_by_refused(&self, ledger: &Ledger) -> Result<(), Violation> {
        let refused = |asked: &&Asked<_>| asked.answer == Some(Answer::Refused);
        for asked in ledger.steerings.iter().filter(refused) {
            let Some(known) = self.known.get(&asked.what.execution) else {
                continue;
            };
            let by = Some(asked.what.by.as_str());
            let did = known.log.iter().find(|event| actor(&event.kind) == by);
            if let Some(event) = did {
                let what = format!("{by:?} was refused, but {}", event.kind.name());
                return Err(Violation::new("a refusal changes nothing", what));
            }
        }
        Ok(())
    }
}

/// The person an event names.
fn actor(kind: &EventKind) -> Option<&str> {
    match kind {
        EventKind::ExecutionPaused(paused) => paused.by.as_deref(),
        EventKind::ExecutionResumed(resumed) => resumed.by.as_deref(),
        EventKind::TimerFired(fired) => fired.by.as_deref(),
        EventKind::ExecutionCancelled(cancelled) => cancelled.by.as_deref(),
        EventKind::CompensationStarted(started) => started.by.as_deref(),
        _ => None,
    }
}

/// What is there, by what it was asked for with.
#[derive(Default)]
struct Made {
    plain: BTreeMap<u32, Vec<ExecutionId>>,
    keyed: BTreeMap<(String, String), Vec<ExecutionId>>,
    retried: BTreeMap<String, Vec<ExecutionId>>,
}

impl Made {
    fn add(&mut self, id: ExecutionId, known: &Known) -> Result<(), Violation> {
        let unasked = || Violation::new(ONE_EACH, format!("nobody asked for {id}"));
        let first = known.log.first().ok_or_else(unasked)?;
        let EventKind::ExecutionStarted(started) = &first.kind else {
            return Err(Violation::new(
                "a log begins with its start",
                id.to_string(),
            ));
        };
        if started.lineage.letter.is_some() {
            let by = started.trigger.by.clone().ok_or_else(unasked)?;
            self.retried.entry(by).or_default().push(id);
        } else if let Some(key) = &started.idempotency_key {
            let name = (started.workflow.to_string(), key.clone());
            self.keyed.entry(name).or_default().push(id);
        } else {
            let number = number_of(started.input.as_str()).ok_or_else(unasked)?;
            self.plain.entry(number).or_default().push(id);
        }
        Ok(())
    }
}

/// The number that a wish put into its input.
pub(super) fn number_of(input: &str) -> Option<u32> {
    let rest = input.split_once("\"n\":")?.1;
    rest.split([',', '}']).next()?.parse().ok()
}

/// What all these were told must fit to what is there.
pub(super) fn agree<T>(
    name: &str,
    asked: &[&Asked<T>],
    made: Option<&Vec<ExecutionId>>,
) -> Result<(), Violation> {
    let made = made.map_or(&[][..], Vec::as_slice);
    let fail = |what: String| Err(Violation::new(ONE_EACH, format!("{name}: {what}")));
    if made.len() > 1 {
        return fail(format!("there are {}: {made:?}", made.len()));
    }
    for asked in asked {
        if let Some(Answer::Done(id)) = asked.answer
            && made.first() != Some(&id)
        {
            return fail(format!("{id} was promised, there is {made:?}"));
        }
    }
    let all_refused = asked
        .iter()
        .all(|asked| asked.answer == Some(Answer::Refused));
    if all_refused && !made.is_empty() {
        return fail(format!("it was refused, but there is {made:?}"));
    }
    Ok(())
}
