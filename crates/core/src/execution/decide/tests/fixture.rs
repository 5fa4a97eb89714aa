//! A run of one execution under virtual time. It checks itself after every command.

use std::time::Duration;

pub(in crate::execution) use super::ask::{
    callback, cancel, cancel_and_undo, lost, pause, resume, retry_now, stray,
};
use super::text;
use super::work::WorkRows;
use crate::dead_letter::Letter;
use crate::definition::{ParseOptions, StepId, Workflow};
use crate::execution::decide::{Decision, Start, decide, start};
use crate::execution::replay::replay;
use crate::execution::{
    Began, Command, Effect, Event, Execution, Outcome, Refusal, Report, Said, Trigger, fold,
};
use crate::failure::{ErrorClass, Failure};
use crate::id::ExecutionId;
use crate::json::Json;
use crate::time::Timestamp;

/// When every run begins.
pub(in crate::execution) const BEGINNING: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// Deriving a long log again after each of its commands would take a test minutes.
const REPLAYED_EVENTS_MAX: usize = 60;

/// What a step with a `~` is: a task for workers, tried twice.
const TASK: &str = "type: external_task, config: {taskType: t, retries: 2, timeout: 60s}";

/// What a step with a `^` is: a call whose target calls back.
const CALL: &str = "type: http, config: {url: 'https://x.example/'}, callback: {window: 60s}";

/// A workflow of `local` steps, of tasks for workers where a `~` follows the id, and of calls whose
/// targets call back where a `^` does. `head` is YAML
/// for the top; a step is its id, and after a `|` whatever else it has: `"b | needs: [a]"`. Delays have no jitter unless `head` has a `retry`.
pub(in crate::execution) fn workflow(head: &str, steps: &[&str]) -> Workflow {
    read(&source(head, steps))
}

/// The text of that workflow.
pub(in crate::execution) fn source(head: &str, steps: &[&str]) -> String {
    let mut source = format!("id: w\n{head}\n");
    if !head.contains("retry:") {
        source += "retry: {jitter: none}\n";
    }
    source += "steps:\n";
    for step in steps {
        let (id, rest) = step.split_once('|').unwrap_or((step, ""));
        let comma = if rest.is_empty() { "" } else { ", " };
        let (id, kind) = match id.trim().split_at_checked(id.trim().len() - 1) {
            Some((id, "~")) => (id, TASK),
            Some((id, "^")) => (id, CALL),
            _ => (id.trim(), "type: local, config: {task: t}"),
        };
        source += &format!("  - {{id: {id}, {kind}{comma}{rest}}}\n");
    }
    source
}

/// A definition that must be right.
pub(in crate::execution) fn read(source: &str) -> Workflow {
    Workflow::parse(source, &ParseOptions::default())
        .unwrap_or_else(|problems| panic!("{problems:?} in\n{source}"))
}

/// A start without anything special.
pub(in crate::execution) fn plain_start(input: &str) -> Start {
    let id = ExecutionId::from_bytes([1; 16]);
    Start {
        trigger: Trigger::manual(Some("ada".to_owned())),
        ..Start::plain(id, 42, json(input))
    }
}

pub(in crate::execution) fn json(text: &str) -> Json {
    Json::parse(text).unwrap()
}

pub(in crate::execution) fn step_id(id: &str) -> StepId {
    StepId::new(id).unwrap()
}

/// `"503"` is that status, a word is that class of error.
pub(in crate::execution) fn failure(what: &str) -> Failure {
    match ErrorClass::from_name(what) {
        Some(class) => Failure::new(class, format!("failed with {what}")),
        None => Failure::new(ErrorClass::HttpStatus, "the target refused").with_code(what),
    }
}

/// One execution, its log, its work rows and the clock.
#[derive(Debug, Clone)]
pub(in crate::execution) struct Run {
    pub(in crate::execution) workflow: Workflow,
    pub(in crate::execution) state: Execution,
    pub(in crate::execution) log: Vec<Event>,
    pub(in crate::execution) now: Timestamp,
    pub(in crate::execution) work: WorkRows,
    /// The effects of the last command.
    pub(in crate::execution) effects: Vec<Effect>,
    /// Dead letters made, and letters settled, so far.
    letters: (usize, usize),
    /// Whether every commit is derived again; random runs do that once, at their end.
    pub(in crate::execution) replays: bool,
    /// Events that were there before the last command.
    before: usize,
}

impl Run {
    /// Starts `steps` with an empty input.
    pub(in crate::execution) fn of(steps: &[&str]) -> Self {
        Self::start(workflow("", steps), plain_start("{}"))
    }

    /// Starts `steps` with more at the top of the definition and an input.
    pub(in crate::execution) fn with(head: &str, steps: &[&str], input: &str) -> Self {
        Self::start(workflow(head, steps), plain_start(input))
    }

    pub(in crate::execution) fn start(workflow: Workflow, with: Start) -> Self {
        let decision = start(&workflow, with, BEGINNING);
        let mut run = Self {
            workflow,
            state: Execution::empty(),
            log: Vec::new(),
            now: BEGINNING,
            work: WorkRows::default(),
            effects: Vec::new(),
            letters: (0, 0),
            replays: true,
            before: 0,
        };
        run.take(decision);
        run
    }

    fn take(&mut self, decision: Decision) {
        self.before = self.log.len();
        self.log.extend(decision.events);
        self.state = decision.state;
        self.work.apply(&decision.effects);
        self.effects = decision.effects;
        for effect in &self.effects {
            match effect {
                Effect::DeadLetter(_) => self.letters.0 += 1,
                Effect::SettleLetter { .. } => self.letters.1 += 1,
                _ => {}
            }
        }
        self.check();
    }

    /// What must hold after every commit.
    fn check(&self) {
        assert_eq!(fold(&self.log), self.state, "the log folds to the state");
        let snapshot = serde_json::to_string(&self.state).unwrap();
        assert_eq!(
            serde_json::from_str::<Execution>(&snapshot).unwrap(),
            self.state,
            "snapshot"
        );
        assert_eq!(
            self.work.problems(&self.state),
            Vec::<String>::new(),
            "{}",
            self.events()
        );
        for (index, event) in self.log.iter().enumerate() {
            assert_eq!(event.sequence, index as u64 + 1, "numbers have no gaps");
            let last = index + 1 == self.log.len();
            assert!(
                last || !event.is_terminal(),
                "nothing follows the end: {}",
                self.events()
            );
        }
        assert!(
            self.log.is_sorted_by_key(|event| event.at),
            "times never go back"
        );
        assert_eq!(
            self.log.iter().any(Event::is_terminal),
            self.state.status.is_terminal()
        );
        let ended = self.state.status.is_terminal();
        let retries_a_letter = self
            .state
            .origin
            .as_ref()
            .is_some_and(|origin| origin.lineage.letter.is_some());
        assert_eq!(
            self.letters.0,
            usize::from(self.status() == "dlq"),
            "one letter at the end"
        );
        assert_eq!(
            self.letters.1,
            usize::from(ended && retries_a_letter),
            "settled at the end"
        );
        if self.replays && self.log.len() <= REPLAYED_EVENTS_MAX {
            self.check_replay();
        }
    }

    /// The log is what the state machine would write again.
    pub(in crate::execution) fn check_replay(&self) {
        let replay = replay(&self.workflow, &self.log);
        assert_eq!(replay.first_difference, None, "the log is derived again");
        assert_eq!(replay.state, self.state);
    }

    /// Sends a command that must be accepted.
    pub(in crate::execution) fn send(&mut self, command: Command) -> &mut Self {
        let asked = format!("{command:?}");
        match self.attempt(command) {
            Ok(()) => self,
            Err(refusal) => panic!("{asked} was refused: {refusal}\n{}", self.events()),
        }
    }

    /// Sends a command.
    pub(in crate::execution) fn attempt(&mut self, mut command: Command) -> Result<(), Refusal> {
        if let Command::Cancel(cancel) = &mut command {
            // As the committer does: the rows say what is in flight.
            cancel.begun = self.work.begun();
        }
        let decision = decide(&self.workflow, &self.state, command, self.now)?;
        self.take(decision);
        Ok(())
    }

    /// Sends a command that must be refused.
    pub(in crate::execution) fn refused(&self, command: Command) -> Refusal {
        match decide(&self.workflow, &self.state, command, self.now) {
            Ok(decision) => panic!("it was accepted: {:?}", decision.events),
            Err(refusal) => refusal,
        }
    }

    /// Time goes by.
    pub(in crate::execution) fn wait(&mut self, ms: u64) -> &mut Self {
        self.now = self.now.plus(Duration::from_millis(ms));
        self
    }

    /// A node begins the step's work, as soon as it is due.
    pub(in crate::execution) fn begin(&mut self, step: &str) -> &mut Self {
        let row = self.work.get(step);
        let row = row.unwrap_or_else(|| panic!("{step} has no work:\n{}", self.events()));
        self.now = row.work.due_at.map_or(self.now, |due| due.max(self.now));
        self.work.begin(step, self.now);
        self
    }

    /// The report of the step's live attempt, which is begun if it was not.
    pub(in crate::execution) fn report(&mut self, step: &str, outcome: Outcome) -> &mut Self {
        self.begin(step);
        let row = self.work.get(step).unwrap();
        let at = row.begun.unwrap();
        let began = match row.task {
            Some(_) => fetched(at),
            None => Began::Called(at),
        };
        let duration_ms = u64::try_from(self.now.since(at).as_millis()).unwrap();
        self.send_report((step, row.work.attempt), (began, duration_ms), outcome)
    }

    /// One of the clocks of the step's task runs out, whether a worker has it or not.
    pub(in crate::execution) fn expire(&mut self, step: &str, class: ErrorClass) -> &mut Self {
        let row = self.work.get(step).unwrap();
        let began = row.begun.map_or(Began::Never, fetched);
        let outcome = Outcome::Failed(Failure::new(class, "a clock ran out"));
        self.send_report((step, row.work.attempt), (began, 0), outcome)
    }

    /// The clock finds the step's task retired.
    pub(in crate::execution) fn retired(&mut self, step: &str) -> &mut Self {
        let row = self.work.get(step).filter(|row| row.is_retired());
        let attempt = row.expect("it is retired").work.attempt;
        let step = step_id(step);
        self.send(Command::Retired { step, attempt })
    }

    fn send_report(
        &mut self,
        (step, attempt): (&str, u32),
        (began, duration_ms): (Began, u64),
        outcome: Outcome,
    ) -> &mut Self {
        self.send(Command::Report(Report {
            step: step_id(step),
            attempt,
            began,
            duration_ms,
            outcome,
            mapped: None,
        }))
    }

    /// The target of the step's live attempt calls back.
    pub(in crate::execution) fn say(&mut self, step: &str, said: Said) -> &mut Self {
        let command = self.callback(step, said);
        self.send(command)
    }

    /// What the step's target says about its live attempt.
    pub(in crate::execution) fn callback(&self, step: &str, said: Said) -> Command {
        let attempt = self.state.step(&step_id(step)).unwrap().attempt;
        let began = self.work.get(step).and_then(|row| row.begun);
        callback(step, attempt, began, said)
    }

    /// The call of a step comes back whose target was faster.
    pub(in crate::execution) fn answer(&mut self, step: &str, outcome: Outcome) -> &mut Self {
        let command = self.answered(step, outcome);
        self.send(command)
    }

    pub(in crate::execution) fn answered(&self, step: &str, outcome: Outcome) -> Command {
        let state = self.state.step(&step_id(step)).unwrap();
        let at = state.awaited.as_ref().unwrap().started_at;
        Command::Report(Report {
            step: step_id(step),
            attempt: state.attempt,
            began: Began::Called(at),
            duration_ms: u64::try_from(self.now.since(at).as_millis()).unwrap(),
            outcome,
            mapped: None,
        })
    }

    /// Nobody calls back until the step's window is over.
    pub(in crate::execution) fn window_over(&mut self, step: &str) -> &mut Self {
        let state = self.state.step(&step_id(step)).unwrap();
        let (until, attempt) = (state.awaited.as_ref().unwrap().until, state.attempt);
        self.now = self.now.max(until);
        let step = step_id(step);
        self.send(Command::WindowOver { step, attempt })
    }

    pub(in crate::execution) fn ok(&mut self, step: &str, output: &str) -> &mut Self {
        self.report(step, Outcome::Succeeded(json(output)))
    }

    pub(in crate::execution) fn fail(&mut self, step: &str, what: &str) -> &mut Self {
        self.report(step, Outcome::Failed(failure(what)))
    }

    /// The node that runs the step dies.
    pub(in crate::execution) fn lost(&mut self, step: &str) -> &mut Self {
        self.begin(step);
        self.send(lost(
            step,
            self.state.step(&step_id(step)).unwrap().attempt,
            true,
        ))
    }

    pub(in crate::execution) fn pause(&mut self) -> &mut Self {
        self.send(pause())
    }

    pub(in crate::execution) fn resume(&mut self) -> &mut Self {
        self.send(resume())
    }

    pub(in crate::execution) fn cancel(&mut self) -> &mut Self {
        self.send(cancel())
    }

    /// Cancels and undoes completed steps.
    pub(in crate::execution) fn cancel_and_undo(&mut self) -> &mut Self {
        self.send(cancel_and_undo())
    }

    /// The whole log.
    pub(in crate::execution) fn events(&self) -> String {
        lines(&self.log)
    }

    /// What the last command wrote.
    pub(in crate::execution) fn news(&self) -> String {
        lines(&self.log[self.before..])
    }

    pub(in crate::execution) fn work(&self) -> String {
        text::work(&self.work, BEGINNING)
    }

    pub(in crate::execution) fn steps(&self) -> String {
        text::steps(&self.state)
    }

    pub(in crate::execution) fn effects(&self) -> String {
        text::effects(&self.effects)
    }

    pub(in crate::execution) fn status(&self) -> &'static str {
        self.state.status.name()
    }

    /// The dead letter that the last command made.
    pub(in crate::execution) fn letter(&self) -> Option<&Letter> {
        self.effects.iter().find_map(|effect| match effect {
            Effect::DeadLetter(letter) => Some(&**letter),
            _ => None,
        })
    }

    /// Every recorded wait, in milliseconds.
    pub(in crate::execution) fn delays(&self) -> Vec<u64> {
        self.log
            .iter()
            .filter_map(|event| event.backoff_ms)
            .collect()
    }
}

pub(in crate::execution) fn fetched(at: Timestamp) -> Began {
    let worker = Some("w1".to_owned());
    Began::Fetched { worker, at }
}

fn lines(events: &[Event]) -> String {
    events
        .iter()
        .map(text::event)
        .collect::<Vec<_>>()
        .join("\n")
}

/// A text block without its indentation, as [`Run::events`] writes it.
pub(in crate::execution) fn block(text: &str) -> String {
    text.trim()
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join("\n")
}

#[track_caller]
pub(in crate::execution) fn assert_lines(actual: &str, expected: &str) {
    let expected = block(expected);
    assert!(
        actual == expected,
        "expected\n{expected}\n\nbut it was\n{actual}\n"
    );
}
