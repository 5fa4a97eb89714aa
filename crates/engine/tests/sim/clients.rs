//! The people: they start executions, steer them, retry and give up dead letters, change
//! definitions, and remember what they were told.

mod bulk;
mod definition;
mod letter;
mod request;
mod scheduled;
mod steering;
mod trigger;
mod wish;

use std::sync::Arc;

use refire_core::definition::WorkflowId;
use refire_core::execution::{Cancel, Command, Execution, RetryNow};
use refire_core::id::ExecutionId;
use refire_engine::{CommitFailure, Engine};
use tokio_util::task::TaskTracker;

use crate::fleet::Fleet;
use crate::ledger::Answer;
use crate::life::Life;
use crate::plan::{Deed, Wish};
use crate::world::Violation;
pub(crate) use request::key_text;
use wish::TRIES_MAX;

/// The people of one life, at its door.
#[derive(Clone)]
pub(crate) struct Clients {
    pub(crate) life: Arc<Life>,
    pub(crate) engine: Arc<Engine>,
    /// What they are at.
    pub(crate) doing: TaskTracker,
    /// The other doors, if there are any.
    pub(crate) fleet: Option<Arc<Fleet>>,
}

impl Clients {
    /// The same people at the door of another life, or at this one.
    pub(crate) fn elsewhere(&self) -> Self {
        let door = self.fleet.as_ref().and_then(|fleet| fleet.door());
        door.unwrap_or_else(|| self.clone())
    }

    /// Whoever was left without an answer by a life comes back.
    pub(crate) fn come_back(&self, from: u32) {
        let (unsaved, again) = self.life.with(|inside| {
            let open: Vec<Wish> = inside
                .ledger
                .wishes
                .iter()
                .filter(|asked| asked.answer.is_none() && asked.life == from)
                .filter(|asked| asked.what.key.is_some())
                .map(|asked| asked.what.clone())
                .collect();
            let dice = &mut inside.people_dice;
            let again: Vec<Wish> = open.into_iter().filter(|_| dice.chance(700)).collect();
            (inside.ledger.unsaved.clone(), again)
        });
        for (flow, version) in unsaved {
            self.begin(Deed::Apply { flow, version });
        }
        for wish in again {
            self.begin(Deed::Submit(vec![wish]));
        }
    }

    /// Pauses, resumes and cancels what is open, in the middle of whatever happens to it.
    pub(crate) async fn meddle(self) {
        let life = Arc::clone(&self.life);
        loop {
            life.meddle.notified().await;
            life.alive().await;
            let (id, rolled, back) = life.with(|inside| {
                let all = inside.judge.all();
                let open = all.filter(|(_, known)| !known.state.status.is_terminal());
                let open: Vec<ExecutionId> = open.map(|(id, _)| *id).collect();
                let dice = &mut inside.people_dice;
                let id = (!open.is_empty()).then(|| *dice.pick(&open));
                (id, dice.below(10), *dice.pick(&[0, 3, 30, 400, 5_000]))
            });
            let Some(id) = id else {
                continue;
            };
            match rolled {
                0 | 1 => self.elsewhere().steer(id, retry_now),
                2..7 => {
                    self.elsewhere().steer(id, |by| Command::Pause { by });
                    let people = self.clone();
                    self.doing.spawn(async move {
                        people.life.sleep_ms(back).await;
                        people.elsewhere().steer(id, |by| Command::Resume { by });
                    });
                }
                _ => self.elsewhere().steer(id, move |by| {
                    Command::Cancel(Cancel {
                        compensate: rolled == 9,
                        ..Cancel::by(by)
                    })
                }),
            }
        }
    }

    /// Somebody begins to do something.
    pub(crate) fn begin(&self, deed: Deed) {
        let people = self.clone();
        match deed {
            Deed::SubmitAtOnce { wish, times } => {
                for _ in 0..times {
                    self.elsewhere().begin(Deed::Submit(vec![wish.clone()]));
                }
            }
            Deed::RetryLetter {
                which,
                people: count,
                from_failed_step,
                edited,
            } => {
                if let Some(letter) = self.letter(which) {
                    for _ in 0..count {
                        let people = self.elsewhere();
                        people.doing.clone().spawn(async move {
                            people.retry(letter, from_failed_step, edited).await;
                        });
                    }
                }
            }
            Deed::DeleteLetter { which, retried_too } => {
                if let Some(letter) = self.letter(which) {
                    if retried_too {
                        let people = self.elsewhere();
                        people
                            .doing
                            .clone()
                            .spawn(async move { people.retry(letter, false, false).await });
                    }
                    self.doing
                        .spawn(async move { people.delete_letter(letter).await });
                }
            }
            Deed::Apply { flow, version } => {
                self.doing
                    .spawn(async move { people.save(flow, version).await });
            }
            Deed::Submit(mut wishes) if wishes.len() == 1 => {
                if let Some(wish) = wishes.pop() {
                    self.begin_to_submit(wish, TRIES_MAX);
                }
            }
            Deed::Submit(wishes) => {
                self.doing
                    .spawn(async move { people.submit_all(wishes).await });
            }
            Deed::SubmitAndWait(wish) => {
                self.doing
                    .spawn(async move { people.submit_and_wait(wish).await });
            }
            Deed::Pause(which) => self.steer_one(which, |by| Command::Pause { by }),
            Deed::Resume(which) => self.steer_one(which, |by| Command::Resume { by }),
            Deed::RetryNow(which) => self.steer_one(which, retry_now),
            Deed::Cancel { which, compensate } => {
                self.steer_one(which, move |by| {
                    Command::Cancel(Cancel {
                        compensate,
                        ..Cancel::by(by)
                    })
                });
            }
            Deed::DeleteWorkflow { flow } => {
                self.doing
                    .spawn(async move { people.delete_workflow(flow).await });
            }
            Deed::Stop { patience_ms } => self.life.ask_to_stop(patience_ms),
            Deed::Tend(deed) => self.tend(deed),
            Deed::Schedule(deed) => self.schedule(deed),
            Deed::InBulk(deed) => self.in_bulk(deed),
        }
    }

    fn workflow(&self, flow: usize) -> WorkflowId {
        WorkflowId::new(self.life.world.plan.flows[flow].id.as_str()).unwrap()
    }

    /// What a failure says about what was written.
    fn failed(&self, failure: &CommitFailure) -> Answer {
        self.not_internal(failure);
        match failure {
            CommitFailure::Unknown => Answer::Unknown,
            _ => Answer::Refused,
        }
    }

    fn not_internal(&self, failure: &CommitFailure) {
        if let CommitFailure::Internal(what) = failure {
            self.life
                .check(|_| Err(Violation::new("no defect is answered", what.clone())));
        }
    }

    fn check_told(&self, id: ExecutionId, state: Option<&Execution>) {
        let disk = &self.life.world.disk;
        self.life
            .check(|inside| disk.look(|image| inside.judge.told(image, id, state)));
    }
}

/// Somebody does not want to wait.
fn retry_now(by: Option<String>) -> Command {
    Command::RetryNow(RetryNow { step: None, by })
}

fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Done(_) => "yes",
        Answer::Refused => "no",
        Answer::Unknown => "nobody knows",
    }
}
