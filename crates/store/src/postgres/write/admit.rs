//! New executions, many in a few statements: their keys first, then themselves.
//!
//! A key is taken in one statement and looked at in the next, because a statement that lost a key to
//! a commit in flight cannot see who won.

use std::collections::{BTreeSet, HashMap, HashSet};

use refire_core::id::{ExecutionId, TriggerId};
use tokio_postgres::{Error, Row};
use uuid::Uuid;

use super::Order;
use super::advance::ids;
use super::changes::Changes;
use super::link::{Link, Query, Value, values};
use crate::postgres::columns::{signed, signed_small, uuid};
use crate::table::column::{Id, columns};
use crate::table::rows::{Events, KeyClaims, Requests, Starts, Updates, Work};
use crate::table::statement::statements;
use crate::words::in_ring;
use crate::{Admit, IdempotencyClaim, PartOutcome};

/// One statement, with what goes before it, what is asked beside the rest, and what follows it.
macro_rules! admits {
    ($head:literal, $asked:literal, $tail:expr) => {
        concat!(
            "WITH ",
            $head,
            "admitted AS (
        INSERT INTO executions ({starts.names}, {updates.names}, commit_id, snapshot_version)
        SELECT {starts.given}, {updates.given}, {commit},
            CASE WHEN given.snapshot IS NULL THEN 0 ELSE given.version END
          FROM {starts+conditions+updates} JOIN workflows ON workflows.key = given.workflow
         WHERE workflows.deleted_at IS NULL
           AND (NOT given.only_newest OR workflows.version = given.workflow_version)
           AND (given.scope IS NULL OR given.id = (SELECT execution FROM idempotency
                 WHERE ns = 1 AND scope = given.scope AND key_hash = given.key_hash))",
            $asked,
            "
        ON CONFLICT (id) DO NOTHING
        RETURNING id
     ), events AS (
        INSERT INTO workflow_events ({events.names}) SELECT * FROM {events}
         WHERE (given.execution IN (SELECT id FROM admitted)) IS TRUE
     ), put AS (
        INSERT INTO work ({work.names}) SELECT * FROM {work}
         WHERE (given.execution IN (SELECT id FROM admitted)) IS TRUE
     )",
            $tail,
            "
     SELECT id FROM admitted"
        )
    };
}

statements! {
    /// Takes the keys that are free, whose time is over, or whose owner is the one from which the caller
    /// may take them, for what is not refused for another reason.
    TAKE_KEYS: postgres(keys: KeyClaims, claims: Claims, now) =
        "INSERT INTO idempotency ({keys.names}) SELECT {keys.given}
      FROM {keys+claims} JOIN workflows ON workflows.key = given.workflow
     WHERE workflows.deleted_at IS NULL
       AND (NOT given.only_newest OR workflows.version = given.workflow_version)
       AND (SELECT true FROM executions WHERE executions.id = given.execution) IS NULL
       AND (given.trigger IS NULL OR (SELECT enabled AND version = given.trigger_version
             FROM workflow_triggers WHERE id = given.trigger))
     ORDER BY given.scope COLLATE \"C\", given.key_hash
    ON CONFLICT (ns, scope, key_hash) DO UPDATE SET {keys.replaced!scope,key_hash}
     WHERE idempotency.expires_at <= {now}
        OR ((idempotency.execution = ANY({claims.over})) IS TRUE
            AND idempotency.execution = (SELECT over FROM unnest({keys.execution}, {claims.over})
                AS claimed (execution, over) WHERE claimed.execution = excluded.execution))";

    /// Who has the keys, apart from those from whom they may be taken.
    KEYS: postgres(keys: Keys, now) =
        "SELECT given.place, owner.execution, owner.body_hash FROM {keys}
     CROSS JOIN LATERAL (
        SELECT execution, body_hash, expires_at FROM idempotency
         WHERE ns = 1 AND scope = given.scope AND key_hash = given.key_hash OFFSET 0
     ) AS owner
     WHERE owner.expires_at > {now} AND owner.execution IS DISTINCT FROM given.over";

    ADMIT: postgres(starts: Starts, conditions: Conditions, commit, updates: Updates, events: Events,
        work: Work) = admits!("", "", "");

    /// The same for what triggers start: not if the trigger has changed, or if it was not fired. The
    /// requests are written along with it.
    ADMIT_BY_TRIGGERS: postgres(starts: Starts, conditions: Conditions, commit, updates: Updates,
        events: Events, work: Work, guards: Guards, of: Of, requests: Requests) = admits!(
        "barred AS MATERIALIZED (
        SELECT given.execution FROM {guards}
         WHERE CASE WHEN given.version IS NULL
            THEN (SELECT fired = given.execution FROM trigger_state
                   WHERE trigger_state.trigger = given.trigger)
            ELSE (SELECT enabled AND workflow_triggers.version = given.version
                    FROM workflow_triggers WHERE id = given.trigger)
            END IS NOT TRUE
     ), ",
        "
           AND (given.id IN (SELECT execution FROM barred)) IS NOT TRUE",
        concat!(
            ", requests AS (
        INSERT INTO webhook_requests ({requests.names}) SELECT {requests.given}
          FROM {of+requests} WHERE (given.of IN (SELECT id FROM admitted)) IS TRUE
        ON CONFLICT (id) DO UPDATE SET {requests.replaced!id} WHERE ",
            in_ring!(),
            "
     )"
        )
    );
}

columns! {
    /// What else the use of a key may be refused for.
    struct Claims(link: &Link, admit: &'a Admit, claim: &'a IdempotencyClaim) {
        workflow: Option<i64> = link.key(&admit.row.workflow),
        workflow_version: i32 = signed_small(admit.row.workflow_version),
        only_newest: bool = admit.only_newest,
        trigger: Option<Id> = admit.trigger.as_ref().map(|it| it.id.into()),
        trigger_version: Option<i32> = admit.trigger.as_ref().map(|it| signed_small(it.version)),
        over: Option<Id> = claim.over.map(Id::from),
    }
}

columns! {
    /// Keys that are asked for, each with the place of its part.
    struct Keys(place: usize, claim: &'a IdempotencyClaim) {
        scope: &'a str = &claim.scope,
        key_hash: &'a [u8] = &claim.key_hash,
        place: i64 = signed(place as u64),
        over: Option<Id> = claim.over.map(Id::from),
    }
}

columns! {
    /// What an admission may be refused for.
    struct Conditions(admit: &'a Admit) {
        only_newest: bool = admit.only_newest,
        scope: Option<&'a str> = admit.claim.as_ref().map(|claim| claim.scope.as_str()),
        key_hash: Option<&'a [u8]> = admit.claim.as_ref().map(|claim| &claim.key_hash[..]),
    }
}

columns! {
    /// The triggers that executions depend on; without a version, one that was fired in this commit.
    struct Guards(execution: ExecutionId, trigger: TriggerId, version: Option<u32>) {
        execution: Id = execution.into(),
        trigger: Id = trigger.into(),
        version: Option<i32> = version.map(signed_small),
    }
}

columns! {
    /// The executions that rows belong to.
    pub(super) struct Of(execution: ExecutionId) {
        of: Id = execution.into(),
    }
}

impl Of<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }
}

/// What refusals are about. The locks of the commit keep this true to its end.
const WORKFLOWS: &str =
    "SELECT key, version FROM workflows WHERE key = ANY($1::bigint[]) AND deleted_at IS NULL";

/// The triggers that are enabled, with their versions. The locks of the commit keep this true to its
/// end.
const TRIGGERS: &str =
    "SELECT id, version FROM workflow_triggers WHERE id = ANY($1::uuid[]) AND enabled";

/// Admissions that few statements write: different ids, different keys, nothing about letters.
#[derive(Default)]
pub(super) struct Admits<'a> {
    parts: Vec<(usize, &'a Admit, Changes<'a>)>,
    /// Executions that are admitted only if their trigger was fired in this commit.
    fired: Vec<(ExecutionId, TriggerId)>,
}

impl<'a> Admits<'a> {
    pub(super) fn push(&mut self, place: usize, admit: &'a Admit, changes: Changes<'a>) {
        self.parts.push((place, admit, changes));
    }

    /// The same for one that is admitted only if this trigger was fired in this commit.
    pub(super) fn push_fired(
        &mut self,
        place: usize,
        trigger: TriggerId,
        admit: &'a Admit,
        changes: Changes<'a>,
    ) {
        self.fired.push((admit.row.id, trigger));
        self.push(place, admit, changes);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    fn claims(&self) -> impl Iterator<Item = (&'a Admit, &'a IdempotencyClaim)> {
        let parts = self.parts.iter();
        parts.filter_map(|(_, admit, _)| Some((*admit, admit.claim.as_ref()?)))
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = &'a Admit> {
        self.parts.iter().map(|(_, admit, _)| *admit)
    }

    /// With their places.
    fn admits(&self) -> impl Iterator<Item = (usize, &'a Admit)> + Clone {
        self.parts.iter().map(|(place, admit, _)| (*place, *admit))
    }

    /// Two statements, two more if there are keys, one more for triggers. Their answers are for [`Self::read`].
    pub(super) fn queries(&mut self, link: &Link, order: &Order) -> Vec<Query<'a>> {
        self.parts
            .sort_unstable_by_key(|(_, admit, _)| admit.row.id);
        let mut queries = Vec::with_capacity(5);
        if self.claims().next().is_some() {
            queries.push(self.take_keys(link, order));
        }
        queries.push(self.admit(link, order));
        queries.extend(Facts::queries(self.admits(), link, order));
        queries
    }

    fn take_keys(&self, link: &Link, order: &Order) -> Query<'a> {
        let (mut keys, mut claims) = (KeyClaims::default(), Claims::default());
        for (admit, claim) in self.claims() {
            keys.push(claim, admit.row.id);
            claims.push(link, admit, claim);
        }
        let now = values![order.now.as_micros()];
        Query::of(&TAKE_KEYS, [keys.values(), claims.values(), now])
    }

    fn admit(&self, link: &Link, order: &Order) -> Query<'a> {
        let (mut starts, mut conditions) = (Starts::default(), Conditions::default());
        let (mut updates, mut events) = (Updates::default(), Events::default());
        let mut work = Work::default();
        for (_, admit, changes) in &self.parts {
            let row = &admit.row;
            starts.push(link.key(&row.workflow), row);
            conditions.push(admit);
            updates.push(row.id, &row.update);
            for event in &admit.events {
                events.push(row.id, event);
            }
            for row in changes.puts() {
                work.push(link.key(&row.workflow), row);
            }
        }
        let by_triggers = self.by_triggers();
        let sql = match by_triggers.is_empty() {
            true => &ADMIT,
            false => &ADMIT_BY_TRIGGERS,
        };
        let (start, commit) = (starts.values(), values![order.commit]);
        let rest = [
            updates.values(),
            events.values(),
            work.values(),
            by_triggers,
        ];
        let all = [start, conditions.values(), commit].into_iter().chain(rest);
        Query::of(sql, all)
    }

    /// What triggers have to do with them, as columns; none if that is nothing.
    fn by_triggers(&self) -> Vec<Value<'a>> {
        let (mut guards, mut of, mut requests) =
            (Guards::default(), Of::default(), Requests::default());
        for (execution, trigger) in &self.fired {
            guards.push(*execution, *trigger, None);
        }
        for (_, admit, _) in &self.parts {
            if let Some(trigger) = &admit.trigger {
                guards.push(admit.row.id, trigger.id, Some(trigger.version));
            }
            if let Some(request) = &admit.request {
                of.push(admit.row.id);
                requests.push(request);
            }
        }
        if guards.execution.is_empty() && of.is_empty() {
            return Vec::new();
        }
        let mut values = guards.values();
        values.extend(of.values());
        values.extend(requests.values());
        values
    }

    /// Reads the answers to [`Self::queries`].
    pub(super) fn read(
        &self,
        link: &Link,
        answers: &mut impl Iterator<Item = Vec<Row>>,
        outcomes: &mut [Option<PartOutcome>],
    ) -> Result<(), Error> {
        if self.claims().next().is_some() {
            answers.next();
        }
        let admitted = ids(&answers.next().unwrap_or_default())?;
        let facts = Facts::read(self.admits(), answers)?;
        for (place, admit, _) in &self.parts {
            if outcomes[*place].is_some() {
                // Its trigger was not fired.
                continue;
            }
            let outcome = if admitted.contains(&uuid(admit.row.id.as_bytes())) {
                PartOutcome::Done
            } else {
                let refusal = facts.refusal(*place, admit, link);
                refusal.unwrap_or(PartOutcome::Conflict)
            };
            outcomes[*place] = Some(outcome);
        }
        Ok(())
    }
}

/// What admissions are refused for. The locks of the commit keep it true to its end.
#[derive(Default)]
struct Facts {
    /// Who has the keys, by the places of parts: the execution, and the hash of its body.
    owners: HashMap<usize, (ExecutionId, Vec<u8>)>,
    /// The newest versions of workflows that are not deleted, by their keys.
    live: HashMap<i64, i32>,
    /// The versions of triggers that are enabled.
    current: HashSet<(Uuid, i32)>,
}

impl Facts {
    /// Asks about keys and triggers only where there are some; for [`Self::read`].
    fn queries<'a>(
        admits: impl Iterator<Item = (usize, &'a Admit)>,
        link: &Link,
        order: &Order,
    ) -> Vec<Query<'a>> {
        let mut keys = Keys::default();
        let (mut workflows, mut triggers) = (BTreeSet::new(), BTreeSet::new());
        for (place, admit) in admits {
            if let Some(claim) = &admit.claim {
                keys.push(place, claim);
            }
            workflows.extend(link.key(&admit.row.workflow));
            triggers.extend(admit.trigger.as_ref().map(|it| uuid(it.id.as_bytes())));
        }
        let mut queries = Vec::with_capacity(3);
        if !keys.place.is_empty() {
            let now = values![order.now.as_micros()];
            queries.push(Query::of(&KEYS, [keys.values(), now]));
        }
        let workflows: Vec<i64> = workflows.into_iter().collect();
        queries.push(Query::new(WORKFLOWS, values![workflows]));
        if !triggers.is_empty() {
            let triggers: Vec<Uuid> = triggers.into_iter().collect();
            queries.push(Query::new(TRIGGERS, values![triggers]));
        }
        queries
    }

    fn read<'a>(
        mut admits: impl Iterator<Item = (usize, &'a Admit)> + Clone,
        answers: &mut impl Iterator<Item = Vec<Row>>,
    ) -> Result<Self, Error> {
        let mut facts = Self::default();
        let mut next = || answers.next().unwrap_or_default();
        if admits.clone().any(|(_, admit)| admit.claim.is_some()) {
            for row in next() {
                let place = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or(usize::MAX);
                let execution = ExecutionId::from_bytes(row.try_get::<_, Uuid>(1)?.into_bytes());
                facts.owners.insert(place, (execution, row.try_get(2)?));
            }
        }
        for row in next() {
            facts.live.insert(row.try_get(0)?, row.try_get(1)?);
        }
        if admits.any(|(_, admit)| admit.trigger.is_some()) {
            for row in next() {
                facts.current.insert((row.try_get(0)?, row.try_get(1)?));
            }
        }
        Ok(facts)
    }

    /// Why an admission is refused, apart from its letter and its id.
    fn refusal(&self, place: usize, admit: &Admit, link: &Link) -> Option<PartOutcome> {
        let key = link.key(&admit.row.workflow);
        let Some(newest) = key.and_then(|key| self.live.get(&key)) else {
            return Some(PartOutcome::NoSuchWorkflow);
        };
        if let Some(trigger) = &admit.trigger {
            let wanted = (uuid(trigger.id.as_bytes()), signed_small(trigger.version));
            if !self.current.contains(&wanted) {
                return Some(PartOutcome::TriggerMoved);
            }
        }
        if let (Some(claim), Some((execution, body_hash))) = (&admit.claim, self.owners.get(&place))
        {
            return Some(PartOutcome::Duplicate {
                execution: *execution,
                body_differs: body_hash[..] != claim.body_hash[..],
            });
        }
        let is_old = admit.only_newest && *newest != signed_small(admit.row.workflow_version);
        is_old.then_some(PartOutcome::NotNewest)
    }
}

/// Why admissions that are not there, or are not to be, are refused, apart from their letters and ids; by
/// their places.
pub(super) async fn refusals(
    link: &mut Link,
    order: &Order,
    admits: &[(usize, &Admit)],
) -> Result<HashMap<usize, PartOutcome>, Error> {
    let mut answers = Vec::new();
    for query in Facts::queries(admits.iter().copied(), link, order) {
        answers.push(link.ask(query).await?);
    }
    let facts = Facts::read(admits.iter().copied(), &mut answers.into_iter())?;
    let why = |(place, admit): &(usize, &Admit)| {
        let refused = facts.refusal(*place, admit, link)?;
        Some((*place, refused))
    };
    Ok(admits.iter().filter_map(why).collect())
}

/// The keys of the admissions in one group.
#[derive(Default)]
pub(super) struct UsedKeys<'a>(HashSet<(&'a str, &'a [u8; 16])>);

impl<'a> UsedKeys<'a> {
    pub(super) fn contain(&self, claim: Option<&'a IdempotencyClaim>) -> bool {
        claim.is_some_and(|claim| self.0.contains(&(claim.scope.as_str(), &claim.key_hash)))
    }

    pub(super) fn insert(&mut self, claim: Option<&'a IdempotencyClaim>) {
        self.0
            .extend(claim.map(|claim| (claim.scope.as_str(), &claim.key_hash)));
    }
}
