//! Parts that stand alone: rare ones, which may ask before they write.

use super::admit::{Admits, WORKFLOWS, keys_of, live, owners_of, refusal};
use super::advance::Advances;
use super::changes::Changes;
use super::link::{Link, Query, values};
use super::{Failed, Order, catalog, claim, letter, prune, work};
use crate::{Admit, Advance, Part, PartOutcome};

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
        Part::DeleteLetter { id, by } => letter::delete(link, order, *id, by).await,
        Part::PutWorkflow(part) => catalog::put(link, order, part).await,
        Part::DeleteWorkflow { id } => catalog::delete(link, order, id).await,
        Part::Prune(part) => prune::prune(link, order, part).await,
        // These always fit into a group.
        Part::ClaimTimers(_) | Part::Begin(_) | Part::Release(_) => Err(Failed::no_row()),
    }
}

async fn admit(link: &mut Link, order: &Order, admit: &Admit) -> Result<PartOutcome, Failed> {
    if let Some(retry) = &admit.letter
        && let Some(refused) = letter::refuse_retry(link, retry).await?
    {
        // Other reasons come first.
        return Ok(refuse(link, order, admit).await?.unwrap_or(refused));
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
    if let Some(retry) = &admit.letter {
        letter::retry(link, order, retry, admit.row.id).await?;
    }
    let (new, settle) = (admit.new_letter.as_deref(), admit.settle.as_ref());
    letter::of_end(link, order, new, settle).await?;
    Ok(PartOutcome::Done)
}

/// Why an admission is refused, apart from its letter and its id.
pub(super) async fn refuse(
    link: &mut Link,
    order: &Order,
    admit: &Admit,
) -> Result<Option<PartOutcome>, Failed> {
    let key: Vec<i64> = link.key(&admit.row.workflow).into_iter().collect();
    let live = live(&link.ask(Query::new(WORKFLOWS, values![key])).await?)?;
    let claim = admit.claim.as_ref().map(|claim| (0, claim));
    let owners = owners_of(&link.ask(keys_of(claim.into_iter(), order)).await?)?;
    Ok(refusal(admit, link, &live, owners.get(&0)))
}

async fn advance(link: &mut Link, order: &Order, advance: &Advance) -> Result<PartOutcome, Failed> {
    let mut one = Advances::default();
    one.push(0, advance, Changes::default(), None);
    for query in one.queries(link, order) {
        if link.ask(query).await?.is_empty() {
            return Ok(PartOutcome::Conflict);
        }
    }
    work::change(link, advance.id, &advance.work).await?;
    let (new, settle) = (advance.new_letter.as_deref(), advance.settle.as_ref());
    letter::of_end(link, order, new, settle).await?;
    Ok(PartOutcome::Done)
}
