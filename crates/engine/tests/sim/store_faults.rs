//! What befalls the store: crashes at every moment of a commit, refusals, commits whose outcome
//! nobody knows, reads that fail or take long. And the place where the judge looks: at the moment
//! a commit is durable.

mod describe;
mod network;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use async_trait::async_trait;
use refire_core::execution::EventRow;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::model::{Faults, Finding, Image, Moment, Verdict};
use refire_store::{
    Admit, Batch, Begin, Fire, News, NotWritten, Part, ReadError, TaskChange, TaskRow, WorkChange,
    WorkRow,
};

use crate::judge::{Judge, When, Writer};
use crate::life::Life;
use crate::mark::Mark;
use crate::plan::SKEW_MAX_MS;
use crate::world::Inside;

/// What the store cannot keep.
pub(crate) const POISON: &str = "POISON";

/// The faults of one life's store.
pub(crate) struct StoreFaults(pub(crate) Arc<Life>);

/// What a roll of the dice came to.
enum Fault {
    None,
    Crash(Mark),
    Panic,
    Verdict(Verdict),
}

#[async_trait]
impl Faults for StoreFaults {
    async fn commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        let verdict = match self.0.world.is_shared() {
            true => self.shared_commit(moment, batch).await,
            false => self.lone_commit(moment, batch).await,
        };
        if let Verdict::Unknown { durable } = verdict {
            self.0.with(|inside| mark_unknown(inside, batch, durable));
        }
        verdict
    }

    async fn read(&self, what: &'static str) -> Result<(), ReadError> {
        let life = &self.0;
        life.alive().await;
        self.unreachable(what).await?;
        self.read_takes().await;
        let fails = life.with(|inside| {
            let rates = &life.world.plan.rates;
            if inside.healed {
                return false;
            }
            if inside.store_dice.chance(rates.reads_fail) {
                let span = *inside.store_dice.pick(&[1, 50, 2_000, 15_000]);
                inside.unreadable_until = inside.lived_ms + span;
                inside.marks.reach(Mark::ReadsFailed);
            }
            inside.lived_ms < inside.unreadable_until
        });
        if fails {
            life.say(&format!("{what} fails"));
            return Err(ReadError::Unavailable("nothing can be read".into()));
        }
        Ok(())
    }

    async fn answer(&self, what: &'static str) -> Result<(), ReadError> {
        let from = self.0.lived_ms();
        self.roll_call();
        self.read_takes().await;
        self.0.was_deaf(from);
        self.heard_nothing(what)
    }

    async fn lost(&self, batch: &Batch) -> Finding {
        let found = self.find_out().await;
        if locks(batch) {
            self.0.reach(match found {
                Finding::Known => Mark::LockFoundOut,
                Finding::Nothing => Mark::LockUnknown,
            });
        }
        found
    }

    async fn news(&self, news: News) -> Option<News> {
        self.hear(news).await
    }
}

impl StoreFaults {
    /// A commit on a disk that nobody else uses.
    async fn lone_commit(&self, moment: Moment, batch: &Batch) -> Verdict {
        let life = &self.0;
        life.alive().await;
        if moment == Moment::Arrived {
            self.arrived(batch);
        }
        let wait = life.with(|inside| self.takes(inside));
        if moment != Moment::Durable {
            life.tempt();
            life.sleep_ms(wait).await;
        } else {
            self.look(batch);
            life.alive().await;
        }
        if is_unstorable(batch) && moment == Moment::Arrived {
            if batch.parts.len() > 1 {
                life.reach(Mark::BatchSplit);
            }
            life.say("the store chokes on it");
            return Verdict::Refuse(NotWritten::Statement);
        }
        match life.with(|inside| self.fault(inside, moment, batch)) {
            Fault::None => Verdict::Go,
            Fault::Verdict(verdict) => {
                life.say(&format!("{moment:?}: {verdict:?}"));
                verdict
            }
            Fault::Panic => self.panic(),
            Fault::Crash(mark) => {
                life.crash(&format!("of a commit: {moment:?}"), Some(mark))
                    .await;
                Verdict::Go
            }
        }
    }

    /// The judge looks at what has become durable.
    fn look(&self, batch: &Batch) {
        let life = &self.0;
        let node = life.node();
        let skew_ms = life.world.plan.nodes.skews_ms.get(life.slot);
        let writer = Writer {
            node,
            own_now: life.own_now(),
            real_now: life.world.is_shared().then(|| life.world.now()),
            is_far_off: skew_ms.is_some_and(|skew| skew.abs() == SKEW_MAX_MS),
        };
        let when = When {
            now: batch.now,
            real: writer.real_now,
        };
        life.check(|inside| {
            let ids = touched(batch);
            let (now, marks) = (inside.lived_ms, &mut inside.marks);
            let judge = &mut inside.judge;
            let is_shared = life.world.is_shared();
            Judge::gives_up(batch, node, &inside.in_flight)?;
            // Whoever stops aborts its calls first, which takes them a moment.
            if !life.stopping.load(Ordering::Relaxed) {
                judge.gives_back(batch, node, &inside.in_flight)?;
            }
            life.world.disk.look(|image| {
                judge.note_given_back(batch);
                if is_shared {
                    judge.written_by(image, batch, node)?;
                }
                judge.follow_triggers(image, Some(&writer), marks)?;
                judge.look_at(image, &ids, now, marks)?;
                judge.windows_ended(&ids, when)?;
                judge.cycles_are_counted(image)?;
                judge.follow_tasks(image, Some(when), marks)
            })
        });
    }

    fn panic(&self) -> Verdict {
        self.0.reach(Mark::CommitterPanicked);
        self.0.say("the committer panics");
        // Without the hook: this is no defect of the test to print.
        std::panic::resume_unwind(Box::new("the committer panics"))
    }

    /// Each half of a read may take long.
    async fn read_takes(&self) {
        let life = &self.0;
        let wait = life.with(|inside| {
            let rates = &life.world.plan.rates;
            let slow = !inside.healed && inside.store_dice.chance(rates.slow_reads);
            match slow {
                true => *inside.store_dice.pick(&[1, 3, 20, 200]),
                false => 0,
            }
        });
        if wait > 0 {
            life.tempt();
        }
        life.sleep_ms(wait).await;
    }

    /// Notes what is about to be committed.
    fn arrived(&self, batch: &Batch) {
        let life = &self.0;
        life.with(|inside| {
            let text = describe::describe(&mut inside.trace, batch);
            let line = format!("{}:{:>6}  commit {text}", life.number, inside.lived_ms);
            inside.trace.say(line);
            for row in born(batch) {
                inside.judge.is_to_be_born(row);
            }
            for part in &batch.parts {
                if let Part::LockTasks(lock) = part {
                    inside.judge.looks(lock, inside.lived_ms);
                }
            }
            life.world
                .disk
                .look(|image| self.marks_on_arrival(inside, image, batch));
        });
    }

    fn marks_on_arrival(&self, inside: &mut Inside, image: &Image, batch: &Batch) {
        let stopping = self.0.stopping.load(Ordering::Relaxed);
        let has_lease = |node| image.nodes.contains_key(&node);
        if batch.lease.is_some_and(|node| !has_lease(node)) {
            inside.marks.reach(Mark::CommitFenced);
            if successes(batch).any(|(id, step, attempt)| inside.judge.was_lost(id, step, attempt))
            {
                inside.marks.reach(Mark::LateResultFenced);
            }
        }
        for part in &batch.parts {
            mark_ahead(inside, image, part, batch.now);
            match part {
                Part::Advance(advance) => {
                    if ended_attempts(&advance.events) > 1 {
                        inside.marks.reach(Mark::ParallelResultsInOneBatch);
                    }
                    let now = image.executions.get(&advance.id);
                    if now.is_some_and(|now| now.row.update.version != advance.expected_version) {
                        inside.marks.reach(Mark::DecidedOnThePast);
                        if self.0.world.is_shared() {
                            inside.marks.reach(Mark::DecidedOnAnothersPast);
                        }
                    }
                }
                Part::Release(release) if stopping => {
                    let begun = |key| {
                        image
                            .work
                            .get(key)
                            .is_some_and(|row: &Arc<WorkRow>| row.begun)
                    };
                    if release.work.iter().any(|(key, _)| begun(key)) {
                        inside.marks.reach(Mark::StopReleasedAttempts);
                    }
                }
                Part::Claim(claim) if self.0.number > 1 => {
                    let wanted = |row: &WorkRow| {
                        let due = row.due_at.is_none_or(|due| due <= batch.now);
                        let of = claim.wants.iter().any(|want| want.workflow == row.workflow);
                        row.owner.is_none() && due && of
                    };
                    if image.work.values().any(|row| wanted(row)) {
                        inside.marks.reach(Mark::BacklogClaimedAfterRestart);
                    }
                }
                Part::Fire(fire) => mark_fire(inside, image, fire),
                Part::ClaimTimers(claim) => {
                    let near = |row: &WorkRow| {
                        let due = row
                            .due_at
                            .is_some_and(|due| due > batch.now && due <= claim.until);
                        row.owner.is_none() && due
                    };
                    if image.work.values().any(|row| near(row)) {
                        inside.marks.reach(Mark::TimerTakenOver);
                    }
                }
                _ => {}
            }
        }
    }

    /// How long each half of a commit takes.
    fn takes(&self, inside: &mut Inside) -> u64 {
        let rates = &self.0.world.plan.rates;
        let (from, to) = rates.commit_ms;
        let dice = &mut inside.store_dice;
        let stalls = !inside.healed && dice.chance(rates.stall);
        match stalls {
            true => *dice.pick(&[100, 700, 3_000]),
            false => dice.between(from, to).div_ceil(2),
        }
    }

    fn fault(&self, inside: &mut Inside, moment: Moment, batch: &Batch) -> Fault {
        let plan = &self.0.world.plan;
        let rates = &plan.rates;
        if inside.healed {
            return Fault::None;
        }
        let may_crash = inside.may_crash(plan);
        let dice = &mut inside.store_dice;
        let (crash, mark) = match moment {
            Moment::Arrived => (rates.crash_arrived, Mark::CrashBeforeCommit),
            Moment::Applied => (rates.crash_applied, Mark::CrashBeforeSync),
            Moment::Durable => (rates.crash_durable, Mark::CrashBetweenCommitAndDispatch),
        };
        if may_crash && dice.chance(crash) {
            let mark = match moment {
                Moment::Durable if !begins_attempts(batch) => Mark::CrashBeforeCommit,
                _ => mark,
            };
            return Fault::Crash(mark);
        }
        if may_crash && moment != Moment::Applied && dice.chance(rates.panic_in_commit) {
            inside.crashes += 1;
            return Fault::Panic;
        }
        // On a shared disk lost answers have rates of their own, and a process goes on.
        if may_crash && !self.0.world.is_shared() && dice.chance(rates.unknown) {
            let durable = match moment {
                Moment::Arrived => false,
                Moment::Applied => dice.chance(500),
                Moment::Durable => true,
            };
            inside.crashes += 1;
            inside.marks.reach(match durable {
                true => Mark::UnknownButWritten,
                false => Mark::UnknownAndLost,
            });
            return Fault::Verdict(Verdict::Unknown { durable });
        }
        if moment == Moment::Arrived {
            return refusal(inside, rates, batch);
        }
        Fault::None
    }
}

/// Notes a fire that comes too late, or was decided on what is over.
fn mark_fire(inside: &mut Inside, image: &Image, fire: &Fire) {
    let Some(standing) = image.trigger_states.get(&fire.trigger) else {
        return;
    };
    if fire.admission.is_none() || standing.state.rev == fire.rev {
        return;
    }
    let slot = fire.slots.last().map(|slot| slot.nominal);
    let (cursor, planned) = (standing.state.cursor, fire.state.cursor);
    let is_backfill = planned <= cursor && Some(planned) > slot;
    inside.marks.reach(match Some(cursor) >= slot {
        true if !is_backfill => Mark::FireLostTheRace,
        _ => Mark::FireDecidedOnThePast,
    });
}

/// Notes what nobody knows the end of.
fn mark_unknown(inside: &mut Inside, batch: &Batch, durable: bool) {
    for part in &batch.parts {
        let mark = match part {
            Part::Fire(fire) if fire.admission.is_some() && durable => Mark::FireUnknownButWritten,
            Part::Fire(fire) if fire.admission.is_some() => Mark::FireUnknownAndLost,
            Part::Admit(admit) if admit.request.is_some() && durable => {
                Mark::RequestUnknownButWritten
            }
            _ => continue,
        };
        inside.marks.reach(mark);
    }
}

/// Notes what is begun before it is due, and what is given back after that.
fn mark_ahead(inside: &mut Inside, image: &Image, part: &Part, now: Timestamp) {
    let is_ahead = |row: &&Arc<WorkRow>| row.due_at.is_some_and(|due| due > now);
    let ahead = |key| image.work.get(key).filter(is_ahead);
    match part {
        Part::Begin(begin) if begin.work.iter().any(|(key, _)| ahead(key).is_some()) => {
            inside.marks.reach(Mark::BegunAhead);
        }
        Part::Release(release) => {
            let begun = |key| ahead(key).is_some_and(|row| row.begun);
            if release.work.iter().any(|(key, _)| begun(key)) {
                inside.marks.reach(Mark::GivenBackAhead);
            }
        }
        _ => {}
    }
}

fn refusal(inside: &mut Inside, rates: &crate::plan::Rates, batch: &Batch) -> Fault {
    let dice = &mut inside.store_dice;
    if dice.chance(rates.refuse_for_a_while) {
        inside.refusing_until = inside.lived_ms + *dice.pick(&[20, 500, 5_000, 20_000]);
    }
    if inside.lived_ms >= inside.refusing_until && !dice.chance(rates.refuse) {
        return Fault::None;
    }
    if batch.parts.iter().any(|part| match part {
        Part::Advance(advance) => ended_attempts(&advance.events) > 0,
        _ => false,
    }) {
        inside.marks.reach(Mark::ResultWaitedForTheStore);
    }
    let reason = *dice.pick(&[NotWritten::Full, NotWritten::Unavailable]);
    Fault::Verdict(Verdict::Refuse(reason))
}

/// Whether workers get tasks by it.
fn locks(batch: &Batch) -> bool {
    let mut parts = batch.parts.iter();
    parts.any(|part| matches!(part, Part::LockTasks(_))) || born(batch).next().is_some()
}

/// The tasks that are made for somebody who waits for them.
fn born(batch: &Batch) -> impl Iterator<Item = &TaskRow> {
    let changes = batch.parts.iter().flat_map(|part| match part {
        Part::Advance(advance) => advance.tasks.as_slice(),
        part => admission(part).map_or(&[][..], |admit| admit.tasks.as_slice()),
    });
    changes.filter_map(|change| match change {
        TaskChange::Put { row, .. } => Some(&**row).filter(|row| row.token.is_some()),
        _ => None,
    })
}

/// Attempts whose results are among these events.
fn ended_attempts(events: &[EventRow]) -> usize {
    events
        .iter()
        .filter(|event| event.name == "STEP_STARTED")
        .count()
}

/// The attempts that ended well, by what a batch says.
fn successes(batch: &Batch) -> impl Iterator<Item = (ExecutionId, &str, u32)> {
    batch.parts.iter().flat_map(|part| {
        let (id, events) = match part {
            Part::Advance(advance) => (Some(advance.id), advance.events.as_slice()),
            _ => (None, [].as_slice()),
        };
        let ended = events.iter().filter(|event| event.name == "STEP_COMPLETED");
        ended.filter_map(move |event| Some((id?, event.step.as_deref()?, event.attempt?)))
    })
}

/// Whether work is written that this process begins at once.
fn begins_attempts(batch: &Batch) -> bool {
    work_changes(batch)
        .any(|change| matches!(change, WorkChange::Put(row) if row.owner.is_some() && row.begun))
}

fn work_changes(batch: &Batch) -> impl Iterator<Item = &WorkChange> {
    batch.parts.iter().flat_map(|part| match part {
        Part::Advance(advance) => advance.work.as_slice(),
        part => admission(part).map_or(&[][..], |admit| admit.work.as_slice()),
    })
}

/// The execution that begins with a part.
fn admission(part: &Part) -> Option<&Admit> {
    match part {
        Part::Admit(admit) => Some(admit),
        Part::Fire(fire) => fire.admission.as_deref(),
        Part::PutScheduled(put) => put.admission.as_deref(),
        _ => None,
    }
}

fn is_unstorable(batch: &Batch) -> bool {
    let has = |event: &EventRow| {
        let text = std::str::from_utf8(&event.payload);
        text.is_ok_and(|text| text.contains(POISON))
    };
    batch.parts.iter().any(|part| match part {
        Part::Advance(advance) => advance.events.iter().any(has),
        part => admission(part).is_some_and(|admit| admit.events.iter().any(has)),
    })
}

/// The executions that a batch may have changed.
fn touched(batch: &Batch) -> Vec<ExecutionId> {
    let mut ids = Vec::new();
    for part in &batch.parts {
        ids.extend(admission(part).map(|admit| admit.row.id));
        match part {
            Part::Advance(advance) => ids.push(advance.id),
            Part::TouchCallback(touch) => ids.push(touch.key.execution),
            Part::Begin(Begin { work, .. }) => {
                ids.extend(work.iter().map(|(key, _)| key.execution));
            }
            Part::Release(release) => {
                ids.extend(release.work.iter().map(|(key, _)| key.execution));
            }
            _ => {}
        }
    }
    ids
}
