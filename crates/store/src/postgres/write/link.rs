//! A connection that commits: its prepared statements, and sending many of them without waiting in
//! between.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

use refire_core::definition::WorkflowId;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};

use super::Failed;
use crate::column::{Field, read_at};
use crate::postgres::connect::{ConnectError, connect, within};
use crate::postgres::options::Options;

/// The statements of commits find everything by its key, whatever the planner thinks of a table
/// that was empty when it looked: a plan that reads whole tables would be kept until somebody
/// analyses them. One plan per statement serves all sizes; where a plan could still turn a join
/// around, the statement names the keys once more, as one array.
const SESSION: &str = "SET plan_cache_mode = force_generic_plan;
    SET enable_seqscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET enable_bitmapscan = off;
    SET jit = off";

/// Workflows whose keys a connection remembers.
const WORKFLOWS_KNOWN_MAX: usize = 10_000;

const KEYS: &str = "SELECT id, key FROM workflows WHERE ns = 1 AND id = ANY($1::text[])";

/// A parameter of a statement.
pub(crate) type Value<'a> = Box<dyn ToSql + Sync + Send + 'a>;

/// A statement with its parameters.
pub(in crate::postgres) struct Query<'a> {
    sql: &'static str,
    values: Vec<Value<'a>>,
}

impl<'a> Query<'a> {
    pub(in crate::postgres) fn new(sql: &'static str, values: Vec<Value<'a>>) -> Self {
        Self { sql, values }
    }

    /// With its parameters in several lists.
    pub(super) fn of(sql: &'static str, values: impl IntoIterator<Item = Vec<Value<'a>>>) -> Self {
        Self::new(sql, values.into_iter().flatten().collect())
    }

    fn parameters(&self) -> Vec<&(dyn ToSql + Sync)> {
        let plain = self.values.iter();
        plain.map(|value| &**value as &(dyn ToSql + Sync)).collect()
    }
}

/// Boxes the parameters of a statement.
macro_rules! values {
    ($($value:expr),* $(,)?) => { vec![$(Box::new($value) as $crate::postgres::Value<'_>),*] };
}
pub(crate) use values;

/// See the module.
pub(in crate::postgres) struct Link {
    client: Client,
    prepared: HashMap<&'static str, Statement>,
    /// The short keys of workflows, which never change and are never taken away.
    keys: HashMap<WorkflowId, i64>,
    /// The keys of workflows that the transaction under way has made.
    keys_for_now: HashMap<WorkflowId, i64>,
    /// Whether a transaction may be open on it.
    is_in_doubt: bool,
}

/// An answer that is awaited.
type Answer<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Error>> + Send + 'a>>;

/// How sending a row of statements ended.
pub(in crate::postgres) enum Sent {
    /// All were sent; each with its answer.
    All(Vec<Result<Vec<Row>, Error>>),
    /// The last one was not sent.
    NotTheLast(Error),
}

impl Link {
    pub(in crate::postgres) async fn open(options: &Options) -> Result<Self, ConnectError> {
        let client = connect(options, "commits").await?;
        within(options, client.batch_execute(SESSION)).await?;
        Ok(Self {
            client,
            prepared: HashMap::new(),
            keys: HashMap::new(),
            keys_for_now: HashMap::new(),
            is_in_doubt: false,
        })
    }

    /// Whether it can be used for the next commit.
    pub(in crate::postgres) fn is_fit(&self) -> bool {
        !self.is_in_doubt && !self.client.is_closed()
    }

    /// Ends a transaction in which a statement failed or could not be sent.
    pub(super) async fn roll_back(&mut self) {
        if self.client.batch_execute("ROLLBACK").await.is_err() {
            self.is_in_doubt = true;
        }
    }

    /// Prepares what is not prepared yet: that takes an answer, which a row of statements must not
    /// wait for.
    pub(super) async fn prepare(&mut self, queries: &[Query<'_>]) -> Result<(), Error> {
        for query in queries {
            if !self.prepared.contains_key(query.sql) {
                let statement = self.client.prepare(query.sql).await?;
                self.prepared.insert(query.sql, statement);
            }
        }
        Ok(())
    }

    /// Sends prepared statements one behind the other, then reads their answers. If one cannot be
    /// sent, those behind it are not sent either.
    pub(super) async fn send(&self, queries: &[Query<'_>]) -> Sent {
        let mut waiting = Vec::with_capacity(queries.len());
        for (place, query) in queries.iter().enumerate() {
            let is_last = place + 1 == queries.len();
            let mut answer = self.answer(query);
            // The first look at it sends it.
            let first: Poll<_> =
                poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
            match first {
                // The last one may have been sent, and the connection broken, within one look.
                Poll::Ready(Err(error)) if error.code().is_none() && !is_last => {
                    return Sent::NotTheLast(error);
                }
                Poll::Ready(answered) => waiting.push(Err(answered)),
                Poll::Pending => waiting.push(Ok(answer)),
            }
        }
        let mut answers = Vec::with_capacity(waiting.len());
        for answer in waiting {
            answers.push(match answer {
                Ok(answer) => answer.await,
                Err(answered) => answered,
            });
        }
        Sent::All(answers)
    }

    fn answer<'a>(&'a self, query: &'a Query<'_>) -> Answer<'a> {
        let statement = &self.prepared[query.sql];
        Box::pin(async move { self.client.query(statement, &query.parameters()).await })
    }

    /// One statement and its rows.
    pub(in crate::postgres) async fn ask(&mut self, query: Query<'_>) -> Result<Vec<Row>, Error> {
        self.prepare(std::slice::from_ref(&query)).await?;
        let statement = &self.prepared[query.sql];
        self.client.query(statement, &query.parameters()).await
    }

    /// The rows that a question finds.
    pub(super) async fn rows<R: Field>(&mut self, query: Query<'_>) -> Result<Vec<R>, Failed> {
        let rows = self.ask(query).await?;
        let rows: Result<_, _> = rows.iter().map(|row| read_at(row, 0)).collect();
        Ok(rows?)
    }

    /// Learns the keys of these workflows, where they exist. Not inside a transaction.
    pub(super) async fn learn<'a>(
        &mut self,
        workflows: impl Iterator<Item = &'a WorkflowId>,
    ) -> Result<(), Error> {
        self.keys_for_now.clear();
        if self.keys.len() > WORKFLOWS_KNOWN_MAX {
            self.keys.clear();
        }
        let found = self.look_up(workflows).await?;
        self.keys.extend(found);
        Ok(())
    }

    /// The same inside a transaction: what it made itself is forgotten with it.
    pub(super) async fn learn_for_now<'a>(
        &mut self,
        workflows: impl Iterator<Item = &'a WorkflowId>,
    ) -> Result<(), Error> {
        let found = self.look_up(workflows).await?;
        // What the transaction has made before stays known.
        self.keys_for_now.extend(found);
        Ok(())
    }

    async fn look_up<'a>(
        &mut self,
        workflows: impl Iterator<Item = &'a WorkflowId>,
    ) -> Result<HashMap<WorkflowId, i64>, Error> {
        let mut unknown: Vec<&str> = workflows
            .filter(|id| !self.keys.contains_key(*id))
            .map(WorkflowId::as_str)
            .collect();
        unknown.sort_unstable();
        unknown.dedup();
        let mut found = HashMap::new();
        if unknown.is_empty() {
            return Ok(found);
        }
        for row in self.ask(Query::new(KEYS, values![unknown])).await? {
            if let Ok(id) = WorkflowId::kept(row.try_get::<_, &str>(0)?) {
                found.insert(id, row.try_get(1)?);
            }
        }
        Ok(found)
    }

    /// The key of a workflow that was learnt; absent = there is no such workflow.
    pub(super) fn key(&self, workflow: &WorkflowId) -> Option<i64> {
        let known = self.keys.get(workflow);
        known.or_else(|| self.keys_for_now.get(workflow)).copied()
    }
}
