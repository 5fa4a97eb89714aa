//! `refire cron`: what a cron expression means and when it fires. Needs no server.

use refire_client::model::FieldProblem;
use refire_schedule::{
    Dst, Gap, Language, Repeat, Schedule, ScheduleSettings, Slot, SlotKind, jiff,
};
use serde::Serialize;

use super::report::say_option;
use crate::cli::prelude::*;
use crate::config::TimeZones;

/// Times that one call may ask for.
const COUNT_MAX: i64 = 10_000;
/// Times shown with an explanation.
const EXPLAINED_COUNT: usize = 3;

/// Commands of `refire cron`.
#[derive(Debug, Subcommand)]
pub(crate) enum CronCommand {
    /// Show when an expression fires
    #[command(after_help = "\
Examples:
  refire cron next \"*/15 9-17 * * MON-FRI\" --tz Europe/Berlin
  refire cron next \"30 2 * * *\" --tz America/New_York --from 2026-03-07T00:00:00Z --count 3
  refire cron next \"0 9 L * *\" --count 12 --format json
  refire cron next \"0 9 * * MON\" --tz Asia/Taipei --lang zh-TW")]
    Next {
        #[command(flatten)]
        expression: Expression,
        /// Times after this moment: a time (RFC 3339), a day (UTC), or how long ago [default: now]
        #[arg(long, value_name = "TIME")]
        from: Option<String>,
        /// How many to show
        #[arg(long, short = 'n', value_name = "N", default_value_t = 5,
            value_parser = clap::value_parser!(u32).range(1..=COUNT_MAX))]
        count: u32,
        /// The language: en or zh-TW
        #[arg(long, value_name = "TAG", default_value = "en", value_parser = ["en", "zh-TW"])]
        lang: String,
    },
    /// Explain an expression in words
    #[command(after_help = "\
Examples:
  refire cron explain \"*/15 9-17 * * MON-FRI\"
  refire cron explain \"30 2 * * *\" --tz Europe/Warsaw --lang zh-TW")]
    Explain {
        #[command(flatten)]
        expression: Expression,
        /// The language: en or zh-TW
        #[arg(long, value_name = "TAG", default_value = "en", value_parser = ["en", "zh-TW"])]
        lang: String,
    },
}

/// An expression, and what else decides when it fires.
#[derive(Debug, Args)]
pub(crate) struct Expression {
    /// Minute, hour, day of month, month, day of week; seconds may come before them. In quotes
    #[arg(value_name = "EXPRESSION")]
    cron: String,
    /// The time zone, an IANA name [default: TZ= in the expression, else UTC]
    #[arg(long = "tz", alias = "timezone", value_name = "ZONE")]
    timezone: Option<String>,
    /// When daylight saving skips the local time: fire right after the gap, or not at all
    #[arg(long, value_name = "POLICY", default_value = "next_valid", value_parser = ["next_valid", "skip"])]
    gap: String,
    /// When daylight saving repeats the local time: which of the two fires
    #[arg(long, value_name = "POLICY", default_value = "first", value_parser = ["first", "last", "both"])]
    repeat: String,
    /// Whose rules of time zones are used: built-in, or system (TZDIR, else /usr/share/zoneinfo)
    #[arg(
        long,
        env = "REFIRE_TIME_ZONES",
        value_name = "SOURCE",
        default_value = "built-in",
        hide_possible_values = true,
        hide_env_values = true
    )]
    time_zones: TimeZones,
}

/// `refire cron explain --format json`
#[derive(Debug, Serialize)]
struct Explained<'a> {
    expression: &'a str,
    timezone: &'a str,
    summary: &'a str,
    notes: &'a [String],
}

/// Runs a command.
pub(crate) fn run(session: &Session, command: &CronCommand) -> anyhow::Result<Outcome> {
    let (CronCommand::Next { expression, .. } | CronCommand::Explain { expression, .. }) = command;
    expression.time_zones.choose()?;
    let Some(schedule) = schedule_of(expression) else {
        return Ok(Outcome::Misused);
    };
    let now = jiff::Timestamp::from_microsecond(session.now().as_micros())?;
    match command {
        CronCommand::Next {
            from, count, lang, ..
        } => {
            let from = match from {
                Some(text) => moment("--from", text, session.now())?.parse()?,
                None => now,
            };
            let slots = upcoming(&schedule, from, *count as usize);
            let times: Vec<String> = slots.iter().map(ToString::to_string).collect();
            session.answer(&times, || {
                draw(&schedule, Language::of_tag(lang), from, &slots)
            })
        }
        CronCommand::Explain { lang, .. } => {
            let language = Language::of_tag(lang);
            let words = schedule.explain(language, now);
            let document = Explained {
                expression: &expression.cron,
                timezone: schedule.timezone(),
                summary: &words.summary,
                notes: &words.notes,
            };
            session.answer(&document, || {
                let slots = upcoming(&schedule, now, EXPLAINED_COUNT);
                draw(&schedule, language, now, &slots)
            })
        }
    }
}

/// The schedule, or nothing when what is wrong with it has been said.
fn schedule_of(expression: &Expression) -> Option<Schedule> {
    let settings = ScheduleSettings {
        timezone: expression.timezone.clone(),
        dst: Dst {
            gap: match expression.gap.as_str() {
                "skip" => Gap::Skip,
                _ => Gap::NextValid,
            },
            repeat: match expression.repeat.as_str() {
                "last" => Repeat::Last,
                "both" => Repeat::Both,
                _ => Repeat::First,
            },
        },
        ..ScheduleSettings::cron(expression.cron.as_str())
    };
    let problems = match Schedule::new(&settings) {
        Ok(schedule) => return Some(schedule),
        Err(problems) => problems,
    };
    for problem in problems {
        let field = match problem.field.as_str() {
            "timezone" => "--tz".to_owned(),
            _ => "expression".to_owned(),
        };
        say_option(FieldProblem {
            field,
            message: problem.message,
            line: None,
            column: None,
            hint: problem.hint,
        });
    }
    None
}

fn upcoming(schedule: &Schedule, from: jiff::Timestamp, count: usize) -> Vec<Slot> {
    let slots = std::iter::successors(schedule.next(from), |slot| schedule.next(slot.at));
    slots.take(count).collect()
}

fn draw(schedule: &Schedule, language: Language, from: jiff::Timestamp, slots: &[Slot]) -> String {
    let words = schedule.explain(language, from);
    let mut out = format!("{}\n", heading(&words.summary));
    for note in &words.notes {
        let _ = writeln!(out, "{}", dim(note));
    }
    if slots.is_empty() {
        out.push_str(match language {
            Language::English => "It will not fire again.\n",
            Language::TraditionalChinese => "不會再觸發。\n",
        });
        return out;
    }
    let from = Timestamp::from_micros(from.as_microsecond());
    let heads = match language {
        Language::English => ["FIRES AT", "", "CLOCK"],
        Language::TraditionalChinese => ["觸發時間", "", "時鐘"],
    };
    let has_notes = slots.iter().any(|slot| slot.kind != SlotKind::Normal);
    let shown = if has_notes { 3 } else { 2 };
    let mut grid = Grid::new(&heads[..shown]);
    for slot in slots {
        let distance = relative(&slot.at.to_string(), from);
        let distance = match language {
            Language::English => distance,
            Language::TraditionalChinese => chinese_distance(&distance),
        };
        let mut row = vec![
            Cell::new(slot),
            cell(distance),
            cell(slot.note(language).unwrap_or_default()),
        ];
        row.truncate(shown);
        grid.row(row);
    }
    let _ = write!(out, "\n{}", grid.lines(0));
    out
}

/// `in 1d 07h` as `1 天 7 小時後`; anything else as it is.
fn chinese_distance(text: &str) -> String {
    let unit = |part: &str| {
        let end = part.find(|c: char| c.is_ascii_alphabetic())?;
        let (number, unit) = part.split_at(end);
        let word = match unit {
            "d" => "天",
            "h" => "小時",
            "m" => "分鐘",
            "s" => "秒",
            _ => return None,
        };
        let number = match number.strip_prefix('0') {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => rest,
            _ => number,
        };
        Some(format!("{number} {word}"))
    };
    let parts = text.strip_prefix("in ").map(|rest| rest.split(' '));
    let parts: Option<Vec<String>> = parts.and_then(|parts| parts.map(unit).collect());
    match parts {
        Some(parts) => format!("{}後", parts.join(" ")),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expression(cron: &str, timezone: &str) -> Expression {
        Expression {
            cron: cron.to_owned(),
            timezone: Some(timezone.to_owned()),
            gap: "next_valid".to_owned(),
            repeat: "first".to_owned(),
            time_zones: TimeZones::BuiltIn,
        }
    }

    #[test]
    fn a_time_that_does_not_exist_is_told() {
        let schedule = schedule_of(&expression("30 2 * * *", "America/New_York")).unwrap();
        let from = "2026-03-07T12:00:00Z".parse().unwrap();
        let slots = upcoming(&schedule, from, 2);
        let text = draw(&schedule, Language::English, from, &slots);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(
            text.starts_with("At 02:30 every day (America/New_York)\n"),
            "{text}"
        );
        let rows: Vec<&str> = text.lines().rev().take(2).collect();
        assert_eq!(
            rows[1],
            "2026-03-08T03:00:00-04:00  in 19h     02:30:00 does not exist on that day"
        );
        assert_eq!(rows[0].trim_end(), "2026-03-09T02:30:00-04:00  in 1d 18h");
    }

    #[test]
    fn labels_are_in_the_language_of_the_words() {
        let schedule = schedule_of(&expression("30 2 * * *", "America/New_York")).unwrap();
        let from = "2026-03-07T12:00:00Z".parse().unwrap();
        let slots = upcoming(&schedule, from, 2);
        let text = draw(&schedule, Language::TraditionalChinese, from, &slots);
        let text = anstream::adapter::strip_str(&text).to_string();
        let rows: Vec<&str> = text.lines().rev().take(3).collect();
        assert!(rows[2].starts_with("觸發時間") && rows[2].ends_with("時鐘"));
        assert!(
            rows[1].ends_with("  19 小時後       當天沒有 02:30:00"),
            "{text}"
        );
        assert!(rows[0].trim_end().ends_with("1 天 18 小時後"), "{text}");
        for english in ["FIRES", "CLOCK", "exist", " in "] {
            assert!(!text.contains(english), "{english} in {text}");
        }
        for (english, chinese) in [
            ("in 5.0s", "5.0 秒後"),
            ("in 5m 03s", "5 分鐘 3 秒後"),
            ("in 2d 07h", "2 天 7 小時後"),
            ("in 0.4s", "0.4 秒後"),
            ("just now", "just now"),
        ] {
            assert_eq!(chinese_distance(english), chinese);
        }
    }

    #[test]
    fn what_is_wrong_has_no_schedule() {
        assert!(schedule_of(&expression("61 * * * *", "UTC")).is_none());
        assert!(schedule_of(&expression("* * * * *", "Mars/Olympus")).is_none());
    }
}
