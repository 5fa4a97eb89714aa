//! Retrying dead letters and giving them up.

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::EventKind;
use refire_core::id::DlqId;
use refire_core::json::Json;
use refire_engine::{LetterRetryError, LetterRetryRequest, RetryFrom};
use refire_store::PartOutcome;

use super::{Clients, word};
use crate::ledger::Answer;
use crate::mark::Mark;
use crate::world::Violation;

impl Clients {
    /// One of the letters, rather one that waits for somebody.
    pub(super) fn letter(&self, which: u64) -> Option<DlqId> {
        self.life.world.disk.look(|image| {
            let waits = |status| status == LetterStatus::Pending;
            let all: Vec<DlqId> = image.letters.keys().copied().collect();
            let pending: Vec<DlqId> = image
                .letters
                .iter()
                .filter(|(_, filed)| waits(filed.state.status))
                .map(|(id, _)| *id)
                .collect();
            let among = if pending.is_empty() { all } else { pending };
            let index = usize::try_from(which % among.len().max(1) as u64).unwrap_or(0);
            among.get(index).copied()
        })
    }

    pub(super) async fn retry(&self, letter: DlqId, from_failed_step: bool, edited: bool) {
        let life = &self.life;
        let (number, by) = life.with(|inside| inside.ledger.retry(letter, life.number));
        let input = edited.then(|| self.edited(letter, number)).flatten();
        life.say(&format!("{by} retries a letter"));
        let request = LetterRetryRequest {
            letter,
            input,
            from: match from_failed_step {
                true => RetryFrom::FailedStep,
                false => RetryFrom::Start,
            },
            version: None,
            retries: false,
            by: by.clone(),
        };
        let answer = self.engine.letters().retry(request).await;
        life.alive().await;
        let answer = match answer {
            Ok(id) => {
                self.check_told(id, None);
                life.with(|inside| inside.ledger.tell(id));
                Answer::Done(id)
            }
            Err(LetterRetryError::Commit(failure)) => self.failed(&failure),
            Err(LetterRetryError::NotFound) => {
                let violation = Violation::new("what was promised is found", letter.to_string());
                life.check(|_| Err(violation));
                Answer::Refused
            }
            Err(_) => Answer::Refused,
        };
        life.say(&format!("{by} is answered {}", word(answer)));
        life.with(|inside| {
            inside.ledger.retries[number].answer = Some(answer);
            let of: Vec<Option<Answer>> = inside
                .ledger
                .retries
                .iter()
                .filter(|asked| asked.what.letter == letter && asked.life == life.number)
                .map(|asked| asked.answer)
                .collect();
            let done = of
                .iter()
                .filter(|answer| matches!(answer, Some(Answer::Done(_))));
            if done.count() == 1 && of.contains(&Some(Answer::Refused)) {
                inside.marks.reach(Mark::LetterRetriedAtOnce);
            }
        });
    }

    /// The letter's input, changed by somebody.
    pub(super) fn edited(&self, letter: DlqId, number: usize) -> Option<Json> {
        let execution = self
            .life
            .world
            .disk
            .look(|image| Some(image.letters.get(&letter)?.letter.execution))?;
        self.life.with(|inside| {
            let first = inside.judge.known(execution)?.log.first()?;
            let EventKind::ExecutionStarted(started) = &first.kind else {
                return None;
            };
            let rest = started.input.as_str().strip_prefix('{')?;
            Json::parse(format!("{{\"edited\":{number},{rest}")).ok()
        })
    }

    pub(super) async fn delete_letter(&self, letter: DlqId) {
        let life = &self.life;
        life.say("somebody gives a letter up");
        let by = format!("deleter of life {} at {}", life.number, life.lived_ms());
        let answer = self.engine.letters().delete(letter, &by).await;
        life.alive().await;
        match answer {
            Ok(PartOutcome::Done) => life.check(|inside| {
                inside.marks.reach(Mark::LetterDeleted);
                let is_gone = life.world.disk.look(|image| {
                    let filed = image.letters.get(&letter)?;
                    let deleted = filed.state.deleted.as_ref()?;
                    Some(filed.state.status == LetterStatus::Deleted && deleted.1 == by)
                });
                match is_gone {
                    Some(true) => Ok(()),
                    _ => Err(Violation::new(
                        "no answer before it is durable",
                        letter.to_string(),
                    )),
                }
            }),
            Ok(_) => {}
            Err(failure) => {
                self.failed(&failure);
            }
        }
    }
}
