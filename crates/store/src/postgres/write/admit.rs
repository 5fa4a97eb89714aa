//! New executions, many in a few statements: their keys first, then themselves.
//!
//! A key is taken in one statement and looked at in the next, because a statement that lost a key to
//! a commit in flight cannot see who won.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use refire_core::id::{ExecutionId, TriggerId};
use tokio_postgres::{Error, Row};
use uuid::Uuid;

use super::Order;
use super::advance::ids;
use super::arrays::{Parameter, columns, statement};
use super::changes::Changes;
use super::ledger::id_of;
use super::link::{Link, Query, Value, values};
use super::request::Requests;
use super::rows::{Events, Puts, Updates};
use crate::postgres::columns::{signed, signed_small, uuid};
use crate::words::in_ring;
use crate::{Admit, IdempotencyClaim, PartOutcome};

/// Takes the keys that are free, whose time is over, or whose owner is the one from which the caller may
/// take them, for what is not refused for another reason.
static TAKE_KEYS: LazyLock<String> = LazyLock::new(|| {
    let text = "INSERT INTO idempotency (scope, key_hash, body_hash, execution, expires_at)
    SELECT given.scope, given.key_hash, given.body_hash, given.execution, given.expires_at
      FROM {claims} JOIN workflows ON workflows.key = given.workflow
     WHERE workflows.deleted_at IS NULL
       AND (NOT given.only_newest OR workflows.version = given.workflow_version)
       AND (SELECT true FROM executions WHERE executions.id = given.execution) IS NULL
       AND (given.trigger IS NULL OR (SELECT enabled AND version = given.trigger_version
             FROM workflow_triggers WHERE id = given.trigger))
     ORDER BY given.scope COLLATE \"C\", given.key_hash
    ON CONFLICT (ns, scope, key_hash) DO UPDATE SET body_hash = excluded.body_hash,
        execution = excluded.execution, expires_at = excluded.expires_at
     WHERE idempotency.expires_at <= {now}
        OR ((idempotency.execution = ANY({claims.over})) IS TRUE
            AND idempotency.execution = (SELECT over FROM unnest({claims.execution}, {claims.over})
                AS claimed (execution, over) WHERE claimed.execution = excluded.execution))";
    let claims = Parameter::Arrays("claims", Claims::COLUMNS);
    statement(text, &[claims, Parameter::One("now")])
});

/// Who has the keys, apart from those from whom they may be taken.
static KEYS: LazyLock<String> = LazyLock::new(|| {
    let text = "SELECT given.place, owner.execution, owner.body_hash FROM {keys}
     CROSS JOIN LATERAL (
        SELECT execution, body_hash, expires_at FROM idempotency
         WHERE ns = 1 AND scope = given.scope AND key_hash = given.key_hash OFFSET 0
     ) AS owner
     WHERE owner.expires_at > {now} AND owner.execution IS DISTINCT FROM given.over";
    let keys = Parameter::Arrays("keys", Keys::COLUMNS);
    statement(text, &[keys, Parameter::One("now")])
});

/// One statement, with what goes before it, what is asked beside the rest, and what follows it.
macro_rules! admits {
    ($head:literal, $asked:literal, $tail:expr) => {
        concat!(
            "WITH ", $head, "admitted AS (
        INSERT INTO executions (id, workflow, workflow_version, version, commit_id, status, phase,
            trigger, priority, created_at, updated_at, retry_count, next_retry_at, parent, root,
            snapshot_version, snapshot_crc, snapshot)
        SELECT given.id, given.workflow, given.workflow_version, given.version, {commit},
            given.status, given.phase, given.trigger, given.priority, given.created_at,
            given.updated_at, given.retry_count, given.next_retry_at, given.parent, given.root,
            CASE WHEN given.snapshot IS NULL THEN 0 ELSE given.version END, given.snapshot_crc,
            given.snapshot
          FROM {starts+updates} JOIN workflows ON workflows.key = given.workflow
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

const PARAMETERS: [Parameter; 7] = [
    Parameter::Arrays("starts", Starts::COLUMNS),
    Parameter::One("commit"),
    Parameter::Arrays("updates", Updates::COLUMNS),
    Parameter::Arrays("events", Events::COLUMNS),
    Parameter::Arrays("work", Puts::COLUMNS),
    Parameter::Arrays("guards", Guards::COLUMNS),
    Parameter::Arrays("requests", Requests::COLUMNS),
];

static ADMIT: LazyLock<String> = LazyLock::new(|| statement(admits!("", "", ""), &PARAMETERS));

/// The same for what triggers start: not if the trigger has changed, or if it was not fired. The
/// requests are written along with it.
static ADMIT_BY_TRIGGERS: LazyLock<String> = LazyLock::new(|| {
    let text = admits!(
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
        INSERT INTO webhook_requests ({requests.names!of}) SELECT {requests.given!of}
          FROM {requests} WHERE (given.of IN (SELECT id FROM admitted)) IS TRUE
        ON CONFLICT (id) DO UPDATE SET {requests.replaced!of,id} WHERE ",
            in_ring!(),
            "
     )"
        )
    );
    statement(text, &PARAMETERS)
});

columns! {
    /// Uses of keys, with what else an admission may be refused for.
    struct Claims(link: &Link, admit: &'a Admit, claim: &'a IdempotencyClaim) {
        scope: &'a str = &claim.scope,
        key_hash: &'a [u8] = &claim.key_hash,
        body_hash: &'a [u8] = &claim.body_hash,
        execution: Uuid = id_of(&admit.row.id),
        expires_at: i64 = claim.expires_at.as_micros(),
        workflow: Option<i64> = link.key(&admit.row.workflow),
        workflow_version: i32 = signed_small(admit.row.workflow_version),
        only_newest: bool = admit.only_newest,
        trigger: Option<Uuid> = admit.trigger.as_ref().map(|it| uuid(it.id.as_bytes())),
        trigger_version: Option<i32> = admit.trigger.as_ref().map(|it| signed_small(it.version)),
        over: Option<Uuid> = claim.over.as_ref().map(id_of),
    }
}

columns! {
    /// Keys that are asked for, each with the place of its part.
    struct Keys(place: usize, claim: &'a IdempotencyClaim) {
        scope: &'a str = &claim.scope,
        key_hash: &'a [u8] = &claim.key_hash,
        place: i64 = signed(place as u64),
        over: Option<Uuid> = claim.over.as_ref().map(id_of),
    }
}

columns! {
    /// What of a new execution no later commit changes, and what it may be refused for.
    struct Starts(link: &Link, admit: &'a Admit) {
        id: Uuid = id_of(&admit.row.id),
        workflow: Option<i64> = link.key(&admit.row.workflow),
        workflow_version: i32 = signed_small(admit.row.workflow_version),
        trigger: &'static str = admit.row.trigger,
        priority: i16 = admit.row.priority.into(),
        created_at: i64 = admit.row.created_at.as_micros(),
        parent: Option<Uuid> = admit.row.parent.as_ref().map(id_of),
        root: Uuid = id_of(&admit.row.root),
        only_newest: bool = admit.only_newest,
        scope: Option<&'a str> = admit.claim.as_ref().map(|claim| claim.scope.as_str()),
        key_hash: Option<&'a [u8]> = admit.claim.as_ref().map(|claim| &claim.key_hash[..]),
    }
}

columns! {
    /// The triggers that executions depend on; without a version, one that was fired in this commit.
    struct Guards(execution: &ExecutionId, trigger: &TriggerId, version: Option<u32>) {
        execution: Uuid = id_of(execution),
        trigger: Uuid = uuid(trigger.as_bytes()),
        version: Option<i32> = version.map(signed_small),
    }
}

/// What refusals are about. The locks of the commit keep this true to its end.
pub(super) const WORKFLOWS: &str =
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

    fn claims(&self) -> impl Iterator<Item = (usize, &'a Admit, &'a IdempotencyClaim)> {
        self.parts.iter().filter_map(|(place, admit, _)| {
            let claim = admit.claim.as_ref()?;
            Some((*place, *admit, claim))
        })
    }

    fn has_guards(&self) -> bool {
        self.parts
            .iter()
            .any(|(_, admit, _)| admit.trigger.is_some())
    }

    /// Two statements, two more if there are keys, one more for triggers. Their answers are for [`Self::read`].
    pub(super) fn queries(&mut self, link: &Link, order: &Order) -> Vec<Query<'a>> {
        self.parts
            .sort_unstable_by_key(|(_, admit, _)| admit.row.id);
        let mut queries = Vec::with_capacity(5);
        if self.claims().next().is_some() {
            queries.push(self.take_keys(link, order));
            queries.push(keys_of(
                self.claims().map(|(place, _, claim)| (place, claim)),
                order,
            ));
        }
        queries.push(self.admit(link, order));
        let workflows = self.parts.iter().map(|(_, admit, _)| admit);
        let mut workflows: Vec<i64> = workflows
            .filter_map(|admit| link.key(&admit.row.workflow))
            .collect();
        workflows.sort_unstable();
        workflows.dedup();
        queries.push(Query::new(WORKFLOWS, values![workflows]));
        if self.has_guards() {
            queries.push(triggers_of(self.parts.iter().map(|(_, admit, _)| *admit)));
        }
        queries
    }

    fn take_keys(&self, link: &Link, order: &Order) -> Query<'a> {
        let mut claims = Claims::default();
        for (_, admit, claim) in self.claims() {
            claims.push(link, admit, claim);
        }
        let mut values = claims.values();
        values.extend(values![order.now.as_micros()]);
        Query::new(&TAKE_KEYS, values)
    }

    fn admit(&self, link: &Link, order: &Order) -> Query<'a> {
        let (mut starts, mut updates) = (Starts::default(), Updates::default());
        let (mut events, mut puts) = (Events::default(), Puts::default());
        for (_, admit, changes) in &self.parts {
            let row = &admit.row;
            starts.push(link, admit);
            updates.push(row.id, &row.update);
            events.extend(row.id, &admit.events);
            for row in changes.puts() {
                puts.push(link, row);
            }
        }
        let mut values = starts.values();
        values.extend(values![order.commit]);
        values.extend(updates.values());
        values.extend(events.values());
        values.extend(puts.values());
        let by_triggers = self.by_triggers();
        if by_triggers.is_empty() {
            return Query::new(&ADMIT, values);
        }
        values.extend(by_triggers);
        Query::new(&ADMIT_BY_TRIGGERS, values)
    }

    /// What triggers have to do with them, as columns; none if that is nothing.
    fn by_triggers(&self) -> Vec<Value<'a>> {
        let (mut guards, mut requests) = (Guards::default(), Requests::default());
        for (execution, trigger) in &self.fired {
            guards.push(execution, trigger, None);
        }
        for (_, admit, _) in &self.parts {
            if let Some(trigger) = &admit.trigger {
                guards.push(&admit.row.id, &trigger.id, Some(trigger.version));
            }
            if let Some(request) = &admit.request {
                requests.push(Some(admit.row.id), request);
            }
        }
        if guards.execution.is_empty() && requests.is_empty() {
            return Vec::new();
        }
        let mut values = guards.values();
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
        let mut owners = HashMap::new();
        if self.claims().next().is_some() {
            answers.next();
            owners = owners_of(&answers.next().unwrap_or_default())?;
        }
        let admitted = ids(&answers.next().unwrap_or_default())?;
        let live = live(&answers.next().unwrap_or_default())?;
        let mut current = Current::new();
        if self.has_guards() {
            current = read_current(&answers.next().unwrap_or_default())?;
        }
        for (place, admit, _) in &self.parts {
            if outcomes[*place].is_some() {
                // Its trigger was not fired.
                continue;
            }
            let outcome = if admitted.contains(&uuid(admit.row.id.as_bytes())) {
                PartOutcome::Done
            } else {
                let refusal = refusal(admit, link, &live, &current, owners.get(place));
                refusal.unwrap_or(PartOutcome::Conflict)
            };
            outcomes[*place] = Some(outcome);
        }
        Ok(())
    }
}

/// Who has a key: the execution, and the hash of its body.
type Owner = (ExecutionId, Vec<u8>);

/// Asks who has these keys; for [`owners_of`].
pub(super) fn keys_of<'a>(
    claims: impl Iterator<Item = (usize, &'a IdempotencyClaim)>,
    order: &Order,
) -> Query<'a> {
    let mut keys = Keys::default();
    for (place, claim) in claims {
        keys.push(place, claim);
    }
    let mut values = keys.values();
    values.extend(values![order.now.as_micros()]);
    Query::new(&KEYS, values)
}

/// By the part's place.
pub(super) fn owners_of(rows: &[Row]) -> Result<HashMap<usize, Owner>, Error> {
    let mut owners = HashMap::with_capacity(rows.len());
    for row in rows {
        let place: i64 = row.try_get(0)?;
        let execution = ExecutionId::from_bytes(row.try_get::<_, Uuid>(1)?.into_bytes());
        owners.insert(
            usize::try_from(place).unwrap_or(usize::MAX),
            (execution, row.try_get(2)?),
        );
    }
    Ok(owners)
}

/// The newest versions of workflows that are not deleted, by their keys.
pub(super) fn live(rows: &[Row]) -> Result<HashMap<i64, i32>, Error> {
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}

/// The versions of triggers that are enabled.
pub(super) type Current = HashSet<(Uuid, i32)>;

/// Asks for the triggers that admissions were decided by; for [`read_current`].
pub(super) fn triggers_of<'a>(admits: impl Iterator<Item = &'a Admit>) -> Query<'a> {
    let triggers = admits.filter_map(|admit| admit.trigger.as_ref());
    let mut triggers: Vec<Uuid> = triggers.map(|it| uuid(it.id.as_bytes())).collect();
    triggers.sort_unstable();
    triggers.dedup();
    Query::new(TRIGGERS, values![triggers])
}

pub(super) fn read_current(rows: &[Row]) -> Result<Current, Error> {
    rows.iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)))
        .collect()
}

/// Why an admission is refused, by what is asked before anything is written.
pub(super) fn refusal(
    admit: &Admit,
    link: &Link,
    live: &HashMap<i64, i32>,
    current: &Current,
    owner: Option<&Owner>,
) -> Option<PartOutcome> {
    let key = link.key(&admit.row.workflow);
    let Some(newest) = key.and_then(|key| live.get(&key)) else {
        return Some(PartOutcome::NoSuchWorkflow);
    };
    if let Some(trigger) = &admit.trigger
        && !current.contains(&(uuid(trigger.id.as_bytes()), signed_small(trigger.version)))
    {
        return Some(PartOutcome::TriggerMoved);
    }
    if let (Some(claim), Some((execution, body_hash))) = (&admit.claim, owner) {
        return Some(PartOutcome::Duplicate {
            execution: *execution,
            body_differs: body_hash[..] != claim.body_hash[..],
        });
    }
    let is_old = admit.only_newest && *newest != signed_small(admit.row.workflow_version);
    is_old.then_some(PartOutcome::NotNewest)
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
