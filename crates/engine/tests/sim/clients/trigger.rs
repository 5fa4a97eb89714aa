//! Making, changing and running triggers.

use std::time::Duration;

use refire_core::id::TriggerId;
use refire_core::json::{Json, Segment};
use refire_core::time::Timestamp;
use refire_core::trigger::CatchUp;
use refire_engine::trigger::{Backfill, NewTrigger, TriggerError, TriggerView};
use refire_engine::{Accepted, IntakeError};
use refire_store::model::{Image, Told};

use super::{Clients, word};
use crate::ledger::Answer;
use crate::mark::Mark;
use crate::plan::{Patch, Timing, TriggerDeed};
use crate::world::Violation;

/// How often somebody tries to make a trigger in one life.
const MAKES_MAX: u32 = 6;
/// How long they wait after the first try, in milliseconds; then twice as long each time.
const MAKE_AGAIN_AFTER_MS: u64 = 200;
/// How far a node's reading of the time may go back between two looks at it.
const CLOCK_OFF_MAX: Duration = Duration::from_secs(1);

impl Clients {
    /// Somebody does something with triggers.
    pub(super) fn tend(&self, deed: TriggerDeed) {
        let people = self.clone();
        match deed {
            TriggerDeed::Backfill {
                which,
                only_missed,
                people: count,
            } => {
                for _ in 0..count {
                    let people = self.elsewhere();
                    people.doing.clone().spawn(async move {
                        people.backfill(which, only_missed).await;
                    });
                }
            }
            TriggerDeed::Send {
                which,
                request,
                times,
            } => self.send(which, &request, times),
            TriggerDeed::Make { flow, timing } => {
                self.doing.spawn(async move {
                    let every = Duration::from_secs(timing.every_s);
                    people.make(flow, every, |now| timing.text(now)).await;
                });
            }
            TriggerDeed::MakeHook { flow } => {
                self.doing.spawn(async move {
                    let text = r#"{"trigger_type":"webhook","authentication":"none"}"#;
                    people.make(flow, Duration::ZERO, |_| text.to_owned()).await;
                });
            }
            TriggerDeed::Run(which) => {
                self.doing.spawn(async move { people.run(which).await });
            }
            deed => {
                self.doing.spawn(async move { people.change(deed).await });
            }
        }
    }

    /// Makes a trigger that is due this often.
    async fn make(&self, flow: usize, every: Duration, text: impl Fn(Timestamp) -> String) {
        let life = &self.life;
        for tries in 0..MAKES_MAX {
            let text = text(self.engine.now());
            let workflow = self.workflow(flow);
            let made = self.engine.triggers().create(&workflow, &text).await;
            life.alive().await;
            match made {
                Ok(made) => {
                    life.say(&format!("{} of w{flow}: {text}", made.view.row.id));
                    self.check_there(&made);
                    return;
                }
                // By the time that it was looked at, there was no slot left before its end.
                Err(TriggerError::Invalid(problems))
                    if problems.iter().all(|problem| problem.path == "end") =>
                {
                    let soon = self.engine.now().plus(every).plus(CLOCK_OFF_MAX);
                    assert!(end_of(&text) <= soon, "{problems:?} before {soon}\n{text}");
                }
                Err(TriggerError::Invalid(problems)) => panic!("{problems:?}\n{text}"),
                Err(error) => {
                    self.unable(&error);
                    life.sleep_ms(MAKE_AGAIN_AFTER_MS << tries).await;
                }
            }
        }
    }

    async fn change(&self, deed: TriggerDeed) {
        let life = &self.life;
        let which = match deed {
            TriggerDeed::Change { which, .. } | TriggerDeed::Enable { which, .. } => which,
            TriggerDeed::Disable(which) | TriggerDeed::Delete(which) => which,
            _ => return,
        };
        let Some((id, is_cron)) = self.clockwork(which) else {
            return;
        };
        let engine = &self.engine;
        let changed = match deed {
            TriggerDeed::Change { patch, .. } => {
                let patch = patch.text(is_cron);
                let changed = engine.triggers().change(id, &patch, CatchUp::No).await;
                changed.map(|changed| Some(changed.view))
            }
            TriggerDeed::Enable { catch_up, .. } => {
                let catch_up = match catch_up {
                    true => CatchUp::Yes,
                    false => CatchUp::No,
                };
                let enabled = engine.triggers().enable(id, catch_up).await;
                enabled.map(|(view, _)| Some(view))
            }
            TriggerDeed::Delete(_) => engine.triggers().delete(id).await.map(|()| None),
            _ => engine.triggers().disable(id).await.map(Some),
        };
        life.alive().await;
        match changed {
            Ok(Some(view)) => self.check_changed(&view),
            Ok(None) => life.check(|_| {
                let is_gone = |told: &Told| told.deleted_at.is_some();
                match life.world.disk.look(|image| is_gone(&image.triggers[&id])) {
                    true => Ok(()),
                    false => Err(not_durable(id)),
                }
            }),
            Err(error) => {
                self.unable(&error);
            }
        }
    }

    async fn run(&self, which: u64) {
        let life = &self.life;
        let Some((id, _)) = self.clockwork(which) else {
            return;
        };
        let (number, by) = life.with(|inside| inside.ledger.run(life.number));
        life.say(&format!("{by} runs {id}"));
        let answer = self
            .engine
            .triggers()
            .run(id, None, None, Some(by.clone()))
            .await;
        life.alive().await;
        let answer = match answer {
            Ok(Accepted::New { id, .. } | Accepted::Duplicate { id, .. }) => {
                self.check_told(id, None);
                Answer::Done(id)
            }
            Err(error) => self.unable(&error),
        };
        life.say(&format!("{by} is answered {}", word(answer)));
        life.with(|inside| inside.ledger.runs[number].answer = Some(answer));
    }

    async fn backfill(&self, which: u64, only_missed: bool) {
        let life = &self.life;
        let Some((id, _)) = self.clockwork(which) else {
            return;
        };
        let number = life.with(|inside| {
            inside.ledger.backfills += 1;
            inside.ledger.backfills
        });
        let by = match only_missed {
            true => format!("filler {number}"),
            false => format!("repeater {number}"),
        };
        life.say(&format!("{by} begins with {id}"));
        let range = Backfill {
            from: life
                .world
                .disk
                .look(|image| image.triggers[&id].row.created_at),
            to: self.engine.now(),
            only_missed,
        };
        let answer = self
            .engine
            .triggers()
            .backfill(id, range, Some(by.clone()))
            .await;
        life.alive().await;
        match answer {
            Ok(started) => {
                life.say(&format!("{by} has run {}", started.len()));
                for (_, execution) in started {
                    life.reach(Mark::Backfilled);
                    self.check_told(execution, None);
                }
            }
            Err(error) => {
                life.say(&format!("{by} has not run all"));
                self.unable(&error);
            }
        }
    }

    /// One of the triggers that go by the clock, and whether it has an expression.
    fn clockwork(&self, which: u64) -> Option<(TriggerId, bool)> {
        self.life.world.disk.look(|image| {
            let of = |image: &Image| {
                let all = image
                    .triggers
                    .values()
                    .filter(|told| told.deleted_at.is_none());
                let all = all.filter(|told| told.row.webhook.is_none());
                let mine = |id| image.scheduled.values().any(|row| row.trigger() == id);
                let all = all.filter(|told| !mine(told.row.id));
                all.map(|told| (told.row.id, told.row.kind.name() == "cron"))
                    .collect::<Vec<_>>()
            };
            let all = of(image);
            let index = usize::try_from(which % all.len().max(1) as u64).unwrap_or(0);
            all.get(index).copied()
        })
    }

    fn check_there(&self, made: &NewTrigger) {
        self.check_changed(&made.view);
    }

    /// What somebody was told of a trigger is durable.
    fn check_changed(&self, view: &TriggerView) {
        let (id, version) = (view.row.id, view.row.version);
        self.life.check(|_| {
            let stored = self.life.world.disk.look(|image| {
                let told = image.triggers.get(&id)?;
                Some(told.row.version)
            });
            match stored.is_some_and(|stored| stored >= version) {
                true => Ok(()),
                false => Err(not_durable(id)),
            }
        });
    }

    /// What a failure says about what was written.
    pub(super) fn unable(&self, error: &TriggerError) -> Answer {
        match error {
            TriggerError::Commit(failure) | TriggerError::Start(IntakeError::Commit(failure)) => {
                self.failed(failure)
            }
            _ => Answer::Refused,
        }
    }
}

/// The `end` of a trigger's text.
fn end_of(text: &str) -> Timestamp {
    let text = Json::parse(text).unwrap();
    let end = text.at(&[Segment::Key("end".into())]).unwrap();
    end.as_text().unwrap().parse().unwrap()
}

fn not_durable(id: TriggerId) -> Violation {
    Violation::new("no answer before it is durable", id.to_string())
}

impl Timing {
    fn text(&self, now: Timestamp) -> String {
        let when = when(self.every_s, self.is_cron);
        let kind = if self.is_cron { "cron" } else { "schedule" };
        let (end, rest) = (now.plus(self.span), &self.rest);
        format!(
            r#"{{"trigger_type":"{kind}",{when},"end":"{end}",{rest}"input":{{"n":0,"k":"g0","flag":true,"odd":true}}}}"#
        )
    }
}

impl Patch {
    fn text(self, is_cron: bool) -> String {
        match self {
            Self::Every(seconds) => format!("{{{}}}", when(seconds, is_cron)),
            Self::Settings(text) => text.to_owned(),
        }
    }
}

fn when(every_s: u64, is_cron: bool) -> String {
    match is_cron {
        true => format!(r#""cron_expression":"*/{every_s} * * * * *""#),
        false => format!(r#""every":"{every_s}s""#),
    }
}
