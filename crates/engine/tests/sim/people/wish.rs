//! Starting executions, alone, together, again and with a key.

use std::time::Duration;

use refire_core::definition::RetrySettings;
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_engine::{Accepted, IntakeError, Submission};

use super::People;
use crate::ledger::Answer;
use crate::mark::Mark;
use crate::plan::{Oddity, Wish};
use crate::world::{Inside, Violation};

/// How often somebody repeats a request that was not granted.
const TRIES_MAX: u32 = 3;
/// How long somebody waits for an end.
const WAIT: Duration = Duration::from_secs(20);

impl People {
    pub(super) async fn submit(&self, wish: Wish) {
        for _ in 0..TRIES_MAX {
            let number = self.wished(&wish);
            let answer = self.engine.submit(self.submission(&wish)).await;
            self.life.alive().await;
            let heard = self.heard(number, &wish, &answer);
            if matches!(heard, Answer::Done(_)) || !self.tries_again(&wish).await {
                return;
            }
        }
    }

    pub(super) async fn submit_all(&self, wishes: Vec<Wish>) {
        let numbers: Vec<usize> = wishes.iter().map(|wish| self.wished(wish)).collect();
        let submissions = wishes.iter().map(|wish| self.submission(wish)).collect();
        let answers = self.engine.submit_all(submissions).await;
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
        self.life.with(|inside| inside.ledger.wish(wish, life))
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
    let life = own.life;
    let (mut across, mut at_once) = (false, false);
    for other in others.by_ref() {
        across |= other.answer.is_none() && other.life < life;
        at_once |= other.life == life && other.what.number == wish.number;
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
