//! When work is due: cron expressions, intervals, single moments, and times of days, weeks and
//! months, in any time zone, with daylight saving decided per schedule.
//!
//! Nothing here does I/O (but for [zone files](use_zone_files), if they are chosen), reads a clock or
//! rolls dice. A [`Schedule`] is made of
//! [`ScheduleSettings`] (what somebody wrote) and answers questions about moments: which
//! [`Slot`] comes [next](Schedule::next), which was [the one before](Schedule::previous), which lie
//! [between two moments](Schedule::slots), [how many](Schedule::count) they are, and what a change
//! of the clock [kept from firing](Schedule::skipped). Whoever asks keeps the time.
//!
//! ```
//! use refire_schedule::{Language, Schedule, ScheduleSettings};
//!
//! let settings = ScheduleSettings::cron("30 2 * * *").timezone("America/New_York");
//! let schedule = Schedule::new(&settings)?;
//! // On 8 March 2026 the clock goes from 02:00 to 03:00.
//! let slot = schedule.next("2026-03-08T00:00:00Z".parse()?).unwrap();
//! assert_eq!(slot.planned.to_string(), "2026-03-08T02:30:00");
//! assert_eq!(slot.local.to_string(), "2026-03-08T03:00:00");
//!
//! let words = schedule.explain(Language::English, slot.at);
//! assert_eq!(words.summary, "At 02:30 every day (America/New_York)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What a schedule means
//!
//! - **Slots.** No two slots of a schedule share a moment, so (trigger, moment) names a slot on
//!   every node. Expressions and times of the day fall on whole seconds.
//! - **Ranges** leave out their beginning and include their end. The window of a schedule (`start`,
//!   `end`) includes both; a window in which nothing is due is refused.
//! - **Two kinds of schedules.** With `*` or `*/n` as the hour, an expression follows elapsed time:
//!   it fires whenever the clock on the wall shows what it says, so in both passes of an hour that
//!   comes twice, and not for an hour that is left out. Every other hour, lists and ranges included
//!   (`1-3`, `0-23/2`, `*/2,5`), names times of the day, and so do `daily`, `weekly`, `monthly` and
//!   moments of `at` that are written without an offset. The minute field plays no part in this.
//! - **Times of the day and the clock.** A local time that does not exist fires at the first moment
//!   after the gap ([`Gap::NextValid`]) or not at all ([`Gap::Skip`]); several that come together
//!   fire once. One that comes twice fires the first time, the last time or both ([`Repeat`]).
//! - **Days.** Where an expression says both a day of the month and a day of the week, either is
//!   enough. Said means anything but a star alone. In `monthly`, a day that a month lacks is its
//!   last; in an expression it is left out.
//! - **Intervals.** `every: 13h` is 13 hours of elapsed time, counted from `anchor`, else `start`,
//!   else the beginning of 1970 in UTC.
//! - **Jitter** delays a start within its window and leaves the slot where it is; the delay follows
//!   from the trigger's seed and the slot.
//! - **Zone data** is built in, so that all nodes of one version agree. A program may choose the
//!   machine's at its start ([`use_zone_files`]).

mod calendar;
mod civil;
mod compile;
mod cron;
mod days;
mod dst;
mod explain;
mod interval;
mod jitter;
mod length;
mod local;
mod moments;
mod nearest;
mod once;
mod problem;
mod schedule;
mod settings;
mod slot;
mod times;
mod zone;
mod zone_data;

/// The types of moments, local times and zones in the questions and answers.
pub use jiff;

pub use compile::{INTERVAL_MIN, JITTER_MAX, MOMENTS_MAX, TIMES_MAX};
pub use cron::{Cron, CronError, EXPRESSION_LENGTH_MAX, Field};
pub use dst::{Dst, Gap, Repeat};
pub use explain::{Explanation, Language};
pub use nearest::nearest;
pub use problem::{Problem, Problems};
pub use schedule::{HORIZON, Schedule, Slots};
pub use settings::{Daily, Monthly, OneOrMany, ScheduleSettings, Weekly, Written};
pub use slot::{SkipReason, Skipped, Slot, SlotKind};
pub use zone::{offset_text, zone_names, zone_offsets};
pub use zone_data::{
    ZoneDataError, ZoneSource, built_in_zone_data_version, use_zone_files, zone_data_version,
    zone_source,
};
