//! Making a bulk job and following it: a bar where somebody watches, lines where nobody does.

use std::time::{Duration, Instant};

use refire_client::Client;
use refire_client::model::{
    BulkDeadLetters, BulkExecutions, BulkJob, BulkPreview, BulkSample, BulkState,
};

use super::which::How;
use crate::cli::output::is_watched;
use crate::cli::prelude::*;
use crate::cli::progress;

/// How often to ask where a job stands.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// How often to say it where nobody watches.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// What is asked for.
pub(crate) enum Wish {
    Letters(Box<BulkDeadLetters>),
    Executions(Box<BulkExecutions>),
}

impl Wish {
    fn noun(&self) -> &'static str {
        match self {
            Self::Letters(_) => "dead letter",
            Self::Executions(_) => "execution",
        }
    }

    fn set(&mut self, how: &How, is_dry: bool) {
        match self {
            Self::Letters(wish) => (wish.rate, wish.dry_run) = (how.rate, is_dry),
            Self::Executions(wish) => (wish.rate, wish.dry_run) = (how.rate, is_dry),
        }
    }

    async fn preview(&self, client: &Client) -> anyhow::Result<BulkPreview> {
        Ok(match self {
            Self::Letters(wish) => client.preview_bulk_dead_letters(wish).await?,
            Self::Executions(wish) => client.preview_bulk_executions(wish).await?,
        })
    }

    async fn start(&self, client: &Client) -> anyhow::Result<String> {
        let started = match self {
            Self::Letters(wish) => client.bulk_dead_letters(wish).await?,
            Self::Executions(wish) => client.bulk_executions(wish).await?,
        };
        Ok(started.id)
    }
}

/// Shows what a job would do, asks, makes it and follows it. `verb` begins the question.
pub(crate) async fn run(
    session: &Session,
    mut wish: Wish,
    how: &How,
    verb: &str,
) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    wish.set(how, true);
    let preview = wish.preview(&client).await?;
    let (noun, count) = (wish.noun(), preview.count);
    if how.dry_run {
        return session.answer(&preview, || previewed(session, &preview, noun));
    }
    if count == 0 {
        say!("no matching {noun}s: nothing was done");
        return Ok(Outcome::Done);
    }
    let more = match preview.at_least {
        true => "at least ",
        false => "",
    };
    let question = format!("{verb} {more}{}?", counted(count, noun));
    if !confirm(&question, how.yes)? {
        return Ok(Outcome::Refused);
    }
    wish.set(how, false);
    let id = wish.start(&client).await?;
    if how.detach {
        if session.is_json() {
            return print_json(&client.bulk_job(&id).await?);
        }
        print(&id)?;
        say!("see {}", command(&format!("refire bulk show {id} --watch")));
        return Ok(Outcome::Done);
    }
    if !session.is_json() {
        say!("{id} goes on in the server if you stop watching");
    }
    to_the_end(session, &client, &id).await
}

/// Waits for the end of a job, or for somebody to pause it.
pub(crate) async fn to_the_end(
    session: &Session,
    client: &Client,
    id: &str,
) -> anyhow::Result<Outcome> {
    let bar = progress::bar("done");
    let mut said = Instant::now();
    let job = loop {
        let job = client.bulk_job(id).await?;
        bar.set_length(job.total.unwrap_or(job.done).max(job.done));
        bar.set_position(job.done);
        if job.state != BulkState::Running {
            break job;
        }
        if !is_watched() && !session.is_json() && said.elapsed() >= LINE_EVERY {
            said = Instant::now();
            say(&line(&job));
        }
        tokio::time::sleep(LOOK_EVERY).await;
    };
    bar.finish_and_clear();
    session.answer(&job, || line(&job))?;
    if !session.is_json() {
        let next = match job.state {
            BulkState::Paused => Some(format!("refire bulk resume {id}")),
            _ if job.failed > 0 => Some(format!("refire bulk show {id} --outcome failed")),
            _ => None,
        };
        if let Some(next) = next {
            say!("see {}", command(&next));
        }
    }
    Ok(Outcome::Failed.unless(job.failed == 0 && job.state == BulkState::Completed))
}

fn line(job: &BulkJob) -> String {
    let of = job.total.map(|total| format!(" of {total}"));
    format!(
        "{}  {}  {}{} done: {} ok, {} failed, {} skipped",
        job.id,
        status(job.state.name()),
        job.done,
        of.unwrap_or_default(),
        job.ok,
        job.failed,
        job.skipped
    )
}

fn previewed(session: &Session, preview: &BulkPreview, noun: &str) -> String {
    let more = match preview.at_least {
        true => "at least ",
        false => "",
    };
    let head = format!("{more}{}; nothing was done\n", counted(preview.count, noun));
    let rows = match preview.sample.is_empty() {
        true => String::new(),
        false => format!(
            "\n{}",
            table(&SAMPLES, &preview.sample, session.now()).lines(0)
        ),
    };
    head + &rows
}

const SAMPLES: [Column<BulkSample>; 4] = [
    text("THING", |sample, _| cell(&sample.id)),
    text("BEFORE", |sample, _| cell(sample.before.get())),
    optional("AFTER", |sample, _| {
        maybe(sample.after.as_ref().map(|after| after.get()))
    }),
    optional("NOT, BECAUSE", |sample, _| maybe(sample.error.as_ref())),
];
