//! The state machine: random commands on a random workflow. After each of them the log folds to
//! the state, every live step has its work and nothing follows an end; at last the whole log is
//! derived again.

use std::time::Duration;

use refire_core::definition::{StepId, Workflow};
use refire_core::execution::event::Lineage;
use refire_core::execution::replay::replay;
use refire_core::execution::{
    Began, Cancel, Command, Decision, Effect, Event, Execution, Lost, Outcome, Report, Start,
    apply, decide, fold, start,
};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{DlqId, ExecutionId};
use refire_core::json::Json;
use refire_core::time::Timestamp;

use super::choices::Choices;
use super::events::BEGINNING;
use super::flow;
use super::work::Rows;

/// Commands in one run; longer ones are slower and find the same.
const COMMANDS_MAX: usize = 60;

const OUTPUTS: [&str; 4] = ["1", r#"{"x":true}"#, r#"{"x":[1,2]}"#, "null"];

pub fn run(data: &[u8]) {
    let mut choices = Choices::new(data);
    let workflow = flow::workflow(&mut choices);
    let mut run = Run::start(&workflow, &mut choices);
    for _ in 0..COMMANDS_MAX {
        if choices.is_empty() {
            break;
        }
        run.step(&mut choices);
    }
    run.check_attempts();
    run.finish();
    assert!(
        run.state.status.is_terminal(),
        "it can be brought to an end"
    );
    run.check_replay();
}

struct Run<'a> {
    workflow: &'a Workflow,
    state: Execution,
    log: Vec<Event>,
    now: Timestamp,
    work: Rows,
    /// Dead letters made, and letters settled.
    letters: (usize, usize),
}

impl<'a> Run<'a> {
    fn start(workflow: &'a Workflow, choices: &mut Choices<'_>) -> Self {
        let id = ExecutionId::from_bytes([1; 16]);
        let input = Json::parse(choices.pick(&flow::INPUTS)).expect("it is JSON");
        let mut with = Start::plain(id, choices.number(), input);
        with.delay_until = choices.maybe(|choices| choices.moment(BEGINNING));
        if choices.byte() > 200 {
            with.automatic_retries = false;
            with.lineage = Lineage {
                letter: Some(DlqId::from_bytes([8; 16])),
                ..with.lineage
            };
        }
        let mut run = Self {
            workflow,
            state: Execution::empty(),
            log: Vec::new(),
            now: BEGINNING,
            work: Rows::default(),
            letters: (0, 0),
        };
        run.take(start(workflow, with, BEGINNING));
        run
    }

    fn take(&mut self, decision: Decision) {
        let before = std::mem::replace(&mut self.state, decision.state);
        let folded = decision.events.iter().fold(before, apply);
        assert_eq!(folded, self.state, "the events fold to the state");
        self.log.extend(decision.events);
        self.work.apply(&decision.effects);
        for effect in &decision.effects {
            match effect {
                Effect::DeadLetter(_) => self.letters.0 += 1,
                Effect::SettleLetter { .. } => self.letters.1 += 1,
                _ => {}
            }
        }
        self.check();
    }

    fn check(&self) {
        self.work.check(&self.state);
        let numbers = self.log.iter().map(|event| event.sequence);
        assert!(
            numbers.eq(1..=self.log.len() as u64),
            "numbers have no gaps"
        );
        assert!(
            self.log.is_sorted_by_key(|event| event.at),
            "times never go back"
        );
        let ends = self.log.iter().filter(|event| event.is_terminal()).count();
        let ended = self.state.status.is_terminal();
        assert_eq!(ends, usize::from(ended), "one end");
        assert_eq!(
            self.log.last().is_some_and(Event::is_terminal),
            ended,
            "nothing follows it"
        );
        let origin = self.state.origin.as_ref().expect("it was started");
        let retries_a_letter = origin.lineage.letter.is_some();
        assert_eq!(self.letters.0, usize::from(self.state.dlq_id.is_some()));
        assert_eq!(self.letters.1, usize::from(ended && retries_a_letter));
    }

    /// Attempts are 1..n without gaps, no more than the policy and the losses allow.
    fn check_attempts(&self) {
        for (id, step) in &self.state.steps {
            let of_step = |event: &&Event| event.step.as_ref() == Some(id);
            let named = |names: &[&str]| {
                let found = self.log.iter().filter(of_step);
                let found = found.filter(|event| names.contains(&&*event.kind.name()));
                found.map(|event| event.attempt).collect::<Vec<_>>()
            };
            let scheduled = named(&["STEP_SCHEDULED", "RETRY_SCHEDULED", "COMPENSATION_STARTED"]);
            assert!(
                scheduled.into_iter().eq((1..=step.attempt).map(Some)),
                "{id}"
            );
            let (index, _) = self
                .workflow
                .step(id.as_ref())
                .expect("a step of the workflow");
            let retries = self.workflow.retry_for(index, None).policy.max_retries as usize;
            let losses = named(&["STEP_LOST"]).len();
            assert!(
                step.attempt as usize <= retries + 1 + losses,
                "{id}: too many attempts"
            );
        }
    }

    fn check_replay(&self) {
        assert_eq!(fold(&self.log), self.state, "the log folds to the state");
        let found = replay(self.workflow, &self.log);
        assert_eq!(found.first_difference, None, "the log is derived again");
        assert_eq!(found.state, self.state);
    }

    /// The step with work that a choice picks.
    fn busy(&self, choices: &mut Choices<'_>) -> Option<StepId> {
        let pick = choices.below(self.work.0.len());
        self.work.0.keys().nth(pick).cloned()
    }

    fn step(&mut self, choices: &mut Choices<'_>) {
        let by = choices.flag().then(|| "ada".to_owned());
        let command = match choices.below(14) {
            0..=2 => self.report(choices, true),
            3..=5 => self.report(choices, false),
            6 => self.lost(choices),
            7 => self.busy(choices).and_then(|step| {
                self.begin(&step);
                None
            }),
            8 => Some(Command::Pause { by }),
            9 => Some(Command::Resume { by }),
            10 => Some(Command::Cancel(Cancel {
                by,
                compensate: choices.flag(),
                begun: Vec::new(),
            })),
            11 => Some(self.stray(choices)),
            12 => {
                self.now = self
                    .now
                    .plus(Duration::from_millis(choices.number() % 100_000));
                None
            }
            _ => {
                self.now = self
                    .now
                    .minus(Duration::from_millis(choices.number() % 10_000));
                None
            }
        };
        if let Some(command) = command {
            self.send(command);
        }
    }

    /// Refusals are fine; what is accepted is checked.
    fn send(&mut self, command: Command) {
        if let Ok(decision) = decide(self.workflow, &self.state, command, self.now) {
            self.take(decision);
        }
    }

    /// A node begins the step's work as soon as it is due.
    fn begin(&mut self, step: &StepId) -> Timestamp {
        let row = self.work.0.get_mut(step).expect("it has work");
        if let Some(due) = row.work.due_at {
            self.now = self.now.max(due);
        }
        *row.begun.get_or_insert(self.now)
    }

    fn report(&mut self, choices: &mut Choices<'_>, ok: bool) -> Option<Command> {
        let step = self.busy(choices)?;
        let started_at = self.begin(&step);
        let outcome = if ok {
            Outcome::Succeeded(Json::parse(choices.pick(&OUTPUTS)).expect("it is JSON"))
        } else {
            Outcome::Failed(failure(choices))
        };
        Some(Command::Report(Report {
            attempt: self.work.0.get(&step)?.work.attempt,
            step,
            began: Began::Called(started_at),
            duration_ms: self.now.since(started_at).as_millis() as u64,
            outcome,
            mapped: None,
        }))
    }

    fn lost(&mut self, choices: &mut Choices<'_>) -> Option<Command> {
        let step = self.busy(choices)?;
        let begun = choices.flag();
        if begun {
            self.begin(&step);
        }
        Some(Command::Lost(Lost {
            attempt: self.work.0.get(&step)?.work.attempt,
            step,
            node: None,
            begun,
        }))
    }

    /// What nobody who follows the rules would send.
    fn stray(&self, choices: &mut Choices<'_>) -> Command {
        let at = choices.below(self.workflow.steps.len());
        let step = self.workflow.steps[at].id.clone();
        let attempt = choices.small();
        if choices.flag() {
            return Command::Lost(Lost {
                step,
                attempt,
                node: None,
                begun: choices.flag(),
            });
        }
        Command::Report(Report {
            step,
            attempt,
            began: Began::Called(choices.moment(BEGINNING)),
            duration_ms: choices.number(),
            outcome: Outcome::Failed(failure(choices)),
            mapped: None,
        })
    }

    /// Resumes and lets every piece of work succeed until nothing is left.
    fn finish(&mut self) {
        if self.state.paused_at.is_some() {
            self.send(Command::Resume { by: None });
        }
        let mut nothing = Choices::new(&[]);
        // Each round ends one attempt of one step, normal or undoing.
        for _ in 0..2 * self.workflow.steps.len() {
            if let Some(command) = self.report(&mut nothing, true) {
                self.send(command);
            }
        }
    }
}

fn failure(choices: &mut Choices<'_>) -> Failure {
    let class = choices.pick(&ErrorClass::ALL);
    let mut failure = Failure::new(class, "it failed");
    failure.code = Some(choices.pick(&["503", "503", "429", "400"]).to_owned());
    failure.retryable |= choices.flag();
    failure.retry_after_ms = choices.maybe(Choices::number);
    failure
}
