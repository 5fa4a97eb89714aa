//! Starting executions, alone, together, again and with a key.

use std::time::Duration;

use refire_core::definition::RetrySettings;
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_engine::{Accepted, IntakeError, Submission};

use super::Clients;
use crate::ledger::Answer;
use crate::mark::Mark;
use crate::plan::{Oddity, Wish};
use crate::world::{Inside, Violation};

/// How often somebody repeats a request that was not granted.
pub(super) const TRIES_MAX: u32 = 3;
/// How long somebody waits for an end.
const WAIT: Duration = Duration::from_secs(20);

impl Clients {
    /// Somebody asks for an execution, and asks so many times at most, perhaps elsewhere.
    pub(super) fn begin_to_submit(&self, wish: Wish, tries: u32) {
        let people = self.clone();
        self.doing.spawn(async move {
            let number = people.wished(&wish);
            let newest = people.newest(&wish);
            let answer = people
                .engine
                .executions()
                .submit(people.submission(&wish))
                .await;
            people.life.alive().await;
            let heard = people.heard(number, &wish, &answer);
            people.started_by(&answer, newest);
            let is_done = matches!(heard, Answer::Done(_)) || tries <= 1;
            if !is_done && people.tries_again(&wish).await {
                people.elsewhere().begin_to_submit(wish, tries - 1);
            }
        });
    }

    pub(super) async fn submit_all(&self, wishes: Vec<Wish>) {
        let numbers: Vec<usize> = wishes.iter().map(|wish| self.wished(wish)).collect();
        let submissions = wishes.iter().map(|wish| self.submission(wish)).collect();
        let answers = self.engine.executions().submit_all(submissions).await;
        self.life.alive().await;
        for ((number, wish), answer) in numbers.into_iter().zip(&wishes).zip(answers) {
            self.heard(number, wish, &answer);
        }
    }

    pub(super) async fn submit_and_wait(&self, wish: Wish) {
        let number = self.wished(&wish);
        self.life
            .with(|inside| inside.ledger.wishes[number].is_patient = true);
        let answer = self
            .engine
            .executions()
            .submit_and_wait(self.submission(&wish), WAIT)
            .await;
        self.life.alive().await;
        if let Ok((_, Some(stored))) = &answer {
            self.check_told(stored.id, Some(&stored.state));
        }
        self.heard(number, &wish, &answer.map(|(accepted, _)| accepted));
    }

    pub(super) fn wished(&self, wish: &Wish) -> usize {
        let (life, number) = (self.life.number, wish.number);
        self.life.say(&format!(
            "wish {number} of w{} key {:?}",
            wish.flow, wish.key
        ));
        self.life.with(|inside| {
            let at_ms = inside.lived_ms;
            inside.ledger.wish(wish, life, at_ms)
        })
    }

    pub(super) fn submission(&self, wish: &Wish) -> Submission {
        Submission {
            idempotency_key: wish.key.map(|key| format!("key {key}")),
            priority: wish.priority,
            delay: wish.delay_ms.map(Duration::from_millis),
            retry: wish.is_final.then(RetrySettings::disabled),
            ..Submission::manual(self.workflow(wish.flow), Json::parse(wish.input()).unwrap())
        }
    }

    /// The newest version that was saved before somebody asks.
    fn newest(&self, wish: &Wish) -> u32 {
        let workflow = self.workflow(wish.flow);
        self.life
            .with(|inside| inside.ledger.newest(workflow.as_ref()))
    }

    /// What was saved is what starts, through whichever node.
    fn started_by(&self, answer: &Result<Accepted, IntakeError>, newest: u32) {
        let Ok(Accepted::New { id, state }) = answer else {
            return;
        };
        let Some(origin) = &state.origin else { return };
        let version = origin.workflow_version;
        let name = (origin.workflow.to_string(), version);
        self.life.check(|inside| {
            let saved_by = inside.ledger.saved.get(&name);
            if saved_by.is_some_and(|life| *life != self.life.number) {
                inside.marks.reach(Mark::StartedWhatAnotherSaved);
            }
            if version < newest {
                let what = format!("{id} runs version {version}, {newest} was saved before");
                return Err(Violation::new("what was saved is what starts", what));
            }
            Ok(())
        });
    }

    pub(super) async fn tries_again(&self, wish: &Wish) -> bool {
        let again = self.life.with(|inside| {
            let dice = &mut inside.people_dice;
            let again = wish.key.is_some() && wish.oddity != Oddity::Unstorable && dice.chance(700);
            again.then(|| *dice.pick(&[1, 200, 3_000]))
        });
        match again {
            Some(wait) => self.life.sleep_ms(wait).await,
            None => return false,
        }
        true
    }

    /// Somebody is told what became of their wish.
    pub(super) fn heard(
        &self,
        number: usize,
        wish: &Wish,
        answer: &Result<Accepted, IntakeError>,
    ) -> Answer {
        let heard = match answer {
            Ok(Accepted::New { id, state }) => {
                self.check_told(*id, Some(state));
                Answer::Done(*id)
            }
            Ok(Accepted::Duplicate { id, body_differs }) => {
                self.check_told(*id, None);
                self.life
                    .check(|inside| duplicate(inside, number, wish, *body_differs));
                Answer::Done(*id)
            }
            Err(IntakeError::Commit(failure)) => self.failed(failure),
            Err(IntakeError::NoSuchWorkflow(_) | IntakeError::Catalog(_)) => Answer::Refused,
        };
        self.life.say(&format!(
            "wish {} is answered {}",
            wish.number,
            spoken(answer)
        ));
        self.life.check(|inside| {
            inside.ledger.wishes[number].answer = Some(heard);
            let Answer::Done(id) = heard else {
                return Ok(());
            };
            inside.ledger.tell(id);
            same_key(inside, wish, id)
        });
        heard
    }
}

/// A key was used before; whoever says so must be right.
fn duplicate(
    inside: &mut Inside,
    number: usize,
    wish: &Wish,
    body_differs: bool,
) -> Result<(), Violation> {
    let Some(key) = wish.key else {
        return Err(Violation::new(
            "same key, same execution",
            "there was no key",
        ));
    };
    let own = &inside.ledger.wishes[number];
    let mut others = inside
        .ledger
        .of_key(wish.flow, key)
        .filter(|other| !std::ptr::eq(*other, own));
    let (life, at_ms) = (own.life, own.at_ms);
    let (mut across, mut at_once, mut elsewhere) = (false, false, false);
    for other in others.by_ref() {
        across |= other.answer.is_none() && other.life < life;
        at_once |= other.life == life && other.what.number == wish.number;
        elsewhere |= other.life != life && other.what.number == wish.number && other.at_ms == at_ms;
    }
    if elsewhere {
        inside.marks.reach(Mark::SameKeyAtTwoNodes);
    }
    if across {
        inside.marks.reach(Mark::SameKeyAcrossCrash);
    }
    if at_once {
        inside.marks.reach(Mark::SameKeyAtOnce);
    }
    if body_differs {
        inside.marks.reach(Mark::SameKeyOtherBody);
    }
    Ok(())
}

/// Whoever used the same key was told of the same execution.
fn same_key(inside: &Inside, wish: &Wish, id: ExecutionId) -> Result<(), Violation> {
    let Some(key) = wish.key else {
        return Ok(());
    };
    let other = inside
        .ledger
        .of_key(wish.flow, key)
        .find_map(|asked| match asked.answer {
            Some(Answer::Done(other)) if other != id => Some(other),
            _ => None,
        });
    match other {
        Some(other) => {
            let what = format!("key {key} of w{}: {id} and {other}", wish.flow);
            Err(Violation::new("same key, same execution", what))
        }
        None => Ok(()),
    }
}

fn spoken(answer: &Result<Accepted, IntakeError>) -> String {
    match answer {
        Ok(Accepted::New { .. }) => "yes".to_owned(),
        Ok(Accepted::Duplicate { .. }) => "there is one already".to_owned(),
        Err(error) => error.to_string(),
    }
}
