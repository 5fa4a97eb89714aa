//! A store with very many executions, each of which has ended at its admission or waits: a condition is
//! false, or cannot be told, or nobody has room.

use futures_util::future::try_join_all;
use refire_core::definition::WorkflowId;
use refire_core::execution::{Trigger, TriggerKind};
use refire_core::id::{ExecutionId, TriggerId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_engine::Accepted;
use refire_store::Store;

use crate::prelude::*;

/// Executions that are listed.
pub(crate) const EXECUTIONS: usize = 1_000_000;
/// Dead letters that are listed afterwards.
const LETTERS: usize = 1_000_000;
const WORKFLOWS: usize = 20;
/// Every so manieth has a key.
const KEYED: usize = 100;
/// Every so manieth was started by a trigger that starts few.
const RARE: usize = 10_000;
/// Commits under way together.
const AT_ONCE: usize = 4;
/// Places of the list that are remembered.
const PLACES: usize = 1_000;

/// See the module.
pub(crate) struct Crowd {
    name: String,
    pub(crate) one: Embedded,
    /// A trigger that starts a third of all.
    pub(crate) busy: TriggerId,
    /// One that starts few.
    pub(crate) rare: TriggerId,
    /// Some of the executions, evenly spread.
    pub(crate) some: Vec<ExecutionId>,
    /// Dead letters so far.
    pub(crate) letters: usize,
    made: usize,
}

/// The key of the nth execution that has one.
pub(crate) fn key(n: usize) -> String {
    format!("order-{n}")
}

fn id_of(accepted: &Accepted) -> ExecutionId {
    match accepted {
        Accepted::New { id, .. } | Accepted::Duplicate { id, .. } => *id,
    }
}

fn definition(n: usize) -> String {
    format!(
        "id: crowd_{n:02}\nretry: {{ maxRetries: 1 }}\nsteps:\n  - id: call\n    type: http\n    \
         when: \"${{input.run}}\"\n    config: {{ url: 'http://127.0.0.1:1/' }}\n"
    )
}

impl Crowd {
    pub(crate) async fn start(name: &str, below: Arc<dyn Store>) -> anyhow::Result<Self> {
        let clock = Arc::new(SystemClock::new());
        let limits = embedded::no_room();
        let one = Embedded::start_on(below, clock, &definition(0), None, limits).await?;
        for n in 1..WORKFLOWS {
            let definitions = one.engine.definitions();
            definitions.apply(&definition(n), None, "bench").await?;
        }
        Ok(Self {
            name: name.to_owned(),
            one,
            busy: TriggerId::from_bytes([1; 16]),
            rare: TriggerId::from_bytes([2; 16]),
            some: Vec::new(),
            letters: 0,
            made: 0,
        })
    }

    pub(crate) fn workflow(&self, n: usize) -> WorkflowId {
        let name = format!("crowd_{n:02}");
        WorkflowId::new(name).unwrap_or_else(|_| self.one.workflow.clone())
    }

    /// One in ten becomes a dead letter, one in a thousand waits, the others complete.
    pub(crate) async fn fill_executions(&mut self) -> anyhow::Result<()> {
        let rest = EXECUTIONS - self.made;
        self.fill(rest, |n| match n % 1_000 {
            0 => "true",
            1..=100 => "\"perhaps\"",
            _ => "false",
        })
        .await
    }

    pub(crate) async fn fill_letters(&mut self) -> anyhow::Result<()> {
        let rest = LETTERS - self.letters;
        self.fill(rest, |_| "\"perhaps\"").await
    }

    async fn fill(&mut self, count: usize, run: fn(usize) -> &'static str) -> anyhow::Result<()> {
        let end = self.made + count;
        while self.made < end {
            if self.made.is_multiple_of(50 * TOGETHER) {
                say(format_args!(
                    "lists on {}: {} of {end} are there",
                    self.name, self.made
                ));
            }
            let chunks = (0..AT_ONCE).map(|chunk| {
                let first = self.made + chunk * TOGETHER;
                let numbers = first..(first + TOGETHER).min(end);
                self.one
                    .submit_all(numbers.map(|n| self.submission(n, run(n))).collect())
            });
            let accepted = try_join_all(chunks).await?.concat();
            let numbers = (self.made..).zip(&accepted);
            let every = EXECUTIONS / PLACES;
            let places = numbers.clone().filter(|(n, _)| n.is_multiple_of(every));
            self.some
                .extend(places.map(|(_, accepted)| id_of(accepted)));
            self.letters += numbers.filter(|(n, _)| run(*n) == "\"perhaps\"").count();
            self.made += accepted.len();
        }
        Ok(())
    }

    /// What the nth execution is started with.
    pub(crate) fn submission(&self, n: usize, run: &str) -> Submission {
        let text = "x".repeat(400);
        let input = format!(r#"{{"run":{run},"number":{n},"text":"{text}"}}"#);
        let input = Json::parse(input).unwrap_or_else(|_| Json::empty_object());
        let mut trigger = Trigger::manual(None);
        if n.is_multiple_of(3) {
            (trigger.kind, trigger.id) = (TriggerKind::Webhook, Some(self.busy.to_string()));
        }
        if n % RARE == 1 {
            (trigger.kind, trigger.id) = (TriggerKind::Cron, Some(self.rare.to_string()));
        }
        let is_keyed = n % KEYED == 2 && n < EXECUTIONS;
        Submission {
            trigger,
            idempotency_key: is_keyed.then(|| key(n / KEYED)),
            ..Submission::manual(self.workflow(n % WORKFLOWS), input)
        }
    }

    /// A place of the list; the first is its beginning.
    pub(crate) fn place(&self, n: usize) -> Option<ExecutionId> {
        let step = (n * 37) % self.some.len().max(1);
        self.some.get(step).copied().filter(|_| n > 0)
    }

    /// A second in the middle.
    pub(crate) fn second(&self) -> (Timestamp, Timestamp) {
        let middle = self
            .some
            .get(self.some.len() / 2)
            .map_or(0, ExecutionId::unix_ms);
        let from = Timestamp::from_millis(i64::try_from(middle).unwrap_or(0));
        (from, from.plus(Duration::from_secs(1)))
    }

    pub(crate) async fn stop(self) {
        self.one.stop().await;
    }
}
