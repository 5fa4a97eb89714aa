//! Making scheduled tasks, running them now and changing them.

use std::time::Duration;

use refire_core::id::ScheduledTaskId;
use refire_core::time::Timestamp;
use refire_engine::IntakeError;
use refire_engine::scheduled::{NewScheduled, ScheduledError};
use refire_store::model::Image;

use super::{Clients, word};
use crate::ledger::Answer;
use crate::mark::Mark;
use crate::plan::{Errand, ScheduledDeed, When};
use crate::world::Violation;

/// How often somebody tries to make a task in one life.
const MAKES_MAX: u32 = 6;
/// How long they wait after the first try, in milliseconds; then twice as long each time.
const MAKE_AGAIN_AFTER_MS: u64 = 200;
/// How long after its last planned time a task ends, so that this one is among them.
const ENDS_AFTER: Duration = Duration::from_millis(500);

impl Clients {
    /// Somebody does something with scheduled tasks.
    pub(super) fn schedule(&self, deed: ScheduledDeed) {
        match deed {
            ScheduledDeed::Make { errand, times } => {
                for _ in 0..times {
                    let (people, errand) = (self.elsewhere(), errand.clone());
                    people
                        .doing
                        .clone()
                        .spawn(async move { people.make_errand(&errand).await });
                }
            }
            ScheduledDeed::Run { which, people } => {
                let Some(id) = self.errand(which) else {
                    return;
                };
                for _ in 0..people {
                    let people = self.elsewhere();
                    people
                        .doing
                        .clone()
                        .spawn(async move { people.run_errand(id).await });
                }
            }
            deed => {
                let people = self.clone();
                self.doing
                    .spawn(async move { people.change_errand(deed).await });
            }
        }
    }

    async fn make_errand(&self, errand: &Errand) {
        let life = &self.life;
        let key = format!("errand {}", errand.number);
        for tries in 0..MAKES_MAX {
            let text = errand.text(self.engine.now());
            let made = self
                .engine
                .scheduled()
                .create(&text, Some(&key), "somebody")
                .await;
            life.alive().await;
            match made {
                Ok(made) => {
                    life.say(&format!("{} is {key}: {text}", made.view.row.id));
                    return self.check_errand(errand, &made);
                }
                // Each has a text of its own, by its own clock.
                Err(ScheduledError::KeyUsed(_)) => return,
                // By the time that it was looked at, nothing was left to be done.
                Err(ScheduledError::Invalid(problems)) => {
                    let places = ["endTime", "scheduleConfig.executeAt"];
                    let is_late = problems.iter().all(|it| places.contains(&it.path.as_str()));
                    assert!(is_late, "{problems:?}\n{text}");
                }
                Err(error) => {
                    self.not_done(&error);
                }
            }
            life.sleep_ms(MAKE_AGAIN_AFTER_MS << tries).await;
        }
    }

    /// What somebody was told of a task is durable, and one that begins at once has begun.
    fn check_errand(&self, errand: &Errand, made: &NewScheduled) {
        let (id, trigger) = (made.view.row.id, made.view.row.trigger());
        let name = trigger.to_string();
        let (is_there, has_begun) = self.life.world.disk.look(|image| {
            let is_first = |record: &refire_store::model::Record| {
                record.row.workflow == made.view.row.workflow
            };
            let has_begun = image.executions.values().any(|record| is_first(record));
            (image.scheduled.contains_key(&id), has_begun)
        });
        let is_now = matches!(errand.when, When::Now);
        self.life
            .check(|_| match is_there && (has_begun || !is_now) {
                true => Ok(()),
                false => Err(Violation::new("no answer before it is durable", name)),
            });
    }

    async fn run_errand(&self, id: ScheduledTaskId) {
        let life = &self.life;
        let (number, by) = life.with(|inside| inside.ledger.run(life.number));
        life.say(&format!("{by} runs {id}"));
        let answer = self.engine.scheduled().run(id, &by).await;
        life.alive().await;
        let answer = match answer {
            Ok(run) => {
                self.check_told(run.execution, None);
                life.check(|inside| {
                    let known = inside.judge.known(run.execution);
                    let origin = known.and_then(|known| known.state.origin.as_ref());
                    match origin.and_then(|origin| origin.trigger.cycle) == Some(run.cycle) {
                        true => Ok(()),
                        false => Err(Violation::new(
                            "what is told is what is stored",
                            format!("{run:?} is of {origin:?}"),
                        )),
                    }
                });
                Answer::Done(run.execution)
            }
            Err(error) => self.not_done(&error),
        };
        life.say(&format!("{by} is answered {}", word(answer)));
        life.with(|inside| {
            let runs = &mut inside.ledger.runs;
            runs[number].answer = Some(answer);
            let done = |asked: &&crate::ledger::Asked<_>| {
                matches!(asked.answer, Some(Answer::Done(_))) && asked.life == life.number
            };
            if runs.iter().filter(done).count() > 1 {
                inside.marks.reach(Mark::RunAtOnce);
            }
        });
    }

    async fn change_errand(&self, deed: ScheduledDeed) {
        let life = &self.life;
        let which = match deed {
            ScheduledDeed::Pause(which)
            | ScheduledDeed::Resume(which)
            | ScheduledDeed::Delete(which)
            | ScheduledDeed::Cancel { which, .. }
            | ScheduledDeed::Patch { which, .. } => which,
            ScheduledDeed::Make { .. } | ScheduledDeed::Run { .. } => return,
        };
        let Some(id) = self.errand(which) else {
            return;
        };
        life.say(&format!("{id}: {deed:?}"));
        let tasks = self.engine.scheduled();
        let changed = match deed {
            ScheduledDeed::Pause(_) => tasks.pause(id).await.map(|_| ()),
            ScheduledDeed::Resume(_) => tasks.resume(id).await.map(|_| ()),
            ScheduledDeed::Delete(_) => tasks.delete(id, "somebody").await,
            ScheduledDeed::Cancel { keeps_running, .. } => {
                let cancelled = tasks.cancel(id, keeps_running, "somebody").await;
                cancelled.map(|_| ())
            }
            ScheduledDeed::Patch { every_s, .. } => {
                let patch = format!(r#"{{"taskConfig":{{"callbackWindow":"{every_s}s"}}}}"#);
                tasks.patch(id, &patch, None, "somebody").await.map(|_| ())
            }
            ScheduledDeed::Make { .. } | ScheduledDeed::Run { .. } => Ok(()),
        };
        life.alive().await;
        if let Err(error) = changed {
            life.say(&format!("{id}: {error}"));
            self.not_done(&error);
        }
    }

    /// One of the scheduled tasks.
    fn errand(&self, which: u64) -> Option<ScheduledTaskId> {
        let of = |image: &Image| {
            let all = image.scheduled.values();
            let all = all.filter(|row| row.deleted_at.is_none());
            let all: Vec<_> = all.map(|row| row.id).collect();
            let index = usize::try_from(which % all.len().max(1) as u64).unwrap_or(0);
            all.get(index).copied()
        };
        self.life.world.disk.look(of)
    }

    /// What a failure says about what was written.
    fn not_done(&self, error: &ScheduledError) -> Answer {
        match error {
            ScheduledError::Commit(failure)
            | ScheduledError::Start(IntakeError::Commit(failure)) => self.failed(failure),
            ScheduledError::Damaged(..) => {
                let violation = Violation::new("no defect is answered", error.to_string());
                self.life.check(|_| Err(violation));
                Answer::Refused
            }
            _ => Answer::Refused,
        }
    }
}

impl Errand {
    /// The request that makes it now.
    fn text(&self, now: Timestamp) -> String {
        let Self {
            number,
            window_s,
            retries,
            ..
        } = self;
        let when = match self.when {
            When::Now => r#""scheduleType":"immediate""#.to_owned(),
            When::In { seconds } => {
                let at = now.plus(Duration::from_secs(seconds));
                format!(r#""scheduleType":"once","scheduleConfig":{{"executeAt":"{at}"}}"#)
            }
            When::Every { seconds, times } => {
                let end = now.plus(Duration::from_secs(seconds * times) + ENDS_AFTER);
                format!(
                    r#""scheduleType":"cron","scheduleConfig":{{"cron":"*/{seconds} * * * * *"}},"endTime":"{end}""#
                )
            }
        };
        let window = match window_s {
            0 => "0".to_owned(),
            seconds => format!("\"{seconds}s\""),
        };
        format!(
            r#"{{{when},"taskConfig":{{"taskType":"custom","callbackWindow":{window},"taskPayload":{{"n":{number}}},"retryConfig":{{"maxRetries":{retries},"retryIntervalMinutes":0.05}},"targetConfig":{{"triggerType":"http","url":"https://h0.example/errand/call","triggerTimeoutSeconds":5}}}}}}"#
        )
    }
}
