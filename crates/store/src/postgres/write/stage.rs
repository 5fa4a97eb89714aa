//! A batch in stages. Parts behave as if written one after the other, but those that have nothing to
//! do with each other are written together, kind by kind.

use std::collections::HashSet;

use refire_core::id::{ExecutionId, RequestId, TriggerId};
use tokio_postgres::Row;
use uuid::Uuid;

use super::admit::{Admits, UsedKeys};
use super::advance::Advances;
use super::changes::Changes;
use super::claim;
use super::fire::Fires;
use super::link::{Link, Query, values};
use super::task::{Locks, Moves, Room, Touches, put_new};
use super::trigger::Ends;
use super::work::{Begins, Releases};
use super::{Failed, Order};
use crate::batch::About;
use crate::postgres::columns::uuid;
use crate::{Admit, Batch, Part, PartOutcome};

pub(super) const LOCK: &str =
    "SELECT id, version FROM executions WHERE id = ANY($1::uuid[]) ORDER BY id FOR NO KEY UPDATE";

/// What has begun stays so until the commit: who begins more on another node waits, and then finds that it
/// is gone.
const LOCK_WORK: &str = "SELECT 1 FROM work WHERE execution = ANY($1::uuid[])
     ORDER BY execution, step FOR UPDATE";

/// See the module.
pub(super) enum Stage<'a> {
    /// Parts that are written together.
    Group(Box<Group<'a>>),
    /// A part that may need to ask before it writes.
    Single(usize, &'a Part),
}

impl Stage<'_> {
    /// Room for the rows of tasks that are worked out on the way.
    pub(super) fn room(&self) -> Room {
        match self {
            Self::Group(group) => Room::new(group.locks.looks()),
            Self::Single(..) => Room::default(),
        }
    }
}

/// Parts that are written together, in the order of the fields.
#[derive(Default)]
pub(super) struct Group<'a> {
    fires: Fires<'a>,
    admits: Admits<'a>,
    advances: Advances<'a>,
    /// Those among them that have to do with tasks.
    moves: Moves<'a>,
    ends: Ends,
    begins: Begins<'a>,
    releases: Releases<'a>,
    /// That one statement makes.
    claims: Vec<(usize, &'a Part)>,
    /// Words of workers, and workers that wait. Nothing is waited for after these.
    touches: Touches<'a>,
    locks: Locks<'a>,
    used_keys: UsedKeys<'a>,
    /// Requests that are written.
    requests: HashSet<RequestId>,
    /// Triggers that are fired.
    fired: HashSet<TriggerId>,
    /// Executions that a part changes.
    changed: HashSet<ExecutionId>,
    /// Executions whose work begins.
    begun: HashSet<ExecutionId>,
    /// Executions whose work is given back.
    released: HashSet<ExecutionId>,
    /// Whether the answers to [`Self::first`] have been read.
    is_half_read: bool,
}

/// Divides a batch.
pub(super) fn stages(batch: &Batch) -> Vec<Stage<'_>> {
    let mut stages = Vec::new();
    let mut group = Box::<Group<'_>>::default();
    for (place, part) in batch.parts.iter().enumerate() {
        let Some(changes) = changes_in_group(part) else {
            end(&mut group, &mut stages);
            stages.push(Stage::Single(place, part));
            continue;
        };
        if !group.has_room_for(part) {
            end(&mut group, &mut stages);
        }
        group.push(place, part, changes);
    }
    end(&mut group, &mut stages);
    stages
}

fn end<'a>(group: &mut Box<Group<'a>>, stages: &mut Vec<Stage<'a>>) {
    if !group.is_empty() {
        stages.push(Stage::Group(std::mem::take(group)));
    }
}

/// What a part that fits into a group changes in the work of its execution.
fn changes_in_group(part: &Part) -> Option<Changes<'_>> {
    let About {
        asks_first,
        execution,
        work,
        ..
    } = part.about();
    match execution {
        _ if asks_first => None,
        Some((id, _)) => Changes::of(id, work),
        None => Some(Changes::default()),
    }
}

impl<'a> Group<'a> {
    fn is_empty(&self) -> bool {
        self.fires.is_empty()
            && self.admits.is_empty()
            && self.advances.is_empty()
            && self.begins.is_empty()
            && self.releases.is_empty()
            && self.claims.is_empty()
            && self.touches.is_empty()
            && self.locks.is_empty()
    }

    /// Whether writing it in this group, kind by kind, is the same as writing it after all the
    /// others that are in it.
    fn has_room_for(&self, part: &Part) -> bool {
        let is_claim = matches!(part, Part::Claim(_) | Part::ClaimTimers(_));
        let (is_touch, is_lock) = (
            matches!(part, Part::TouchTask(_)),
            matches!(part, Part::LockTasks(_)),
        );
        if !self.locks.is_empty() && !is_lock {
            return false;
        }
        if !self.touches.is_empty() && !is_touch && !is_lock {
            return false;
        }
        if !(self.claims.is_empty() || is_claim || is_touch || is_lock) {
            return false;
        }
        match part {
            Part::Fire(fire) => {
                let admission = fire.admission.as_deref();
                !self.fired.contains(&fire.trigger)
                    && !self.ends.is_about(fire.trigger)
                    && admission.is_none_or(|admit| self.has_room_for_admission(admit))
            }
            Part::Admit(admit) => self.has_room_for_admission(admit),
            Part::Advance(advance) => self.is_untouched(advance.id),
            Part::Begin(begin) => {
                let mut keys = begin.work.iter().map(|(key, _)| key);
                keys.all(|key| !self.released.contains(&key.execution))
            }
            _ => true,
        }
    }

    fn has_room_for_admission(&self, admit: &Admit) -> bool {
        let request = admit.request.as_ref();
        self.is_untouched(admit.row.id)
            && !self.used_keys.contain(admit.claim.as_ref())
            && request.is_none_or(|request| !self.requests.contains(&request.id))
    }

    fn is_untouched(&self, id: ExecutionId) -> bool {
        !self.changed.contains(&id) && !self.begun.contains(&id) && !self.released.contains(&id)
    }

    fn push(&mut self, place: usize, part: &'a Part, changes: Changes<'a>) {
        match part {
            Part::Fire(fire) => {
                self.fired.insert(fire.trigger);
                self.fires.push(place, fire);
                if let Some(admit) = &fire.admission {
                    self.note(place, admit);
                    self.admits.push_fired(place, fire.trigger, admit, changes);
                }
            }
            Part::Admit(admit) => {
                self.note(place, admit);
                self.admits.push(place, admit, changes);
            }
            Part::Advance(advance) => {
                self.changed.insert(advance.id);
                self.ends.push(place, advance.end);
                self.moves.push(place, advance);
                self.advances.push(place, advance, changes);
            }
            Part::Begin(begin) => {
                let executions = begin.work.iter().map(|(key, _)| key.execution);
                self.begun.extend(executions);
                self.begins.push(place, begin);
            }
            Part::Release(release) => {
                let executions = release.work.iter().map(|(key, _)| key.execution);
                self.released.extend(executions);
                self.releases.push(place, release);
            }
            Part::TouchTask(touch) => self.touches.push(place, touch),
            Part::LockTasks(lock) => self.locks.push(place, lock),
            // All others ask first.
            claim => self.claims.push((place, claim)),
        }
    }

    /// Remembers what an admission touches.
    fn note(&mut self, place: usize, admit: &'a Admit) {
        self.changed.insert(admit.row.id);
        self.used_keys.insert(admit.claim.as_ref());
        self.requests
            .extend(admit.request.as_ref().map(|request| request.id));
        self.ends.push(place, admit.end);
    }

    /// Whether there is something to write when all answers are there.
    pub(super) fn has_ends(&self) -> bool {
        !self.ends.is_empty()
    }

    /// Whether tasks must be read before executions move on.
    pub(super) fn asks_tasks(&self) -> bool {
        !self.moves.is_empty()
    }

    /// Everything up to where executions move on; the answers are for [`Self::read_first`].
    pub(super) fn first(&mut self, link: &Link, order: &Order, room: &'a Room) -> Vec<Query<'a>> {
        let mut queries = self.fires.queries(link);
        if !self.admits.is_empty() {
            queries.extend(self.admits.queries(link, order));
            queries.extend(put_new(self.admits.all(), order, room));
        }
        if self.locks_first() {
            queries.push(self.lock(LOCK));
        }
        if self.advances.compare_begun() {
            queries.push(self.lock(LOCK_WORK));
        }
        if self.asks_tasks() {
            queries.push(self.moves.look());
        }
        queries
    }

    /// The statements from there on; the answers are for [`Self::read`].
    pub(super) fn second(&mut self, link: &Link, order: &Order, room: &'a Room) -> Vec<Query<'a>> {
        let mut queries = self.advances.queries(link, order);
        queries.extend(Moves::put(order, room));
        if self.has_ends() {
            queries.push(self.ends.query());
        }
        if !self.begins.is_empty() {
            queries.push(self.begins.query(order));
        }
        if !self.releases.is_empty() {
            queries.push(self.releases.query(order));
        }
        let claims = self.claims.iter();
        queries.extend(claims.filter_map(|(place, part)| claim::query(link, order, *place, part)));
        queries
    }

    /// What comes last, when the rest is sent.
    pub(super) fn take_last(&mut self) -> (Touches<'a>, Locks<'a>) {
        (
            std::mem::take(&mut self.touches),
            std::mem::take(&mut self.locks),
        )
    }

    /// Giving work back looks at executions as well, and who compares what has begun, or how a task was
    /// seen, looks at those. All are locked together with those that are changed, in one order, and
    /// executions before any work or task: others may do the same in another order.
    fn locks_first(&self) -> bool {
        !self.releases.is_empty() || self.advances.compare_begun() || self.asks_tasks()
    }

    fn lock(&self, how: &'static str) -> Query<'a> {
        let ids = self.changed.union(&self.released);
        let mut ids: Vec<Uuid> = ids.map(|id| uuid(id.as_bytes())).collect();
        ids.sort_unstable();
        Query::new(how, values![ids])
    }

    /// Reads the answers to [`Self::first`]; of moves that have to do with tasks, it tells what becomes of
    /// those.
    pub(super) fn read_first(
        &mut self,
        link: &Link,
        order: &Order,
        room: &Room,
        answers: &mut impl Iterator<Item = Vec<Row>>,
        outcomes: &mut [Option<PartOutcome>],
    ) -> Result<(), Failed> {
        self.is_half_read = true;
        self.fires.read(answers, outcomes)?;
        if !self.admits.is_empty() {
            self.admits.read(link, answers, outcomes)?;
            if self.admits.all().any(|admit| !admit.tasks.is_empty()) {
                answers.next();
            }
        }
        let mut versions = Vec::new();
        if self.locks_first() {
            versions = answers.next().unwrap_or_default();
        }
        if self.advances.compare_begun() {
            answers.next();
        }
        if self.asks_tasks() {
            let rows = answers.next().unwrap_or_default();
            for place in self.moves.decide(&versions, &rows, order, room)? {
                outcomes[place] = Some(PartOutcome::Conflict);
                self.advances.leave_out(place);
            }
        }
        Ok(())
    }

    /// What became of the parts, from the answers in the order of the statements. What is left to write
    /// comes back.
    pub(super) fn read(
        &mut self,
        link: &Link,
        order: &Order,
        room: &Room,
        answers: &mut impl Iterator<Item = Vec<Row>>,
        outcomes: &mut [Option<PartOutcome>],
    ) -> Result<Option<Query<'a>>, Failed> {
        if !self.is_half_read {
            self.read_first(link, order, room, answers, outcomes)?;
        }
        self.advances.read(answers, outcomes)?;
        if Moves::has_put(room) {
            answers.next();
        }
        let mut left = None;
        if self.has_ends() {
            left = self
                .ends
                .tell(order, &answers.next().unwrap_or_default(), outcomes)?;
        }
        if !self.begins.is_empty() {
            let begun = answers.next().unwrap_or_default();
            self.begins.read(&begun, outcomes)?;
        }
        if !self.releases.is_empty() {
            answers.next();
            self.releases.read(outcomes);
        }
        for (place, part) in &self.claims {
            let rows = claim::readable_rows(&answers.next().unwrap_or_default());
            outcomes[*place] = Some(claim::told(part, rows));
        }
        Ok(left)
    }
}

#[cfg(test)]
mod tests;
