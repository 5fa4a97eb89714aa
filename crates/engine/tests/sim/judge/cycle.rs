//! The promises about cycles: what a trigger starts is counted from one on, without a gap and none
//! twice, and a retry of a dead letter keeps its number.

use std::collections::BTreeMap;

use refire_core::id::{ExecutionId, TriggerId};
use refire_store::model::Image;

use super::{Judge, Known};
use crate::mark::{Mark, Marks};
use crate::world::Violation;

const COUNTED: &str = "cycles are counted without gaps";

/// What was started as which cycle.
#[derive(Default)]
pub(super) struct Cycles(BTreeMap<TriggerId, BTreeMap<u64, ExecutionId>>);

impl Cycles {
    /// Takes note of a new execution, if it is of a cycle.
    pub(super) fn add(
        &mut self,
        image: &Image,
        id: ExecutionId,
        known: &Known,
        others: &BTreeMap<ExecutionId, Known>,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let Some(origin) = &known.state.origin else {
            return Ok(());
        };
        let cycle = origin.trigger.cycle;
        if let Some(letter) = origin.lineage.letter {
            if cycle.is_some() {
                marks.reach(Mark::CycleRetried);
            }
            let before = image.letters.get(&letter).map(|it| it.letter.execution);
            let before = before.and_then(|before| others.get(&before));
            let before = before.and_then(|before| before.state.origin.as_ref());
            return match before.is_none_or(|before| before.trigger.cycle == cycle) {
                true => Ok(()),
                false => Err(Violation::new(
                    "a retry keeps its cycle",
                    format!("{id} is of {cycle:?}"),
                )),
            };
        }
        let trigger = origin.trigger.id.as_ref().and_then(|id| id.parse().ok());
        let (Some(trigger), Some(cycle)) = (trigger, cycle) else {
            return Ok(());
        };
        let of_trigger = self.0.entry(trigger).or_default();
        match of_trigger.insert(cycle, id) {
            Some(other) => {
                let what = format!("{trigger}: {other} and {id} are both cycle {cycle}");
                Err(Violation::new(COUNTED, what))
            }
            None => Ok(()),
        }
    }
}

impl Judge {
    /// Triggers have counted what they have started.
    pub(crate) fn cycles_are_counted(&self, image: &Image) -> Result<(), Violation> {
        for (id, standing) in &image.trigger_states {
            let cycles = self.cycles.0.get(id);
            let newest = cycles.and_then(|cycles| cycles.keys().next_back().copied());
            let count = cycles.map_or(0, |cycles| cycles.len() as u64);
            let told = standing.state.cycles;
            if (newest.unwrap_or(0), count) != (told, told) {
                let what = format!("{id} counts {told}, there are {count}, up to {newest:?}");
                return Err(Violation::new(COUNTED, what));
            }
        }
        Ok(())
    }
}
