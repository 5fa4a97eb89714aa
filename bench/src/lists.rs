//! Lists of executions and dead letters where there are very many, asked of the store: how long a page takes
//! from any place of the list, and what the index of triggers costs those that it is kept for.

mod admissions;
mod crowd;

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};
use refire_store::postgres::Scratch;
use refire_store::{
    COUNTED_MAX, ExecutionFilter, Executions, LetterFilter, Letters, OfWorkflow, Store, Stretch,
};

use crate::prelude::*;
use admissions::Index;
use crowd::{Crowd, EXECUTIONS};

/// Times that each question is asked, each time from another place of the list.
const QUESTIONS: usize = 100;
/// The same where each takes long.
const LONG_QUESTIONS: usize = 20;
/// Rows of a page, and the one that tells whether there is another.
const PAGE: u32 = 51;

/// Prints `LISTS` on SQLite.
pub(crate) async fn report() -> anyhow::Result<()> {
    let dir = place::fresh()?;
    let store = embedded::sqlite(dir.path(), &SystemClock::new())?;
    let index = Index::of_sqlite(dir.path())?;
    measure("sqlite", 50.0, store, index).await
}

/// Prints `LISTS` on PostgreSQL.
pub(crate) async fn on_postgres() -> anyhow::Result<()> {
    let scratch = Scratch::new();
    let store = crate::postgres::open(&scratch).await?;
    let index = Index::of_postgres(&scratch.url()).await?;
    measure("postgres", 100.0, store, index).await
}

async fn measure(
    name: &str,
    goal_ms: f64,
    below: Arc<dyn Store>,
    mut index: Index,
) -> anyhow::Result<()> {
    let mut crowd = Crowd::start(name, below).await?;
    crowd.fill_executions().await?;
    index.settle().await?;
    for (subject, filter) in filters(&crowd) {
        let asks = Asks {
            store: name,
            crowd: &crowd,
            goal_ms: Some(goal_ms).filter(|_| !subject.starts_with("unindexed")),
        };
        asks.list(subject, &filter).await?;
        asks.count(subject, &filter).await?;
    }
    by_key(name, goal_ms, &crowd).await?;
    admissions::report(name, &crowd, &mut index).await?;
    crowd.fill_letters().await?;
    index.settle().await?;
    letters(name, &crowd).await?;
    crowd.stop().await;
    Ok(())
}

/// What is asked for, with its name in the report.
fn filters(crowd: &Crowd) -> Vec<(&'static str, ExecutionFilter)> {
    let all = ExecutionFilter::default;
    let of = |status| ExecutionFilter {
        statuses: vec![status],
        ..all()
    };
    let (from, to) = crowd.second();
    let in_workflow = ExecutionFilter::of_workflow(crowd.workflow(3));
    vec![
        ("all", all()),
        ("workflow", in_workflow.clone()),
        (
            "workflows_by_prefix",
            ExecutionFilter {
                workflows: vec![OfWorkflow::Beginning("crowd_0".to_owned())],
                ..all()
            },
        ),
        ("status_completed", of(Status::Completed)),
        ("status_dlq", of(Status::Dlq)),
        ("status_pending", of(Status::Pending)),
        (
            "workflow_and_status",
            ExecutionFilter {
                statuses: vec![Status::Dlq],
                ..in_workflow
            },
        ),
        (
            "trigger",
            ExecutionFilter {
                trigger: Some(crowd.busy),
                ..all()
            },
        ),
        (
            "trigger_of_few",
            ExecutionFilter {
                trigger: Some(crowd.rare),
                ..all()
            },
        ),
        (
            "time",
            ExecutionFilter {
                from: Some(from),
                to: Some(to),
                ..all()
            },
        ),
        (
            "ids",
            ExecutionFilter {
                ids: Some(crowd.some.iter().take(100).copied().collect()),
                ..all()
            },
        ),
        (
            "unindexed_version",
            ExecutionFilter {
                version: Some(2),
                ..all()
            },
        ),
        (
            "unindexed_error_type",
            ExecutionFilter {
                error_types: vec!["dns".to_owned()],
                ..all()
            },
        ),
        (
            "unindexed_text",
            ExecutionFilter {
                text: Some("words that no error has".to_owned()),
                ..all()
            },
        ),
    ]
}

/// Questions about one crowd.
struct Asks<'a> {
    store: &'a str,
    crowd: &'a Crowd,
    goal_ms: Option<f64>,
}

impl Asks<'_> {
    /// What no index answers has no goal.
    fn questions(&self) -> usize {
        match self.goal_ms {
            Some(_) => QUESTIONS,
            None => LONG_QUESTIONS,
        }
    }

    async fn list(&self, subject: &str, filter: &ExecutionFilter) -> anyhow::Result<()> {
        let store = &self.crowd.one.store;
        let mut waits = Waits::default();
        for n in 0..self.questions() {
            let stretch = Stretch::new(self.crowd.place(n), PAGE);
            let began = Instant::now();
            store.executions(filter, &stretch).await?;
            waits.add(began.elapsed());
        }
        self.print("list", subject, &waits);
        Ok(())
    }

    async fn count(&self, subject: &str, filter: &ExecutionFilter) -> anyhow::Result<()> {
        let store = &self.crowd.one.store;
        let mut waits = Waits::default();
        for _ in 0..self.questions() {
            let began = Instant::now();
            store.count_executions(filter, COUNTED_MAX).await?;
            waits.add(began.elapsed());
        }
        self.print("count", subject, &waits);
        Ok(())
    }

    fn print(&self, what: &str, subject: &str, waits: &Waits) {
        let mut latency = Latency::default();
        latency.add(waits);
        let mut line = Line::new("LISTS", what)
            .word("by", subject)
            .word("store", self.store)
            .word("executions", EXECUTIONS)
            .latency(&latency);
        if let Some(goal) = self.goal_ms {
            line = line.goal("p99_ms", Goal::Below(goal));
        }
        line.print();
    }
}

async fn by_key(name: &str, goal_ms: f64, crowd: &Crowd) -> anyhow::Result<()> {
    let store = &crowd.one.store;
    let mut waits = Waits::default();
    for n in 0..QUESTIONS {
        let began = Instant::now();
        let hash = refire_engine::key_hash(&crowd::key(n));
        let found = store.executions_by_key(hash).await?;
        store.summaries(&found).await?;
        waits.add(began.elapsed());
        anyhow::ensure!(found.len() == 1, "a key was not found");
    }
    let asks = Asks {
        store: name,
        crowd,
        goal_ms: Some(goal_ms),
    };
    asks.print("list", "key", &waits);
    Ok(())
}

/// Pages of dead letters among a million.
async fn letters(name: &str, crowd: &Crowd) -> anyhow::Result<()> {
    let open = LetterFilter {
        statuses: vec![LetterStatus::Pending, LetterStatus::Retrying],
        ..LetterFilter::default()
    };
    let of_workflow = LetterFilter {
        workflow: Some(crowd.workflow(3)),
        ..open.clone()
    };
    let of_error = LetterFilter {
        error_types: vec!["template".to_owned()],
        ..open.clone()
    };
    for (subject, filter) in [
        ("open", open),
        ("workflow", of_workflow),
        ("error_type", of_error),
    ] {
        let (mut pages, mut counts) = (Waits::default(), Waits::default());
        for n in 0..QUESTIONS {
            let before = crowd
                .place(n)
                .map(|id: ExecutionId| DlqId::from_bytes(*id.as_bytes()));
            let began = Instant::now();
            crowd.one.store.letters(&filter, before, PAGE - 1).await?;
            pages.add(began.elapsed());
            let began = Instant::now();
            let summary = crowd.one.store.letter_summary(&filter).await?;
            counts.add(began.elapsed());
            anyhow::ensure!(summary.count > 0, "there are no letters");
        }
        for (what, waits, goal) in [("letters", pages, 20.0), ("letter_summary", counts, 50.0)] {
            let mut latency = Latency::default();
            latency.add(&waits);
            Line::new("LISTS", what)
                .word("by", subject)
                .word("store", name)
                .word("letters", crowd.letters)
                .latency(&latency)
                .goal("p99_ms", Goal::Below(goal))
                .print();
        }
    }
    Ok(())
}
