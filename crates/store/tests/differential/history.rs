//! Random histories: batches of parts that mostly make sense, and some that do not.
//!
//! What there is to be moved, claimed or given up is read from the model's own rows. If those are
//! wrong, the answers of the two stores differ, and that is what the test is for.

use std::collections::BTreeMap;
use std::time::Duration;

use refire_core::dead_letter::RetryFrom;
use refire_core::definition::{ParseOptions, StepId, Workflow, WorkflowId};
use refire_core::execution::{
    Began, Cancel, Command, Execution, Lineage, Lost, Outcome, Report, RetryNow, Start, Status,
    Trigger, TriggerKind, decide, start,
};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{DlqId, ExecutionId, NodeId, time_ordered};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_store::model::Image;
use refire_store::{
    Admit, Batch, CallbackChange, IdempotencyClaim, LetterRetry, OldExecutions, Part, Prune,
    SettleLetter, WorkChange, WorkRow,
};

use crate::decision::{self, Looks};
use crate::definition::{SHAPES, WORKFLOWS, put, put_over, source, workflow_id};
use crate::dice::Dice;

/// When every history begins; not on a whole millisecond.
const BEGINNING: Timestamp = Timestamp::from_micros(1_800_000_000_000_321);
/// Parts of one batch, at most.
const PARTS_MAX: u64 = 6;
/// How often a command that is refused is replaced by another one.
const COMMANDS_TRIED: u32 = 4;

pub(crate) const NODES: [NodeId; 3] = [
    NodeId::from_bytes([3; 16]),
    NodeId::from_bytes([7; 16]),
    NodeId::from_bytes([9; 16]),
];
/// Values of the concurrency key.
pub(crate) const KEYS: [&str; 4] = ["x", "y", "ü\"\u{0}", ""];
const PEOPLE: [&str; 2] = ["ada", "bob"];

/// See the module.
pub(crate) struct History {
    pub(crate) dice: Dice,
    pub(crate) now: Timestamp,
    serial: u32,
    /// What the model holds.
    pub(crate) known: Image,
    /// States that earlier parts of the batch have decided.
    decided: BTreeMap<ExecutionId, Execution>,
    /// Definitions by their texts.
    parsed: BTreeMap<String, Workflow>,
}

impl History {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            dice: Dice::new(seed),
            now: BEGINNING,
            serial: 0,
            known: Image::default(),
            decided: BTreeMap::new(),
            parsed: BTreeMap::new(),
        }
    }

    /// The next batch on what the model holds.
    pub(crate) fn batch(&mut self, known: Image) -> Batch {
        self.known = known;
        self.decided.clear();
        self.pass_time();
        let mut parts: Vec<Part> = Vec::new();
        if self.known.workflows.is_empty() {
            let shape = self.dice.below(SHAPES);
            let shapes = WORKFLOWS[..2].iter().zip([0, shape]);
            parts.extend(shapes.map(|(id, shape)| put(id, shape)));
        }
        for _ in 0..self.dice.below(PARTS_MAX + 1) {
            parts.extend(self.part());
        }
        // What a prune takes away would make sense of a broken part.
        let prunes = parts
            .iter()
            .any(|part| matches!(part, Part::Prune(_) | Part::Bulk(_)));
        if !prunes && self.dice.one_in(30) {
            parts.extend(self.broken());
        }
        self.serial += 1;
        let mut commit_id = [0; 16];
        commit_id[12..].copy_from_slice(&self.serial.to_be_bytes());
        Batch {
            commit_id,
            lease: None,
            now: self.now,
            parts,
        }
    }

    fn pass_time(&mut self) {
        let wait = match self.dice.below(7) {
            0 => Duration::ZERO,
            1 | 2 => Duration::from_micros(self.dice.below(900)),
            3 => Duration::from_millis(self.dice.below(2_000)),
            4 => Duration::from_secs(self.dice.below(15)),
            5 => Duration::from_secs(self.dice.below(120)),
            _ => {
                // The very moment for which something waits.
                let named = self.named_time().filter(|named| *named > self.now);
                self.now = named.unwrap_or(self.now);
                Duration::ZERO
            }
        };
        self.now = self.now.plus(wait);
    }

    /// A time that stands in some row: the ends of ranges are where mistakes are.
    fn named_time(&mut self) -> Option<Timestamp> {
        let known = &self.known;
        match self.dice.below(8) {
            7 => self.dice.pick_from(known.tasks.values())?.wake_at,
            0 => self.dice.pick_from(known.work.values())?.due_at,
            6 => Some(self.dice.pick_from(known.callbacks.values())?.until),
            5 => {
                let standing = self.dice.pick_from(known.trigger_states.values())?;
                standing.state.due_at
            }
            1 => Some(self.dice.pick_from(known.keys.values())?.expires_at),
            2 => Some(
                self.dice
                    .pick_from(known.letters.values())?
                    .letter
                    .failed_at,
            ),
            3 => Some(
                self.dice
                    .pick_from(known.executions.values())?
                    .row
                    .created_at,
            ),
            _ => {
                let record = self.dice.pick_from(known.executions.values())?;
                Some(record.row.update.updated_at)
            }
        }
    }

    /// A time near now, before or after, or one that stands in some row.
    pub(crate) fn about_now(&mut self, seconds: u64) -> Timestamp {
        if self.dice.one_in(3)
            && let Some(named) = self.named_time()
        {
            return named;
        }
        let early = self.now.minus(Duration::from_secs(seconds));
        early.plus(Duration::from_micros(
            self.dice.below(2 * seconds * 1_000_000 + 1),
        ))
    }

    pub(crate) fn workflow(&mut self) -> WorkflowId {
        // The one that is never saved comes now and then.
        let count = if self.dice.one_in(12) { 4 } else { 3 };
        workflow_id(self.dice.pick(&WORKFLOWS[..count]))
    }

    fn part(&mut self) -> Option<Part> {
        match self.dice.below(192) {
            188.. => Some(self.breaker_part()),
            176..188 => Some(self.alert_part()),
            164..176 => Some(self.bulk_part()),
            160..164 => Some(self.session_part()),
            148..160 => Some(self.touch_task()),
            140..148 => Some(self.lock_tasks()),
            136..140 => Some(self.worker_part()),
            130..136 => Some(self.touch_callback()),
            100..130 => self.trigger_part(),
            0..24 => self.admit(),
            24..64 => self.advance(),
            64..72 => Some(self.claim()),
            72..75 => Some(self.claim_timers()),
            75..82 => Some(self.begin()),
            82..87 => Some(self.release()),
            87..90 => Some(self.delete_letter()),
            90..93 => {
                let (id, shape) = (self.dice.pick(&WORKFLOWS[..3]), self.dice.below(SHAPES));
                let seen = self.dice.small(4);
                Some(put_over(id, shape, self.dice.maybe(seen)))
            }
            93..95 => Some(Part::DeleteWorkflow {
                id: self.workflow(),
            }),
            95..98 => Some(self.prune()),
            _ => Some(Part::Prune(Prune::IdempotencyKeys {
                limit: self.dice.small(4),
            })),
        }
    }

    fn looks(&mut self) -> Looks {
        let owner = (self.dice.pick(&NODES), self.dice.one_in(2));
        Looks {
            has_snapshot: !self.dice.one_in(3),
            owner: self.dice.maybe(owner),
            worker: self.worker().filter(|_| self.dice.one_in(3)),
        }
    }

    /// A new id, mostly later than all before.
    pub(crate) fn id(&mut self) -> ExecutionId {
        self.serial += 1;
        let mut entropy = [0; 10];
        entropy[6..].copy_from_slice(&self.serial.to_be_bytes());
        let early = self
            .now
            .minus(Duration::from_millis(self.dice.below(5_000)));
        let at = if self.dice.one_in(10) {
            early
        } else {
            self.now
        };
        ExecutionId::from_bytes(time_ordered(at.as_millis().cast_unsigned(), entropy))
    }

    fn definition(&mut self, text: &str) -> Workflow {
        let parse = || Workflow::parse(text, &ParseOptions::default()).unwrap();
        let parsed = self.parsed.entry(text.to_owned());
        parsed.or_insert_with(parse).clone()
    }

    pub(crate) fn admit(&mut self) -> Option<Part> {
        let id = match self.dice.pick_from(self.known.executions.keys()) {
            Some(taken) if self.dice.one_in(15) => *taken,
            _ => self.id(),
        };
        let of = self.workflow();
        let newest = self.known.workflows.get(&of);
        // Somebody may not have heard of the newest one yet.
        let is_behind = u32::from(self.dice.one_in(10));
        let newest = newest.and_then(|known| {
            let version = known.version.saturating_sub(is_behind).max(1);
            known.versions.get(&version)
        });
        let (version, text) = newest.map_or_else(
            || (1, source(of.as_str(), 0)),
            |newest| (newest.version, newest.source.clone()),
        );
        let workflow = self.definition(&text);
        let mut with = self.start(id, version);
        let letter = self.retry_of(&mut with);
        let is_new = !self.known.executions.contains_key(&id);
        let decision = start(&workflow, with, self.now);
        let looks = self.looks();
        let claim = self.key();
        let mut admit = Admit {
            claim: self.dice.maybe(claim),
            letter,
            only_newest: self.dice.one_in(3),
            bulk: self.for_job(),
            ..decision::admit(id, (&workflow, &decision), &looks)
        };
        admit.end = self.end(admit.row.id, &decision.state);
        self.by_request(&mut admit);
        if is_new && newest_is_there(&self.known, &of) {
            self.decided.insert(id, decision.state);
        }
        Some(Part::Admit(Box::new(admit)))
    }

    fn start(&mut self, id: ExecutionId, workflow_version: u32) -> Start {
        let key = serde_json::to_string(self.dice.pick(&KEYS)).unwrap();
        let input = match self.dice.below(3) {
            0 => "{\"n\": 1.50}".to_owned(),
            _ => format!("{{\"k\": {key}, \"n\":[1, 2]}}"),
        };
        let delay = self.about_now(20);
        let is_late = self.dice.one_in(6);
        let mut trigger = Trigger::manual(None);
        if self.dice.one_in(4) {
            let id = self.any_trigger().to_string();
            (trigger.kind, trigger.id) = (TriggerKind::Webhook, Some(id));
        }
        Start {
            trigger,
            workflow_version,
            priority: u8::try_from(1 + self.dice.below(3)).unwrap(),
            delay_until: is_late.then_some(delay),
            ..Start::plain(id, self.dice.roll(), Json::parse(input).unwrap())
        }
    }

    /// Now and then a start retries a letter, whatever stands in the way.
    fn retry_of(&mut self, with: &mut Start) -> Option<LetterRetry> {
        if !self.dice.one_in(3) {
            return None;
        }
        let filed = self.dice.pick_from(self.known.letters.values())?.clone();
        let (id, failed) = (filed.letter.id, filed.letter.execution);
        let generation = filed.state.generation + self.dice.small(2);
        with.trigger.kind = TriggerKind::ManualDlqRetry;
        with.lineage = Lineage {
            parent: Some(failed),
            root: failed,
            letter: Some(id),
            generation,
        };
        with.automatic_retries = false;
        let seen = filed.state.generation + u32::from(self.dice.one_in(6));
        Some(LetterRetry {
            id,
            by: self.dice.pick(&PEOPLE).to_owned(),
            expected_generation: seen,
            generation,
            from: self.dice.pick(&RetryFrom::ALL),
            edited: self.dice.one_in(2),
        })
    }

    /// A key that is mostly known already, perhaps expired.
    fn key(&mut self) -> IdempotencyClaim {
        let wait = Duration::from_secs(1 + self.dice.below(60));
        let byte = u8::try_from(self.dice.below(8)).unwrap();
        let new = (self.dice.pick(&WORKFLOWS[..2]).to_owned(), [byte; 16]);
        let known = self.dice.pick_from(self.known.keys.keys()).cloned();
        let name = known.filter(|_| !self.dice.one_in(3)).unwrap_or(new);
        // Perhaps somebody has seen who has it, and takes it.
        let owner = self.known.keys.get(&name).map(|used| used.execution);
        let over = owner.filter(|_| self.dice.one_in(3));
        let (scope, key_hash) = name;
        IdempotencyClaim {
            scope,
            key_hash,
            body_hash: [u8::try_from(self.dice.below(2)).unwrap(); 8],
            expires_at: self.now.plus(wait),
            over,
        }
    }

    fn advance(&mut self) -> Option<Part> {
        let id = *self.dice.pick_from(self.known.executions.keys())?;
        let decided = self.decided.get(&id).cloned();
        let state = decided.or_else(|| self.known.state(id).unwrap())?;
        let origin = state.origin.as_ref()?;
        let definition = self.known.workflows.get(&origin.workflow)?;
        let text = &definition.versions.get(&origin.workflow_version)?.source;
        let text = text.clone();
        let workflow = self.definition(&text);
        for _ in 0..COMMANDS_TRIED {
            let command = self.command(&workflow, &state);
            let Ok(decision) = decide(&workflow, &state, command, self.now) else {
                continue;
            };
            let looks = self.looks();
            let is_late = self.dice.one_in(12);
            // Of a version that no execution has: one before it may be what is there after all, if a part of the
            // same batch was refused.
            let expected = if is_late { 0 } else { state.version };
            let mut advance = decision::advance(id, expected, (&workflow, &decision), &looks);
            if advance.events.is_empty() {
                continue;
            }
            let change = |effect| CallbackChange::of(effect, &workflow, &decision.state, self.now);
            advance.callbacks = decision.effects.iter().filter_map(change).collect();
            advance.seen = self.seen(id);
            if self.dice.one_in(20) {
                advance.settle = self.stray_settlement();
            }
            if self.dice.one_in(6) {
                advance.work.extend(self.restoration(id, &decision.state));
            }
            advance.end = self.end(advance.id, &decision.state);
            if !is_late {
                self.decided.insert(id, decision.state);
            }
            return Some(Part::Advance(Box::new(advance)));
        }
        None
    }

    /// A settlement of any letter by any execution.
    fn stray_settlement(&mut self) -> Option<SettleLetter> {
        Some(SettleLetter {
            id: *self.dice.pick_from(self.known.letters.keys())?,
            resolved: self.dice.one_in(2),
            execution: *self.dice.pick_from(self.known.executions.keys())?,
        })
    }

    /// A restoration of a live step's work, perhaps with another attempt: no decision asks for
    /// that, but a store must know what to do.
    fn restoration(&mut self, id: ExecutionId, state: &Execution) -> Option<WorkChange> {
        if state.status == Status::Paused {
            return None;
        }
        // One whose target has called back, or may, has no work, and would never lose it.
        let waits = |step: &StepId| state.step(step).is_some_and(|it| it.awaited.is_some());
        let live = live(state).filter(|(step, _)| !waits(step));
        let live: Vec<String> = live.map(|(step, _)| step.to_string()).collect();
        let rows = self.known.work_of(id);
        let rows: Vec<&WorkRow> = rows.filter(|row| live.contains(&row.step)).collect();
        let mut row = (*self.dice.pick_from(rows.iter())?).clone();
        row.attempt += self.dice.small(2);
        (row.begun, row.begun_at) = (false, None);
        row.owner = None;
        Some(WorkChange::Restore(row))
    }

    fn command(&mut self, workflow: &Workflow, state: &Execution) -> Command {
        let by = self.dice.maybe("ada".to_owned());
        let live: Vec<_> = live(state).collect();
        let compensate = self.dice.one_in(2);
        if state.status == Status::Paused && self.dice.one_in(2) {
            return Command::Resume { by };
        }
        if live.is_empty() {
            return Command::Cancel(Cancel {
                compensate,
                ..Cancel::by(by)
            });
        }
        let (step, attempt) = self.dice.pick(&live);
        let calls_back = workflow.with_callbacks().any(|it| it.id == step);
        if calls_back && self.dice.one_in(2) {
            return self.call_back(step, attempt);
        }
        match self.dice.below(20) {
            0 => Command::Cancel(Cancel {
                compensate,
                ..Cancel::by(by)
            }),
            1 | 2 => Command::Pause { by },
            4 if state.status == Status::Retrying => Command::RetryNow(RetryNow { step: None, by }),
            3 => Command::Lost(Lost {
                step,
                attempt,
                node: Some(self.dice.pick(&NODES)),
                begun: self.dice.one_in(2),
            }),
            4 => Command::Retired { step, attempt },
            _ => {
                let is_task = state.step(&step).is_some_and(|step| step.is_task());
                let (began, outcome) = match is_task {
                    true => self.word(),
                    false => {
                        let began = Began::Called(self.now.minus(Duration::from_millis(5)));
                        (began, self.outcome())
                    }
                };
                Command::Report(Report {
                    step,
                    attempt,
                    began,
                    duration_ms: 5,
                    outcome,
                    mapped: None,
                })
            }
        }
    }

    pub(crate) fn outcome(&mut self) -> Outcome {
        match self.dice.below(5) {
            0..2 => Outcome::Succeeded(Json::parse("{\"ok\": true,  \"n\":1e2}").unwrap()),
            2 => Outcome::Failed(self.http("503")),
            3 => {
                let status = self.dice.pick(&["404", "410", ""]);
                Outcome::Failed(self.http(status))
            }
            _ => Outcome::Failed(
                Failure::new(ErrorClass::Tls, "das Zertifikat ist UNGÜLTIG, 100%_sicher")
                    .with_causes(vec!["because".to_owned()]),
            ),
        }
    }

    fn http(&mut self, status: &str) -> Failure {
        let message = format!("the target answered {status}");
        let mut failure = Failure::new(ErrorClass::HttpStatus, message).with_code(status);
        failure.response = self.dice.maybe("sorry\u{0}".to_owned());
        let host = self.any_host().to_owned();
        failure.target = self.dice.maybe(host);
        failure
    }

    fn delete_letter(&mut self) -> Part {
        let known = self.dice.pick_from(self.known.letters.keys()).copied();
        Part::DeleteLetter {
            id: known.unwrap_or(DlqId::from_bytes([3; 16])),
            by: self.dice.pick(&PEOPLE).to_owned(),
        }
    }

    fn prune(&mut self) -> Part {
        let after = self.dice.pick_from(self.known.executions.keys()).copied();
        let statuses = if self.dice.one_in(2) {
            Status::ALL.to_vec()
        } else {
            self.dice.some(&Status::ALL)
        };
        Part::Prune(Prune::Executions(OldExecutions {
            statuses,
            before: self.about_now(60),
            workflow: None,
            after: after.filter(|_| self.dice.one_in(3)),
            limit: self.dice.small(12),
        }))
    }

    /// A part that no decision makes; it takes the whole batch with it.
    fn broken(&mut self) -> Option<Part> {
        let Some(Part::Advance(mut advance)) = self.advance() else {
            return None;
        };
        match self.dice.below(3) {
            0 => advance.events[0].sequence = 1,
            1 => {
                let known = self.dice.pick_from(self.known.letters.values())?;
                advance.new_letter = Some(Box::new(known.letter.clone()));
            }
            _ => {
                let known = self.dice.pick_from(self.known.work.values())?;
                let mut row = (**known).clone();
                row.workflow = workflow_id(WORKFLOWS[3]);
                advance.work.push(WorkChange::Restore(row));
            }
        }
        Some(Part::Advance(advance))
    }
}

/// The steps that have work unless the execution is paused, with their attempts.
fn live(state: &Execution) -> impl Iterator<Item = (StepId, u32)> {
    let steps = state.steps.iter();
    steps
        .filter(|(_, step)| step.is_live())
        .map(|(id, step)| (id.clone(), step.attempt))
}

/// Whether an admission to it will be written.
fn newest_is_there(known: &Image, of: &WorkflowId) -> bool {
    let known = known.workflows.get(of);
    known.is_some_and(|known| known.deleted_at.is_none())
}
