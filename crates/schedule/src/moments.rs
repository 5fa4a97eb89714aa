//! Moments one by one, known from the beginning.

use jiff::Timestamp;

use crate::slot::{SkipReason, Skipped, Slot, SlotKind};

/// Slots and what the policy kept from being one, each in order and without a moment twice.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Moments {
    slots: Box<[Slot]>,
    skipped: Box<[Skipped]>,
}

impl Moments {
    pub(crate) fn new(mut slots: Vec<Slot>, mut skipped: Vec<Skipped>) -> Self {
        // Of those that come together, one that was not moved is kept.
        slots.sort_by_key(|slot| (slot.at, slot.kind == SlotKind::Moved, slot.planned));
        let mut kept: Vec<Slot> = Vec::new();
        for slot in slots {
            match kept.last() {
                Some(last) if last.at == slot.at => {
                    if slot.kind == SlotKind::Moved && slot.planned != last.planned {
                        skipped.push(Skipped {
                            at: slot.at,
                            planned: slot.planned,
                            reason: SkipReason::Merged,
                        });
                    }
                }
                _ => kept.push(slot),
            }
        }
        skipped.sort_by_key(|skipped| (skipped.at, skipped.planned));
        Self {
            slots: kept.into(),
            skipped: skipped.into(),
        }
    }

    /// Those from one moment to another, both included.
    pub(crate) fn between(&self, from: Timestamp, until: Timestamp) -> &[Slot] {
        let first = self.slots.partition_point(|slot| slot.at < from);
        let end = self.slots.partition_point(|slot| slot.at <= until);
        self.slots.get(first..end).unwrap_or_default()
    }

    pub(crate) fn skipped(&self, from: Timestamp, until: Timestamp) -> Vec<Skipped> {
        let within = |skipped: &&Skipped| (from..=until).contains(&skipped.at);
        self.skipped.iter().filter(within).copied().collect()
    }
}
