//! Pausing, resuming, cancelling.

use std::sync::Arc;

use refire_core::execution::{Command, Status};
use refire_core::id::ExecutionId;
use refire_engine::CommandError;

use super::{Clients, word};
use crate::ledger::Answer;
use crate::mark::Mark;
use crate::world::Violation;

impl Clients {
    /// Steers one of the executions that somebody was told of.
    pub(super) fn steer_one(&self, which: u64, command: impl FnOnce(Option<String>) -> Command) {
        let id = self.life.with(|inside| {
            let told = &inside.ledger.told;
            let index = usize::try_from(which % told.len().max(1) as u64).unwrap_or(0);
            told.get(index).copied()
        });
        if let Some(id) = id {
            self.steer(id, command);
        }
    }

    pub(crate) fn steer(&self, id: ExecutionId, command: impl FnOnce(Option<String>) -> Command) {
        let life = Arc::clone(&self.life);
        let (number, by, name) = life.with(|inside| {
            let (number, by) = inside.ledger.steering(id, life.number);
            (number, by, inside.trace.name(id))
        });
        let people = self.clone();
        let command = command(Some(by));
        self.doing.spawn(async move {
            life.say(&format!("{name}: {command:?}"));
            let is_cancel = matches!(command, Command::Cancel(_));
            let (is_called, elsewhere) = life.with(|inside| {
                let mut calls = inside.in_flight.iter().filter(|call| call.execution == id);
                let first = calls.next();
                (
                    first.is_some(),
                    first.is_some_and(|call| call.life != life.number),
                )
            });
            let answer = people.engine.executions().command(id, command).await;
            life.alive().await;
            let answer = match answer {
                Ok(state) => {
                    people.check_told(id, Some(&state));
                    if elsewhere {
                        life.reach(Mark::SteeredFromElsewhere);
                    }
                    if is_cancel && is_called && state.status == Status::Cancelled {
                        life.reach(Mark::CancelledDuringCall);
                    }
                    Answer::Done(id)
                }
                Err(CommandError::Refused(_) | CommandError::TaskMoved) => Answer::Refused,
                Err(CommandError::Failed(failure)) => people.failed(&failure),
                Err(CommandError::NotFound) => {
                    let violation = Violation::new("what was promised is found", id.to_string());
                    life.check(|_| Err(violation));
                    Answer::Refused
                }
            };
            life.say(&format!("{name}: answered {}", word(answer)));
            life.with(|inside| inside.ledger.steerings[number].answer = Some(answer));
        });
    }
}
