//! The fields that a trigger may have, in the order in which they are stored.

use crate::definition::keys::{Known, RETRY};
use crate::webhook;

/// What every kind begins with.
pub(super) const HEAD: &[Known] = &[
    Known::new("trigger_type"),
    Known::new("name"),
    Known::new("description"),
    Known::new("enabled"),
];

/// What every kind ends with.
const TAIL: &[Known] = &[
    Known::new("input"),
    Known::with("retry", RETRY),
    Known::with("dead_man", DEAD_MAN),
];

/// What kinds with planned times have.
pub(super) const PLANNED: &[Known] = &[
    Known::new("timezone"),
    Known::new("start"),
    Known::new("end"),
    Known::new("jitter"),
    Known::with("dst", DST),
    Known::new("overlap"),
    Known::new("misfire"),
    Known::new("misfire_max"),
    Known::new("misfire_window"),
];

/// A trigger of type `cron`.
pub(super) const CRON: &[Known] = &joined::<17>(&[
    HEAD,
    &[Known::also("cron_expression", &["cron"])],
    PLANNED,
    TAIL,
]);

/// A trigger of type `schedule`.
pub(super) const SCHEDULE: &[Known] = &joined::<22>(&[
    HEAD,
    &[
        Known::new("every"),
        Known::new("anchor"),
        Known::new("at"),
        Known::with("daily", DAILY),
        Known::with("weekly", WEEKLY),
        Known::with("monthly", MONTHLY),
    ],
    PLANNED,
    TAIL,
]);

/// A trigger of type `webhook`. Its secret is taken out before the rest is read.
pub(crate) const WEBHOOK: &[Known] =
    &joined::<22>(&[HEAD, webhook::settings::KEYS, &[Known::new("secret")], TAIL]);

/// Tables one after the other.
const fn joined<const N: usize>(tables: &[&[Known]]) -> [Known; N] {
    let mut all = [Known::new(""); N];
    let (mut count, mut table) = (0, 0);
    while table < tables.len() {
        let mut at = 0;
        while at < tables[table].len() {
            all[count] = tables[table][at];
            count += 1;
            at += 1;
        }
        table += 1;
    }
    assert!(count == N, "N is how many keys there are");
    all
}

pub(super) const DEAD_MAN: &[Known] = &[Known::new("grace"), Known::new("success_within")];

pub(super) const DST: &[Known] = &[Known::new("gap"), Known::new("repeat")];

pub(super) const DAILY: &[Known] = &[Known::new("time")];

pub(super) const WEEKLY: &[Known] = &[Known::new("dayOfWeek"), Known::new("time")];

pub(super) const MONTHLY: &[Known] = &[Known::new("dayOfMonth"), Known::new("time")];
