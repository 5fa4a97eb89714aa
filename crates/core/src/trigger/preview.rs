//! Settings that nobody has saved yet: what they mean, and when they would fire. They are judged as those
//! of a new trigger are, so that what is shown here is what saving them gives.

use refire_schedule::{Schedule, Slot, jiff};

use super::read;
use super::settings::Wish;
use super::timeline::stored;
use crate::definition::fields::Field;
use crate::definition::source::{Content, Key, Node};
use crate::definition::{Problem, Problems};
use crate::time::Timestamp;

/// Planned times that are shown unless somebody asks for more.
pub const PREVIEW_COUNT_DEFAULT: u64 = 10;
/// The most that are shown.
pub const PREVIEW_COUNT_MAX: u64 = 100;

/// A schedule that is looked at before it is saved.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The schedule.
    pub schedule: Schedule,
    /// Times after this moment are shown.
    pub from: Timestamp,
    /// How many.
    pub count: usize,
}

impl Preview {
    /// Reads the settings of a trigger with planned times, in JSON or YAML, and beside them `count` and
    /// `from`.
    ///
    /// # Errors
    /// Everything that is wrong, in the order of the text.
    pub fn parse(source: &str, now: Timestamp) -> Result<Self, Problems> {
        let mut wish = Wish::parse(source)?;
        let mut problems = Problems::new();
        let count = take(&mut wish, "count", |field| {
            field.whole(1..=PREVIEW_COUNT_MAX, &mut problems)
        });
        let from = take(&mut wish, "from", |field| {
            let text = field.text(&mut problems)?;
            field.keep(text.parse::<Timestamp>(), &mut problems)
        });
        let from = from.unwrap_or(now);
        let schedule = schedule(&wish, from, now).map_err(|found| {
            found.into_iter().for_each(|problem| problems.push(problem));
        });
        match schedule {
            Ok(schedule) if problems.is_empty() => Ok(Self {
                schedule,
                from,
                count: count.unwrap_or(PREVIEW_COUNT_DEFAULT) as usize,
            }),
            _ => Err(problems.sorted()),
        }
    }

    /// The planned times, the next one first; fewer than asked for if there are no more.
    #[must_use]
    pub fn slots(&self) -> Vec<Slot> {
        let from = jiff::Timestamp::from_microsecond(self.from.as_micros());
        let first = from.ok().and_then(|from| self.schedule.next(from));
        let slots = std::iter::successors(first, |slot| self.schedule.next(slot.at));
        // What cannot be stored is never planned.
        let is_kept = |slot: &Slot| stored(slot.at) < Timestamp::LAST;
        slots.take_while(is_kept).take(self.count).collect()
    }
}

/// A member that is no setting, as `read` understands it. Nothing written counts as absent.
fn take<T>(wish: &mut Wish, name: &str, read: impl FnOnce(Field<'_>) -> Option<T>) -> Option<T> {
    let (key, node): (Key, Node) = wish.take(name)?;
    let is_said = node.content != Content::Null;
    is_said.then(|| read(Field::new(&*key.text, &node)))?
}

fn schedule(wish: &Wish, from: Timestamp, now: Timestamp) -> Result<Schedule, Problems> {
    let (draft, schedule) = read::read_written(&wish.anchored(now))?;
    let Some(schedule) = schedule else {
        let message = format!(
            "a trigger of type `{}` has no planned times",
            draft.settings.kind.name()
        );
        let problem = Problem::new("trigger_type", wish.place("trigger_type"), message);
        return Err(problem.with_hint("write `cron` or `schedule`").into());
    };
    wish.after(&draft.settings.kind, Some(&schedule), from)?;
    Ok(schedule)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-03-07T12:00:00Z".parse().unwrap()
    }

    fn times(source: &str) -> Vec<String> {
        let preview = Preview::parse(source, now()).unwrap();
        preview.slots().iter().map(ToString::to_string).collect()
    }

    fn wrong(source: &str) -> Vec<String> {
        let problems = Preview::parse(source, now()).unwrap_err();
        problems.into_iter().map(|problem| problem.path).collect()
    }

    #[test]
    fn planned_times_are_those_of_a_new_trigger() {
        let cron = "trigger_type: cron\ncron_expression: '30 2 * * *'\ntimezone: America/New_York\ncount: 2";
        assert_eq!(
            times(cron),
            ["2026-03-08T03:00:00-04:00", "2026-03-09T02:30:00-04:00"]
        );
        // An interval that says nothing of where it begins counts from now.
        let every = r#"{"trigger_type":"schedule","every":"90m","count":1}"#;
        assert_eq!(times(every), ["2026-03-07T13:30:00+00:00"]);
        let later = r#"{"trigger_type":"cron","cron_expression":"0 0 * * *","from":"2030-01-01T00:00:00Z","count":1}"#;
        assert_eq!(times(later), ["2030-01-02T00:00:00+00:00"]);
        let usual =
            r#"{"trigger_type":"cron","cron_expression":"0 0 * * *","count":null,"from":null}"#;
        assert_eq!(times(usual).len() as u64, PREVIEW_COUNT_DEFAULT);
        let few =
            r#"{"trigger_type":"schedule","at":["2026-03-07T10:00:00Z","2026-03-07T13:00:00Z"]}"#;
        assert_eq!(times(few), ["2026-03-07T13:00:00+00:00"]);
        let last = r#"{"trigger_type":"cron","cron_expression":"0 0 1 1 *","from":"9990-01-01T00:00:00Z"}"#;
        assert!(times(last).len() < 10);
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        for (source, fields) in [
            (
                r#"{"trigger_type":"cron","cron_expression":"61 * * * *","count":101,"from":"soon"}"#,
                &["cron_expression", "count", "from"][..],
            ),
            (
                r#"{"trigger_type":"cron","cron_expression":"0 * * * *","colour":1,"count":0}"#,
                &["colour", "count"],
            ),
            (
                r#"{"trigger_type":"webhook","authentication":"none"}"#,
                &["trigger_type"],
            ),
            (
                r#"{"trigger_type":"schedule","at":"2020-01-01T00:00:00Z"}"#,
                &["at"],
            ),
            (r#"{"cron_expression":"0 * * * *"}"#, &["trigger_type"]),
        ] {
            assert_eq!(wrong(source), fields, "{source}");
        }
    }
}
