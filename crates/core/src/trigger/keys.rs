//! The fields that a trigger may have, in the order in which they are stored.

use crate::definition::keys::{Known, RETRY};

/// What every kind has.
pub(super) const COMMON: &[Known] = &[
    Known::new("trigger_type"),
    Known::new("name"),
    Known::new("description"),
    Known::new("enabled"),
    Known::new("input"),
    Known::with("retry", RETRY),
    Known::with("dead_man", DEAD_MAN),
];

/// A trigger of type `cron`.
pub(super) const CRON: &[Known] = &[
    Known::new("trigger_type"),
    Known::new("name"),
    Known::new("description"),
    Known::new("enabled"),
    Known::also("cron_expression", &["cron"]),
    Known::new("timezone"),
    Known::new("start"),
    Known::new("end"),
    Known::new("jitter"),
    Known::with("dst", DST),
    Known::new("overlap"),
    Known::new("misfire"),
    Known::new("misfire_max"),
    Known::new("misfire_window"),
    Known::new("input"),
    Known::with("retry", RETRY),
    Known::with("dead_man", DEAD_MAN),
];

/// A trigger of type `schedule`.
pub(super) const SCHEDULE: &[Known] = &[
    Known::new("trigger_type"),
    Known::new("name"),
    Known::new("description"),
    Known::new("enabled"),
    Known::new("every"),
    Known::new("anchor"),
    Known::new("at"),
    Known::with("daily", DAILY),
    Known::with("weekly", WEEKLY),
    Known::with("monthly", MONTHLY),
    Known::new("timezone"),
    Known::new("start"),
    Known::new("end"),
    Known::new("jitter"),
    Known::with("dst", DST),
    Known::new("overlap"),
    Known::new("misfire"),
    Known::new("misfire_max"),
    Known::new("misfire_window"),
    Known::new("input"),
    Known::with("retry", RETRY),
    Known::with("dead_man", DEAD_MAN),
];

pub(super) const DEAD_MAN: &[Known] = &[Known::new("grace"), Known::new("success_within")];

pub(super) const DST: &[Known] = &[Known::new("gap"), Known::new("repeat")];

pub(super) const DAILY: &[Known] = &[Known::new("time")];

pub(super) const WEEKLY: &[Known] = &[Known::new("dayOfWeek"), Known::new("time")];

pub(super) const MONTHLY: &[Known] = &[Known::new("dayOfMonth"), Known::new("time")];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_what_all_have() {
        for known in COMMON {
            for table in [CRON, SCHEDULE] {
                assert!(table.iter().any(|key| key.name == known.name), "{known:?}");
            }
        }
    }
}
