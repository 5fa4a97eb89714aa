//! Parts that stand alone: rare ones, which may ask before they write.

use super::admit::{Admits, refusals};
use super::advance::Advances;
use super::changes::Changes;
use super::link::Link;
use super::{
    Failed, Order, alert, breaker, bulk, callback, catalog, claim, fire, letter, minute, notice,
    prune, request, scheduled, session, task, trigger, work, worker,
};
use crate::{Admit, Advance, Fire, Part, PartOutcome};

/// Writes one part, statement by statement.
pub(super) async fn write(
    link: &mut Link,
    order: &Order,
    place: usize,
    part: &Part,
) -> Result<PartOutcome, Failed> {
    match part {
        Part::Admit(part) => admit(link, order, part).await,
        Part::Advance(part) => advance(link, order, part).await,
        Part::Claim(part) => claim::claim(link, order, place, part).await,
        Part::TouchCallback(part) => callback::touch(link, order, part).await,
        Part::SeeWorkers(seen) => worker::see(link, seen).await,
        Part::ForgetWorker { id } => worker::forget(link, id).await,
        Part::ChangeSession(part) => session::change(link, order, part).await,
        Part::ChangeBreaker(part) => breaker::change(link, part).await,
        Part::AddMinutes(minutes) => minute::add(link, minutes).await,
        Part::ChangeAlerts(changes) => alert::change(link, changes).await,
        Part::ChangeAlertRule(change) => alert::change_rule(link, change).await,
        Part::PutSilence(row) => alert::put_silence(link, row).await,
        Part::RemoveSilence { id } => alert::remove_silence(link, *id).await,
        Part::DeleteLetter { id, by } => letter::delete(link, order, *id, by).await,
        Part::PutWorkflow(part) => catalog::put(link, order, part).await,
        Part::DeleteWorkflow { id } => catalog::delete(link, order, id).await,
        Part::CreateTrigger(part) => trigger::create(link, order, part).await,
        Part::ChangeTrigger(part) => trigger::change(link, order, part).await,
        Part::DeleteTrigger { id, .. } => trigger::delete(link, order, *id).await,
        Part::Fire(part) => fire(link, order, part).await,
        Part::PutScheduled(part) => scheduled::put(link, order, part).await,
        Part::MoveGroups(part) => notice::move_groups(link, order, part).await,
        Part::ChangeChannel(part) => notice::change_channel(link, part).await,
        Part::LogRequests(requests) => request::log(link, requests).await,
        Part::Bulk(part) => bulk::write(link, order, part).await,
        Part::Prune(part) => prune::prune(link, order, part).await,
        // These always fit into a group.
        Part::ClaimTimers(_)
        | Part::Begin(_)
        | Part::Release(_)
        | Part::LockTasks(_)
        | Part::TouchTask(_) => Err(Failed::no_row()),
    }
}

/// The commit has locked the trigger's state, so that it stays as it is found.
async fn fire(link: &mut Link, order: &Order, fire: &Fire) -> Result<PartOutcome, Failed> {
    if !fire::is_still(link, fire).await? {
        return Ok(PartOutcome::TriggerMoved);
    }
    if let Some(admission) = &fire.admission {
        let outcome = admit_rows(link, order, admission).await?;
        if outcome != PartOutcome::Done {
            return Ok(outcome);
        }
    }
    if !fire::fire(link, fire).await? {
        return Err(Failed::no_row());
    }
    notice::append(link, &fire.notices).await?;
    if let Some(admission) = &fire.admission {
        trigger::end_of(link, order, admission.end).await?;
    }
    Ok(PartOutcome::Done)
}

pub(super) async fn admit(
    link: &mut Link,
    order: &Order,
    admit: &Admit,
) -> Result<PartOutcome, Failed> {
    let outcome = admit_rows(link, order, admit).await?;
    if outcome == PartOutcome::Done {
        trigger::end_of(link, order, admit.end).await?;
    }
    Ok(outcome)
}

/// Everything but what the end of an execution that ended at once means for its trigger.
async fn admit_rows(link: &mut Link, order: &Order, admit: &Admit) -> Result<PartOutcome, Failed> {
    let Some(item) = admit.bulk else {
        return admit_taken(link, order, admit).await;
    };
    if !bulk::take(link, order, item, admit.row.id).await? {
        return Ok(PartOutcome::ItemDone);
    }
    let outcome = admit_taken(link, order, admit).await?;
    if outcome != PartOutcome::Done {
        bulk::give_back(link, item).await?;
    }
    Ok(outcome)
}

/// The same when nothing of a bulk job stands in its way.
async fn admit_taken(link: &mut Link, order: &Order, admit: &Admit) -> Result<PartOutcome, Failed> {
    if let Some(retry) = &admit.letter
        && let Some(refused) = letter::refuse_retry(link, retry).await?
    {
        // Other reasons come first.
        let other = refusals(link, order, &[(0, admit)]).await?.remove(&0);
        return Ok(other.unwrap_or(refused));
    }
    let mut one = Admits::default();
    one.push(0, admit, Changes::default());
    let mut answers = Vec::new();
    for query in one.queries(link, order) {
        answers.push(link.ask(query).await?);
    }
    let mut outcomes = [None];
    one.read(link, &mut answers.into_iter(), &mut outcomes)?;
    let [Some(PartOutcome::Done)] = outcomes else {
        let [outcome] = outcomes;
        return outcome.ok_or_else(Failed::no_row);
    };
    work::change(link, admit.row.id, &admit.work).await?;
    task::change(link, order, admit.row.id, &admit.tasks).await?;
    if let Some(retry) = &admit.letter {
        letter::retry(link, order, retry, admit.row.id).await?;
    }
    if let Some(letter) = &admit.new_letter {
        letter::insert(link, order, letter).await?;
    }
    if let Some(settle) = &admit.settle {
        letter::settle(link, order, admit.row.update.status, settle).await?;
    }
    notice::append(link, &admit.notices).await?;
    Ok(PartOutcome::Done)
}

async fn advance(link: &mut Link, order: &Order, advance: &Advance) -> Result<PartOutcome, Failed> {
    if let Some(begun) = &advance.begun
        && *begun != work::begun_of(link, advance.id).await?
    {
        return Ok(PartOutcome::Conflict);
    }
    if let Some(seen) = advance.seen
        && !task::is_seen(link, advance.id, seen).await?
    {
        return Ok(PartOutcome::Conflict);
    }
    let mut one = Advances::default();
    one.push(0, advance, Changes::default());
    for query in one.queries(link, order) {
        if link.ask(query).await?.is_empty() {
            return Ok(PartOutcome::Conflict);
        }
    }
    work::change(link, advance.id, &advance.work).await?;
    task::change(link, order, advance.id, &advance.tasks).await?;
    callback::change(link, order, advance.id, &advance.callbacks).await?;
    if let Some(settle) = &advance.settle {
        letter::settle(link, order, advance.update.status, settle).await?;
    }
    trigger::end_of(link, order, advance.end).await?;
    Ok(PartOutcome::Done)
}
