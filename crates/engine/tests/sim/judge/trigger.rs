//! The promises about triggers: every planned time is in the ledger exactly once, with what became
//! of it and why; it starts one execution at most, and never before its time; and no policy is
//! broken.
//!
//! The judge follows every trigger from commit to commit. It knows which slots there are and which
//! of them the ledger has; why each may be there is for `slot` to say.

use std::collections::BTreeMap;

use refire_core::id::{ExecutionId, NodeId, TriggerId};
use refire_core::time::Timestamp;
use refire_core::trigger::ledger::LateReason;
use refire_core::trigger::{Outcome, State, Timeline, Trigger};
use refire_store::SlotRow;
use refire_store::model::{Image, Standing, Told};

use super::{Judge, Known};
use crate::mark::{Mark, Marks};
use crate::world::Violation;

/// And for nothing that has ended.
const WAITS: &str = "a trigger waits for what it has started";
/// Every planned time is in the ledger once.
pub(super) const COMPLETE: &str = "the ledger is complete";
/// One execution per planned time.
pub(super) const ONCE: &str = "a slot fires once";

/// Whose commit it was.
pub(crate) struct Writer {
    pub(crate) node: Option<NodeId>,
    /// What its own clock shows, while it has one.
    pub(crate) own_now: Option<Timestamp>,
    /// What time it really is, where that is known.
    pub(crate) real_now: Option<Timestamp>,
    /// Whether its machine's clock is as wrong as can be.
    pub(crate) is_far_off: bool,
}

/// All triggers.
#[derive(Default)]
pub(super) struct Lines(BTreeMap<TriggerId, Line>);

/// A trigger as it was followed.
pub(super) struct Line {
    pub(super) trigger: Trigger,
    rev: u64,
    is_deleted: bool,
    cursor: Timestamp,
    /// Every slot up to here is in the ledger.
    pub(super) done: Timestamp,
    pub(super) buffered: Option<Timestamp>,
    /// What waits although the ledger has newer slots.
    behind: Option<Timestamp>,
    /// What overlap policies wait for.
    pub(super) running: Option<ExecutionId>,
    /// What they have waited for last.
    pub(super) tracked: Option<ExecutionId>,
    /// What planned times have started.
    started: BTreeMap<Timestamp, ExecutionId>,
    /// What people have run for them later.
    filled: Vec<(Timestamp, ExecutionId)>,
    /// A success is missing.
    is_alarmed: bool,
    newest: Option<SlotRow>,
    fired_by: Option<NodeId>,
    /// The next slot and when the trigger was due for it, as judged by the clock of whoever wrote that.
    due: Option<(Option<Timestamp>, Option<Timestamp>)>,
}

/// What a commit added to the ledger.
pub(super) struct Piece {
    /// The first slot, unless it goes on with the row before.
    first: Option<Timestamp>,
    pub(super) to: Timestamp,
    pub(super) count: u64,
    pub(super) outcome: Outcome,
    execution: Option<ExecutionId>,
    pub(super) at: Timestamp,
}

/// What a commit is judged by.
pub(super) struct Scene<'a> {
    image: &'a Image,
    /// Executions as they were before it.
    pub(super) known: &'a BTreeMap<ExecutionId, Known>,
    pub(super) writer: Option<&'a Writer>,
}

impl Judge {
    /// Looks what has become of the triggers. Executions must not have been looked at since the
    /// commit: what is lawful depends on how they were before.
    pub(crate) fn follow_triggers(
        &mut self,
        image: &Image,
        writer: Option<&Writer>,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let scene = Scene {
            image,
            known: &self.known,
            writer,
        };
        for (id, told) in &image.triggers {
            let standing = image.trigger_states.get(id).map(AsRef::as_ref);
            match self.lines.0.get_mut(id) {
                Some(line) => line.follow(told, standing, &scene, marks),
                None => {
                    let line = Line::begin(told, standing)?;
                    self.lines.0.insert(*id, line);
                    Ok(())
                }
            }
            .map_err(|violation| explain(violation, image, told))?;
        }
        Ok(())
    }

    pub(super) fn lines(&self) -> impl Iterator<Item = (&TriggerId, &Line)> {
        self.lines.0.iter()
    }
}

fn read(told: &Told) -> Trigger {
    let row = &told.row;
    let settings = std::str::from_utf8(&row.settings).expect("it is JSON");
    let workflow = row.workflow.clone();
    Trigger::new(row.id, workflow, row.version, row.enabled, settings).expect("it was accepted")
}

/// Adds the trigger and its ledger to what is said about it.
fn explain(mut violation: Violation, image: &Image, told: &Told) -> Violation {
    use std::fmt::Write as _;
    let (id, settings) = (told.row.id, String::from_utf8_lossy(&told.row.settings));
    let version = told.row.version;
    let _ = write!(violation.what, "\n  {id} version {version}: {settings}");
    let _ = write!(violation.what, "\n  {:?}", image.trigger_states.get(&id));
    for (_, row) in image.slots.range((id, 0)..=(id, u64::MAX)) {
        let slot = &row.slot;
        let _ = write!(
            violation.what,
            "\n    {} {} to {} ({}) {} {:?} at {} {:?}",
            row.seq >> 16,
            slot.nominal,
            slot.to,
            slot.count,
            slot.outcome.status().name(),
            slot.outcome.reason(),
            slot.at,
            slot.execution
        );
    }
    violation
}

impl Line {
    fn begin(told: &Told, standing: Option<&Standing>) -> Result<Self, Violation> {
        let state = standing.map(|standing| standing.state);
        let cursor = state.unwrap_or_default().cursor;
        let mut line = Self {
            trigger: read(told),
            rev: state.map_or(0, |state| state.rev),
            is_deleted: false,
            cursor,
            done: cursor,
            buffered: None,
            behind: None,
            running: None,
            tracked: None,
            started: BTreeMap::new(),
            filled: Vec::new(),
            is_alarmed: false,
            newest: None,
            fired_by: None,
            due: None,
        };
        match standing {
            Some(state) => line.is_due(&state.state, None).map(|()| line),
            None => Ok(line),
        }
    }

    fn follow(
        &mut self,
        told: &Told,
        standing: Option<&Standing>,
        scene: &Scene<'_>,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let running = standing.and_then(|standing| standing.state.running);
        if let Some(ended) = running.filter(|id| told.deleted_at.is_none() && scene.has_ended(*id))
        {
            return Err(Violation::new(WAITS, format!("{ended} has ended")));
        }
        let rev = standing.map_or(0, |standing| standing.state.rev);
        let is_changed = told.row.version != self.trigger.version;
        if self.is_deleted || (rev == self.rev && !is_changed) {
            return Ok(());
        }
        if told.deleted_at.is_some() {
            self.is_deleted = true;
            if self.running.is_some_and(|id| scene.is_open(id)) {
                marks.reach(Mark::TriggerDeletedWhileRunning);
            }
            // Looks that were committed together with its end have started something, too.
            return self.last_starts(scene, marks);
        }
        let after = read(told);
        // Whoever wrote this, and has no clock any more, had looked at it.
        let mut now = None;
        if let Some(standing) = standing {
            let pieces = self.pieces(scene.image)?;
            now = pieces.iter().map(|piece| piece.at).max();
            if is_changed {
                self.changed(&after, &pieces, marks)?;
            } else {
                self.stepped(&pieces, scene, marks)?;
            }
            let replanned = !after.settings.plans_like(&self.trigger.settings);
            self.settle(&standing.state, replanned, scene, marks)?;
        }
        self.trigger = after;
        self.rev = rev;
        match standing {
            Some(standing) => {
                let writer = scene.writer.as_ref();
                let shown = writer.and_then(|writer| writer.own_now.or(writer.real_now));
                self.is_due(&standing.state, now.max(shown))
            }
            None => Ok(()),
        }
    }

    /// Takes note of what was started in the commit that deleted the trigger.
    fn last_starts(&mut self, scene: &Scene<'_>, marks: &mut Marks) -> Result<(), Violation> {
        for piece in self.pieces(scene.image)? {
            match piece.outcome {
                Outcome::Late(LateReason::Backfill) => self.fill(&piece, scene)?,
                Outcome::Fired | Outcome::Late(_) => self.start(&piece, scene, marks)?,
                Outcome::Skipped(_) | Outcome::Overdue | Outcome::Recovered => {}
            }
        }
        Ok(())
    }

    /// What is new in the ledger.
    fn pieces(&mut self, image: &Image) -> Result<Vec<Piece>, Violation> {
        let fail = |what: &str| Err(Violation::new("the ledger only grows", what));
        let id = self.trigger.id;
        let from = self.newest.as_ref().map_or(0, |row| row.seq);
        let mut pieces = Vec::new();
        if self.newest.is_some() && !image.slots.contains_key(&(id, from)) {
            return fail("its newest row is gone");
        }
        for (_, row) in image.slots.range((id, from)..=(id, u64::MAX)) {
            let slot = &row.slot;
            let mut piece = Piece {
                first: Some(slot.nominal),
                to: slot.to,
                count: slot.count,
                outcome: slot.outcome,
                execution: slot.execution,
                at: slot.at,
            };
            if let Some(before) = self.newest.as_ref().filter(|newest| newest.seq == row.seq) {
                let before = &before.slot;
                if before == slot {
                    continue;
                }
                let is_same = (before.nominal, before.outcome) == (slot.nominal, slot.outcome);
                if !is_same || before.count >= slot.count || before.to >= slot.to {
                    return fail("a row was changed that is no longer stretch");
                }
                piece.first = None;
                piece.count -= before.count;
            }
            pieces.push(piece);
        }
        let newest = image.slots.range((id, from)..=(id, u64::MAX)).next_back();
        self.newest = newest.map(|(_, row)| SlotRow::clone(row));
        Ok(pieces)
    }

    /// The slot that waits while this is written about newer ones.
    pub(super) fn overtaken(&self, piece: &Piece) -> Option<Timestamp> {
        let (first, waiting) = (piece.first?, self.buffered?);
        let next = self.trigger.timeline()?.next(self.done);
        (next == Some(waiting) && first != waiting).then_some(waiting)
    }

    /// A piece goes on where the ledger ended, and counts what there is.
    pub(super) fn append(&mut self, piece: &Piece) -> Result<(), Violation> {
        if piece.count == 1 && self.behind == Some(piece.to) {
            self.behind = None;
            return Ok(());
        }
        if let Some(waiting) = self.overtaken(piece) {
            self.behind = Some(waiting);
            self.done = waiting;
        }
        let timeline = self.timeline()?;
        let fail = |what: String| Err(Violation::new(COMPLETE, what));
        let next = timeline.next(self.done);
        if let Some(first) = piece.first.filter(|first| Some(*first) != next) {
            let check = match self.started.contains_key(&first) {
                true => ONCE,
                false => COMPLETE,
            };
            let what = format!("it goes on with {first}, the next slot is {next:?}");
            return Err(Violation::new(check, what));
        }
        let (done, to) = (self.done, piece.to);
        if timeline.next(to.minus(std::time::Duration::from_micros(1))) != Some(to) {
            return fail(format!("{to} is no slot"));
        }
        let count = timeline.count(done, to);
        if to <= done || count != piece.count {
            return fail(format!(
                "{count} slots after {done} up to {to}, not {}",
                piece.count
            ));
        }
        self.done = to;
        Ok(())
    }

    pub(super) fn timeline(&self) -> Result<Timeline<'_>, Violation> {
        let none = || Violation::new(COMPLETE, "a webhook has no slots");
        self.trigger.timeline().ok_or_else(none)
    }

    /// A slot has started something.
    pub(super) fn start(
        &mut self,
        piece: &Piece,
        scene: &Scene<'_>,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let slot = piece.to;
        let execution = self.execution_of(piece, scene)?;
        if let Some(other) = self.started.insert(slot, execution) {
            let what = format!("{slot} has started {other} and {execution}");
            return Err(Violation::new(ONCE, what));
        }
        if self.trigger.awaits_ends() && self.tracks() {
            self.running = Some(execution);
            self.tracked = Some(execution);
        }
        let Some(writer) = scene.writer else {
            return Ok(());
        };
        if self.fired_by.is_some() && self.fired_by != writer.node {
            marks.reach(Mark::FiredByAnother);
        }
        if writer.is_far_off {
            marks.reach(Mark::FiredByAWrongClock);
        }
        self.fired_by = writer.node;
        Ok(())
    }

    /// Somebody has run a slot of the past.
    pub(super) fn fill(&mut self, piece: &Piece, scene: &Scene<'_>) -> Result<(), Violation> {
        let execution = self.execution_of(piece, scene)?;
        if piece.to > self.cursor || self.buffered == Some(piece.to) {
            let what = format!("{} is not past", piece.to);
            return Err(Violation::new("what is backfilled is past", what));
        }
        self.filled.push((piece.to, execution));
        Ok(())
    }

    /// A success is missing, or is there after all.
    pub(super) fn alarm(&mut self, is_missing: bool, marks: &mut Marks) -> Result<(), Violation> {
        if self.is_alarmed == is_missing {
            let what = "it was said before";
            return Err(Violation::new("an absence is told once", what));
        }
        self.is_alarmed = is_missing;
        marks.reach(match is_missing {
            true => Mark::SuccessMissing,
            false => Mark::SuccessCameBack,
        });
        Ok(())
    }

    fn execution_of(&self, piece: &Piece, scene: &Scene<'_>) -> Result<ExecutionId, Violation> {
        let slot = piece.to;
        let execution = piece.execution;
        let is_there = |id: &ExecutionId| scene.image.executions.contains_key(id);
        let execution = execution.filter(is_there).filter(|_| piece.count == 1);
        execution.ok_or_else(|| {
            let what = format!("{slot} has started {:?}", piece.execution);
            Violation::new("what fired has its execution", what)
        })
    }

    /// Where it stands must fit to the ledger.
    fn settle(
        &mut self,
        plan: &State,
        replanned: bool,
        scene: &Scene<'_>,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let cursor = plan.cursor;
        if cursor < self.cursor {
            let what = format!("it was {}, it is {cursor}", self.cursor);
            return Err(Violation::new("the cursor never goes back", what));
        }
        self.cursor = cursor;
        if let Some(timeline) = self.trigger.timeline() {
            let open: Vec<Timestamp> = timeline.slots(self.done, cursor).take(5).collect();
            let open: Vec<Timestamp> = self.behind.into_iter().chain(open).collect();
            if open != plan.buffered.into_iter().collect::<Vec<_>>() {
                let what = format!("{open:?} are passed, {:?} waits", plan.buffered);
                return Err(Violation::new(COMPLETE, what));
            }
        }
        if plan.buffered.is_some() && plan.buffered != self.buffered {
            self.buffers(plan.buffered, scene)?;
            marks.reach(Mark::Buffered);
        }
        self.buffered = plan.buffered;
        if replanned {
            // What was planned before ends here.
            self.done = self.done.max(cursor);
        }
        self.waits_for(plan.running, scene)?;
        if plan.alarmed_at.is_none() {
            self.is_alarmed = false;
        }
        Ok(())
    }

    /// What policies wait for is the last that they have started, until it has ended.
    fn waits_for(
        &mut self,
        running: Option<ExecutionId>,
        scene: &Scene<'_>,
    ) -> Result<(), Violation> {
        match (self.running, running) {
            (Some(own), None) if !scene.has_ended(own) => {
                Err(Violation::new(WAITS, format!("{own} has not ended")))
            }
            (own, Some(told)) if own != Some(told) => {
                Err(Violation::new(WAITS, format!("for {told}, not {own:?}")))
            }
            _ => {
                self.running = running;
                Ok(())
            }
        }
    }

    /// Somebody will look at it when that is needed. What should have been started before now is due
    /// now: it does not stand before what has been due for longer.
    fn is_due(&mut self, plan: &State, now: Option<Timestamp>) -> Result<(), Violation> {
        let fail = |what: String| Err(Violation::new("a trigger is looked at in time", what));
        if !self.trigger.enabled {
            return match plan.due_at {
                Some(_) => fail("it is disabled, but due".to_owned()),
                None => Ok(()),
            };
        }
        if plan.buffered.is_some() && plan.running.is_none() && plan.due_at.is_none() {
            return fail("a slot waits for nothing".to_owned());
        }
        let Some(timeline) = self.trigger.timeline() else {
            return Ok(());
        };
        let next = timeline
            .next(self.cursor)
            .map(|next| timeline.planned(next));
        if self.due.replace((next, plan.due_at)) == Some((next, plan.due_at)) {
            // It was in time when it was written; whoever has a slower clock changes nothing about it.
            return Ok(());
        }
        let latest = |next: Timestamp| now.map_or(next, |now| next.max(now));
        match next.is_some_and(|next| plan.due_at.is_none_or(|due| due > latest(next))) {
            true => fail(format!(
                "{next:?} is planned, it is due at {:?}",
                plan.due_at
            )),
            false => Ok(()),
        }
    }

    /// Whether nothing is owed any more.
    pub(super) fn is_at_rest(&self) -> bool {
        let next = self.trigger.timeline().and_then(|it| it.next(self.done));
        self.is_deleted || !self.trigger.enabled || (next.is_none() && self.buffered.is_none())
    }

    pub(super) fn started(&self) -> &BTreeMap<Timestamp, ExecutionId> {
        &self.started
    }

    pub(super) fn filled(&self) -> &[(Timestamp, ExecutionId)] {
        &self.filled
    }
}

impl Scene<'_> {
    /// Whether an execution has ended with the commit, or before.
    fn has_ended(&self, id: ExecutionId) -> bool {
        let record = self.image.executions.get(&id);
        record.is_none_or(|record| record.row.update.status.is_terminal())
    }

    /// Whether an execution had not ended before the commit.
    pub(super) fn is_open(&self, id: ExecutionId) -> bool {
        let known = self.known.get(&id);
        known.is_some_and(|known| !known.state.status.is_terminal())
    }
}
