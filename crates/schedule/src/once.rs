//! A single moment, as people write it.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};

use crate::dst::{Dst, Gap, Repeat};
use crate::problem::Reason;
use crate::slot::{SkipReason, Skipped, Slot, SlotKind};

/// A moment, or a local time that a zone makes one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Once {
    Moment(Timestamp),
    Local(DateTime),
}

/// Reads `2026-11-15T09:30:00Z`, `2026-11-15 09:30` or `2026-11-15`.
pub(crate) fn parse(text: &str) -> Result<Once, Reason> {
    let text = text.trim();
    if let Ok(at) = text.parse::<Timestamp>() {
        return Ok(Once::Moment(at));
    }
    let local = if text.contains(':') {
        text.parse::<DateTime>().ok()
    } else {
        text.parse::<Date>().ok().map(Date::into)
    };
    // What names an offset or a zone and is no moment is a slip, not a local time.
    match local.filter(|_| !text.contains(['[', '+', 'Z', 'z'])) {
        Some(local) => Ok(Once::Local(local)),
        None => Err(Reason::new(format!("`{text}` is not a moment"))
            .hint("write `2026-11-15T09:30:00Z`, or `2026-11-15T09:30` for the schedule's zone")),
    }
}

impl Once {
    /// Adds the slots that it comes to in a zone, and what the policy keeps from being one.
    pub(crate) fn place(
        self,
        zone: &TimeZone,
        dst: Dst,
        slots: &mut Vec<Slot>,
        skipped: &mut Vec<Skipped>,
    ) {
        let planned = match self {
            Self::Moment(at) => {
                slots.push(slot_at(zone, at));
                return;
            }
            Self::Local(local) => local,
        };
        let mut add = |offset: Offset, kind: SlotKind| {
            if let Ok(at) = offset.to_timestamp(planned) {
                let slot = Slot {
                    planned,
                    kind,
                    ..slot_at(zone, at)
                };
                slots.push(slot);
            }
        };
        let mut skip = |offset: Offset, reason: SkipReason| {
            if let Ok(at) = offset.to_timestamp(planned) {
                skipped.push(Skipped {
                    at,
                    planned,
                    reason,
                });
            }
        };
        match zone.to_ambiguous_timestamp(planned).offset() {
            AmbiguousOffset::Unambiguous { offset } => add(offset, SlotKind::Normal),
            AmbiguousOffset::Fold { before, after } => match dst.repeat {
                Repeat::First => {
                    add(before, SlotKind::Normal);
                    skip(after, SkipReason::OtherPass);
                }
                Repeat::Last => {
                    skip(before, SkipReason::OtherPass);
                    add(after, SlotKind::Repeated);
                }
                Repeat::Both => {
                    add(before, SlotKind::Normal);
                    add(after, SlotKind::Repeated);
                }
            },
            AmbiguousOffset::Gap { before, after } => {
                // With the later offset the local time lies before the change, and the change is
                // the next one.
                let change = after
                    .to_timestamp(planned)
                    .ok()
                    .and_then(|at| zone.following(at).next());
                let Some(at) = change.map(|change| change.timestamp()) else {
                    return add(before, SlotKind::Moved);
                };
                match dst.gap {
                    Gap::NextValid => slots.push(Slot {
                        planned,
                        kind: SlotKind::Moved,
                        ..slot_at(zone, at)
                    }),
                    Gap::Skip => skipped.push(Skipped {
                        at,
                        planned,
                        reason: SkipReason::Gap,
                    }),
                }
            }
        }
    }
}

/// The slot at a moment that was not made of a local time.
pub(crate) fn slot_at(zone: &TimeZone, at: Timestamp) -> Slot {
    let offset = zone.to_offset(at);
    let local = offset.to_datetime(at);
    Slot {
        at,
        local,
        planned: local,
        offset,
        kind: SlotKind::Normal,
    }
}
