//! The promises about nodes that share a database: nothing is written without a lease, nothing is
//! called that another has, an id is used once, and only the dead lose what they had begun.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use refire_core::definition::StepId;
use refire_core::execution::{Event, EventKind};
use refire_core::id::NodeId;
use refire_core::time::Timestamp;
use refire_store::model::Image;
use refire_store::{Batch, NodeRow, Part};

use super::call::{row_of, step_of};
use super::{By, Judge};
use crate::mark::{Mark, Marks};
use crate::target::{Call, InFlight};
use crate::world::Violation;

/// Of a lease, this part is left when no call may begin any more.
const SPARE: u32 = 3;

/// What is known of the nodes.
#[derive(Default)]
pub(super) struct Leases {
    /// Those that are among the nodes.
    present: BTreeMap<NodeId, NodeRow>,
    /// Those that once were.
    gone: BTreeSet<NodeId>,
}

impl Judge {
    /// A process has asked something: looks who is among the nodes. Whoever went was silent for too
    /// long, or signed off itself, and does not come back.
    pub(crate) fn roll_call(
        &mut self,
        image: &Image,
        (by, now): (u32, Timestamp),
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let leases = &mut self.leases;
        for (node, row) in leases
            .present
            .iter()
            .filter(|(node, _)| !image.nodes.contains_key(node))
        {
            let is_itself = row.name == format!("life {by}");
            if !is_itself && row.expires_at > now {
                let what = format!("{node}, which had its lease until {}", row.expires_at);
                return Err(Violation::new("only the silent are removed", what));
            }
            if !is_itself {
                marks.reach(Mark::NodeReaped);
            }
        }
        let present: BTreeSet<NodeId> = image.nodes.keys().copied().collect();
        if let Some(back) = present.iter().find(|node| leases.gone.contains(node)) {
            let what = format!("{back} is among the nodes again");
            return Err(Violation::new("an id is used once", what));
        }
        let before: BTreeSet<NodeId> = leases.present.keys().copied().collect();
        let went: Vec<NodeId> = before.difference(&present).copied().collect();
        if !went.is_empty() {
            let owns = |node: &NodeId| image.work.values().any(|row| row.owner == Some(*node));
            if went.iter().any(owns) {
                marks.reach(Mark::NodeLeftWork);
            }
        }
        let again = |row: &NodeRow| {
            let same = |(id, other): (&NodeId, &NodeRow)| *id != row.id && other.name == row.name;
            leases.present.iter().any(same)
        };
        if image.nodes.values().any(again) {
            marks.reach(Mark::JoinedAgain);
        }
        leases.gone.extend(went);
        leases.present.clone_from(&image.nodes);
        Ok(())
    }

    /// A batch has become durable: what it gives back others may make.
    pub(crate) fn note_given_back(&mut self, batch: &Batch) {
        let releases = batch.parts.iter().filter_map(|part| match part {
            Part::Release(release) => Some(&release.work),
            _ => None,
        });
        for (key, _) in releases.flatten() {
            // Of a paused execution the row is removed instead.
            if let Some(known) = self.known.get_mut(&key.execution)
                && let Some(step) = step_of(&known.state, &key.step)
            {
                let attempt = (key.step.clone(), step.attempt);
                known.given_back.insert(attempt);
            }
        }
    }

    /// A batch has become durable, sent by a process that is this node.
    pub(crate) fn written_by(
        &self,
        image: &Image,
        batch: &Batch,
        node: Option<NodeId>,
    ) -> Result<(), Violation> {
        const CHECK: &str = "nothing is written without a lease";
        let by = batch.lease.or(node);
        if let Some(by) = by.filter(|by| !image.nodes.contains_key(by)) {
            return Err(Violation::new(
                CHECK,
                format!("{by} is not among the nodes"),
            ));
        }
        for part in &batch.parts {
            match part {
                Part::Release(release) if by != Some(release.node) => {
                    not_there(image, release.node, "its work is given away")?;
                }
                Part::Advance(advance) => {
                    for row in &advance.events {
                        let Ok(event) = Event::decode(row) else {
                            continue;
                        };
                        // One that lives may give up what it has forgotten.
                        if let EventKind::StepLost(lost) = &event.kind
                            && let Some(lost_by) = lost.node
                            && Some(lost_by) != by
                        {
                            not_there(image, lost_by, "its attempt is lost")?;
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What a node gives back it is not calling for. A call whose target has said the last word may go
    /// on beside the next attempt.
    pub(crate) fn gives_back(
        &self,
        batch: &Batch,
        node: Option<NodeId>,
        in_flight: &InFlight,
    ) -> Result<(), Violation> {
        let by = batch.lease.or(node);
        for part in &batch.parts {
            let Part::Release(release) = part else {
                continue;
            };
            for (key, _) in release.work.iter().filter(|_| by == Some(release.node)) {
                let is_it = |call: &&Call| {
                    let is_own = call.execution == key.execution && call.step == key.step;
                    is_own && call.node == by && self.is_newest(call)
                };
                if let Some(call) = in_flight.iter().find(is_it) {
                    let what = format!("{call:?} runs, and its row is given back");
                    return Err(Violation::new("what runs is not given up", what));
                }
            }
        }
        Ok(())
    }

    /// What a node gives up of its own it must have forgotten: it is not calling for it.
    pub(crate) fn gives_up(
        batch: &Batch,
        node: Option<NodeId>,
        in_flight: &InFlight,
    ) -> Result<(), Violation> {
        let by = batch.lease.or(node);
        let advances = batch.parts.iter().filter_map(|part| match part {
            Part::Advance(advance) => Some(advance),
            _ => None,
        });
        for advance in advances {
            for event in advance
                .events
                .iter()
                .filter_map(|row| Event::decode(row).ok())
            {
                let is_own = match &event.kind {
                    EventKind::StepLost(lost) => by.is_some() && lost.node == by,
                    _ => false,
                };
                let is_it = |call: &&Call| {
                    let step = event.step.as_ref().map(StepId::as_str);
                    call.execution == advance.id
                        && step == Some(call.step.as_str())
                        && event.attempt == Some(call.attempt)
                        && call.node == by
                };
                if let Some(call) = in_flight.iter().find(is_it).filter(|_| is_own) {
                    let what = format!("{call:?}");
                    return Err(Violation::new("what runs is not given up", what));
                }
            }
        }
        Ok(())
    }

    /// A process lets a call go. Whoever takes over does not come before its lease is over, so it
    /// must have one, and not an old one.
    pub(crate) fn may_call(
        &self,
        image: &Image,
        call: &Call,
        node: Option<NodeId>,
        (now, lease): (Timestamp, Duration),
    ) -> Result<(), Violation> {
        const CHECK: &str = "no call without a lease";
        let name = format!("{}.{}#{}", call.execution, call.step, call.attempt);
        let Some(row) = node.and_then(|node| image.nodes.get(&node)) else {
            return Err(Violation::new(
                CHECK,
                format!("{name} by nobody ({node:?})"),
            ));
        };
        let age = now.since(row.renewed_at);
        if age > lease - lease / SPARE {
            let what = format!("{name} although the lease was renewed {age:?} ago");
            return Err(Violation::new(CHECK, what));
        }
        Ok(())
    }

    /// What one node has begun another begins only when the first is gone.
    pub(super) fn is_alone(
        &self,
        image: &Image,
        call: &Call,
        before: &[NodeId],
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let there = before.iter().find(|node| image.nodes.contains_key(node));
        if !before.is_empty() {
            marks.reach(Mark::CalledAgainElsewhere);
        }
        match there {
            Some(node) if !self.was_given_back(call) => {
                let name = format!("{}.{}#{}", call.execution, call.step, call.attempt);
                let what = format!("{name} was called by {node}, which has its lease");
                Err(Violation::new("one node calls an attempt", what))
            }
            _ => Ok(()),
        }
    }

    fn was_given_back(&self, call: &Call) -> bool {
        let known = self.known.get(&call.execution);
        let attempt = (call.step.clone(), call.attempt);
        known.is_some_and(|known| known.given_back.contains(&attempt))
    }
}

fn not_there(image: &Image, node: NodeId, what: &str) -> Result<(), Violation> {
    match image.nodes.contains_key(&node) {
        true => Err(Violation::new(
            "only the dead lose their work",
            format!("{node} has its lease, but {what}"),
        )),
        false => Ok(()),
    }
}

/// Who calls has the work, as far as it can know.
pub(super) fn is_owned(
    image: &Image,
    call: &Call,
    by: &By,
    is_fresh: bool,
) -> Result<(), Violation> {
    let row = row_of(image, call);
    if is_fresh || row.is_some_and(|row| row.owner == by.node && row.begun) {
        return Ok(());
    }
    let name = format!("{}#{}", call.step, call.attempt);
    let what = format!("{name} by {:?}, its row is {row:?}", by.node);
    Err(Violation::new("a node calls what it owns", what))
}
