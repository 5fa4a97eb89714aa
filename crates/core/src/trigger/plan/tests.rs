//! Stories: what is done to a trigger, and what its ledger says afterwards.
//!
//! Moments are times of 1 January 2026 in UTC unless a date is written; the trigger is made at
//! 00:00.

mod dead_man;
mod dst;
mod edges;
mod measure;
mod misfire;
mod overlap;
mod pause;

use super::super::fixture::{World, at, trigger};
use super::*;
use crate::trigger::change::CatchUp;

const MIDNIGHT: &str = "00:00";

/// What happens in a story.
#[derive(Clone, Copy)]
enum Happens {
    /// The node looks, as often as it takes.
    Look,
    /// An execution completes.
    Success(u64),
    /// An execution fails.
    Failure(u64),
    Disable,
    Enable,
    EnableAndCatchUp,
}

use Happens::{Disable, Enable, EnableAndCatchUp, Failure, Look, Success};

/// `09:30`, `09:30:15` or a whole moment.
fn moment(text: &str) -> Timestamp {
    match text.len() {
        5 => at(&format!("2026-01-01T{text}:00Z")),
        8 => at(&format!("2026-01-01T{text}Z")),
        _ => at(text),
    }
}

/// A moment as short as it can be said.
fn short(moment: Timestamp) -> String {
    let text = moment.to_string();
    let text = text.trim_end_matches('Z').trim_end_matches(".000000");
    let text = text.strip_prefix("2026-01-01T").unwrap_or(text);
    text.strip_suffix(":00").unwrap_or(text).to_owned()
}

fn line(entry: &Entry) -> String {
    let mut line = short(entry.nominal);
    if entry.to != entry.nominal {
        line += &format!("–{}", short(entry.to));
    }
    if entry.count != 1 {
        line += &format!(" ×{}", entry.count);
    }
    line += &format!(" {}", entry.outcome.status().name());
    if let Some(reason) = entry.outcome.reason() {
        line += &format!(" {reason}");
    }
    if let Some(execution) = entry.execution {
        line += &format!(" #{}", u128::from_be_bytes(*execution.as_bytes()));
    }
    line
}

fn lines(world: &World) -> Vec<String> {
    world.ledger.iter().map(line).collect()
}

fn tell(settings: &str, from: &str, story: &[(&str, Happens)]) -> World {
    let mut world = World::new(trigger(settings), moment(from));
    for (time, happens) in story {
        let now = moment(time);
        match happens {
            Look => {
                world.look(now);
            }
            Success(number) => world.end(*number, true, now),
            Failure(number) => world.end(*number, false, now),
            Disable => world.disable(now),
            Enable => world.enable(now, CatchUp::No),
            EnableAndCatchUp => world.enable(now, CatchUp::Yes),
        }
    }
    world
}

/// The ledger after a story of an hourly trigger with more settings.
fn hourly(more: &str, story: &[(&str, Happens)]) -> Vec<String> {
    lines(&tell(&hourly_settings(more), MIDNIGHT, story))
}

fn hourly_settings(more: &str) -> String {
    let comma = if more.is_empty() { "" } else { "," };
    format!(r#"{{"trigger_type":"cron","cron_expression":"0 * * * *"{comma}{more}}}"#)
}
