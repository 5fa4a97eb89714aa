//! `refire bench`: puts a server under load, says what it did, and checks that it kept everything
//! it accepted.
//!
//! It talks to the server as any client would. The load itself goes over bare connections, because
//! a client that costs as much as the server measures itself.

mod figure;
mod interrupt;
mod load;
mod options;
mod pace;
mod payload;
mod progress;
mod report;
mod settle;
mod subject;
mod summary;
mod tally;
mod target;
mod verify;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use refire_client::Client;
use refire_client::model::Version;
use refire_core::id::ExecutionId;
use refire_engine::entropy::{self, SystemEntropy};

use interrupt::Interrupts;
use load::{Load, Phase};
pub(crate) use options::BenchArgs;
use options::size;
use pace::End;
use payload::{Payload, Shape};
use progress::Progress;
use report::{Left, Report};
use subject::Subject;
use verify::Found;
use wire::Origin;

use crate::cli::prelude::*;

/// How long a request may take; one that waits for the end of its execution gets more.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
const ENDED_WITHIN: Duration = Duration::from_secs(90);
/// Characters of a random name.
const SUFFIX_CHARS: usize = 8;

/// What a load test works with.
struct Run<'a> {
    session: &'a Session,
    args: &'a BenchArgs,
    client: &'a Client,
}

/// Measures.
pub(crate) async fn run(session: &Session, args: &BenchArgs) -> anyhow::Result<Outcome> {
    args.check()?;
    let input = args.input()?;
    let client = session.client()?;
    let version = client.version().await?;
    let existing = match &args.workflow {
        Some(id) => Some(Subject::existing(&client, id).await?),
        None => None,
    };
    let run = Run {
        session,
        args,
        client: &client,
    };
    if !agreed(&run, &version)? {
        return Ok(Outcome::Refused);
    }
    let mut interrupts = Interrupts::new()?;
    let suffix = suffix(session);
    let subject = match existing {
        Some(subject) => subject,
        None => throw_away(&run, &suffix).await?,
    };
    if let Some(why) = &subject.fallback {
        say(&warning(&format!("{why}: only admission is measured")));
    }
    let load = load(&run, &subject, input.clone(), suffix);
    let measured = match load {
        Ok(load) => measure(args, load, &mut interrupts).await,
        Err(error) => Err(error),
    };
    let (phase, warmed) = match measured {
        Ok(measured) => measured,
        Err(error) => {
            let _ = remove(&client, &subject).await;
            return Err(error);
        }
    };
    let found = check(&client, &subject, args, (&phase, &warmed), &mut interrupts).await;
    if let Err(error) = &found {
        say(&warning(&format!(
            "could not verify the accepted executions: {}",
            clean(&format!("{error:#}"))
        )));
    }
    let found = found.ok();
    let mut left = remove(&client, &subject).await;
    left.probes = count(subject.probes.len());
    left.executions = found.as_ref().map_or_else(
        || count(phase.tally.accepted.len() + warmed.len()),
        |found| found.verified.found + found.verified.untold,
    ) + left.probes;
    let settings = args.settings(&input);
    let url = client.url();
    let report = Report::new(
        url,
        version,
        &subject,
        settings,
        &phase,
        found.as_ref(),
        left,
    );
    session.answer(&report, || report.text())?;
    if !session.is_json() {
        say(&report.left());
    }
    Ok(report.outcome())
}

/// Real executions on somebody else's machine, or of somebody's own workflow, are asked for first.
fn agreed(run: &Run<'_>, version: &Version) -> anyhow::Result<bool> {
    let Run {
        session,
        args,
        client,
    } = run;
    let server = format!("{} (refire {})", client.url(), clean(&version.version));
    let question = match &args.workflow {
        Some(workflow) => format!(
            "This runs the workflow {} on {server} as fast as it can, including everything its \
             steps do. Continue?",
            clean(workflow)
        ),
        None if session.is_local() => return Ok(true),
        None => format!(
            "{server} is not on this machine. This creates real executions on it, as fast as it \
             can. Continue?"
        ),
    };
    confirm(&question, args.yes)
}

/// A name that no other run has.
fn suffix(session: &Session) -> String {
    let id = entropy::execution_id(&SystemEntropy::default(), session.now()).to_string();
    id[id.len() - SUFFIX_CHARS..].to_owned()
}

/// A workflow of our own.
async fn throw_away(run: &Run<'_>, suffix: &str) -> anyhow::Result<Subject> {
    let Run {
        session,
        args,
        client,
    } = run;
    if args.admit_only {
        return Subject::admission(client, suffix).await;
    }
    let subject = if session.is_local() {
        Subject::calling(client, suffix).await?
    } else if args.wait {
        let why = "--wait needs executions that run, but the server cannot call a service on this \
                   machine: choose a workflow with --workflow";
        return Err(Usage(why.to_owned()).into());
    } else {
        let mut subject = Subject::admission(client, suffix).await?;
        subject.fallback = Some("the server is not on this machine".to_owned());
        subject
    };
    if let (true, Some(why)) = (args.wait, &subject.fallback) {
        let why = why.clone();
        let _ = remove(client, &subject).await;
        bail!("--wait needs executions that run, but {why}");
    }
    Ok(subject)
}

fn load(run: &Run<'_>, subject: &Subject, input: String, suffix: String) -> anyhow::Result<Load> {
    let (session, args) = (run.session, run.args);
    let within = if args.wait {
        ENDED_WITHIN
    } else {
        ANSWER_WITHIN
    };
    let origin = Origin::new(session.globals().url(), session.key()?.as_deref(), within)?;
    let shape = Shape {
        input,
        batch: args.batch.map(size),
        keys: args.idempotency_keys,
        wait: args.wait,
        run: suffix,
    };
    Ok(Load {
        payload: Payload::new(&origin, &subject.id, shape)?,
        origin: Arc::new(origin),
        expected: args.expected(),
        connections: size(args.connections),
        rate: args.rate.map(f64::from),
    })
}

/// Warm-up and measurement; the second is what was accepted in the first.
async fn measure(
    args: &BenchArgs,
    load: Load,
    interrupts: &mut Interrupts,
) -> anyhow::Result<(Phase, Vec<ExecutionId>)> {
    let load = Arc::new(load);
    let mut lines = load.lines();
    let mut warmed = Vec::new();
    let warmup = args.warmup();
    if !warmup.is_zero() {
        let mut progress = Progress::new("warm-up");
        let phase = load
            .run(lines, End::After(warmup), &mut progress, interrupts)
            .await;
        progress.finish();
        let phase = phase?;
        if phase.early.is_some() {
            // What there is, is the result.
            return Ok((phase, warmed));
        }
        (lines, warmed) = (phase.lines, phase.tally.accepted);
    }
    let mut progress = Progress::new("measure");
    let phase = load.run(lines, args.end(), &mut progress, interrupts).await;
    progress.finish();
    Ok((phase?, warmed))
}

/// Waits for the end of what was accepted, then looks for it. An interrupt ends the wait, the next
/// one the check.
async fn check(
    client: &Client,
    subject: &Subject,
    args: &BenchArgs,
    (phase, warmed): (&Phase, &[ExecutionId]),
    interrupts: &mut Interrupts,
) -> anyhow::Result<Found> {
    let measured = &phase.tally.accepted;
    let settled = async {
        if subject.is_own() {
            return settle::throw_away(client, subject).await;
        }
        let accepted = measured.iter().chain(warmed).copied().collect();
        settle::existing(client, &subject.id, &accepted, args.drain()).await
    };
    tokio::select! {
        settled = settled => settled?,
        () = interrupts.next() => {}
    }
    tokio::select! {
        found = verify::verify(client, subject, measured, warmed) => found,
        () = interrupts.next() => bail!("interrupted"),
    }
}

/// Deletes the throw-away workflow, and says what stays.
async fn remove(client: &Client, subject: &Subject) -> Left {
    let mut left = Left::default();
    if subject.is_own()
        && let Err(error) = client.delete_workflow(&subject.id).await
    {
        left.workflow = Some(subject.id.clone());
        left.because = Some(clean(&error.to_string()).into_owned());
    }
    left
}

fn count(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
