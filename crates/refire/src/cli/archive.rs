//! `refire archive`: finished executions as files of JSON lines, written before the server's retention
//! removes them.
//!
//! Nothing is lost, because it is refused to archive later than the server removes, and because each run
//! begins where the last one ended: the file `archive.json` in the directory says where that was, and which
//! executions were still open then. It is written when everything before it is on disk. A run that was
//! interrupted is repeated by the next one, so an execution may be in two files and is never in none.

mod ground;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use refire_client::model::{Event, Execution, ExecutionStatus, Overview, Page};
use refire_client::query::{EventQuery, ExecutionQuery, Paging};
use refire_client::{Client, every};
use refire_core::duration;
use serde::Serialize;

use self::ground::{Ground, Mark, Written};
use super::progress::bar;
use crate::cli::prelude::*;

/// Rows of a page.
const PAGE: u32 = 500;

/// Options of `refire archive`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire archive --older-than 20d --to /archive/refire
  refire archive --older-than 20d --to /archive/refire --format json

Run it regularly, for example every night. Each line of the files is an execution with its input, output, steps and log.
DURATION must be shorter than the server keeps executions (`--keep-completed` and so on): what it has removed cannot
be archived any more.")]
pub(crate) struct ArchiveArgs {
    /// Executions that began longer ago than this, e.g. 20d
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    older_than: Duration,
    /// The directory of the archive; made if it is missing
    #[arg(long, value_name = "DIR", default_value = "refire-archive")]
    to: PathBuf,
}

/// One line of the archive.
#[derive(Serialize)]
struct Line<'a> {
    execution: &'a Execution,
    events: &'a [Event],
}

/// What a run came to.
#[derive(Serialize)]
struct Archived {
    /// Executions that were written.
    executions: u64,
    /// Bytes that were written.
    bytes: u64,
    /// The files.
    files: Vec<PathBuf>,
    /// Executions that began as long ago and are still open: a later run takes them.
    still_open: usize,
    /// What began before is in the archive.
    until: String,
    /// All files of the archive together.
    archive_bytes: u64,
}

/// Writes what is old enough.
pub(crate) async fn run(session: &Session, args: &ArchiveArgs) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    refuse_late(&client.overview("24h").await?, args.older_than)?;
    let mut ground = Ground::open(&args.to)?;
    let until = session.now().minus(args.older_than).to_string();
    let before = ground.mark();
    let (finished, open) = sort(&client, before.as_ref(), &until).await?;
    let bar = bar("executions");
    bar.set_length(finished.len() as u64);
    for id in &finished {
        write(&client, &mut ground, id).await?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    let still_open = open.len();
    let Written {
        executions,
        bytes,
        files,
    } = ground.end(&Mark {
        until: until.clone(),
        open,
    })?;
    let archived = Archived {
        executions,
        bytes,
        files,
        still_open,
        until,
        archive_bytes: ground.bytes()?,
    };
    session.answer(&archived, || {
        format!(
            "{} in {}, {} of them now; {} still open\n",
            counted(archived.executions, "execution"),
            args.to.display(),
            size(archived.bytes),
            archived.still_open
        )
    })
}

/// What the server removes before it is archived would be missing.
fn refuse_late(overview: &Overview, older_than: Duration) -> anyhow::Result<()> {
    let Some(storage) = &overview.storage else {
        bail!("the server does not say how long it keeps executions; it is too old for this");
    };
    let kept = [
        ("completed", storage.keep_completed_s),
        ("cancelled", storage.keep_cancelled_s),
        ("failed", storage.keep_failed_s),
    ];
    for (word, seconds) in kept {
        if let Some(seconds) = seconds
            && older_than >= Duration::from_secs(seconds)
        {
            let message = format!(
                "the server removes {word} executions {} after their end, so those would be missing; \
                 archive earlier, or let it keep them for longer (`--keep-{word}`)",
                duration::plain(Duration::from_secs(seconds))
            );
            return Err(Usage(message).into());
        }
    }
    Ok(())
}

/// What is to be written, and what is still open.
async fn sort(
    client: &Client,
    before: Option<&Mark>,
    until: &str,
) -> anyhow::Result<(Vec<String>, BTreeSet<String>)> {
    let query = ExecutionQuery {
        from: before.map(|mark| mark.until.clone()),
        to: Some(until.to_owned()),
        ..ExecutionQuery::default()
    };
    let list = async |paging: &Paging| {
        let page = client.executions(&query, paging).await?;
        Ok(Page {
            items: page.items,
            next_cursor: page.next_cursor,
        })
    };
    let (mut finished, mut open) = (Vec::new(), BTreeSet::new());
    for execution in every(list).await?.items {
        match is_over(&execution) {
            true => finished.push(execution.execution_id),
            false => {
                open.insert(execution.execution_id);
            }
        }
    }
    for id in before.iter().flat_map(|mark| &mark.open) {
        match is_over(&client.execution(id).await?) {
            true => finished.push(id.clone()),
            false => {
                open.insert(id.clone());
            }
        }
    }
    // The oldest first, as they began.
    finished.sort_unstable();
    finished.dedup();
    Ok((finished, open))
}

fn is_over(execution: &Execution) -> bool {
    matches!(
        execution.status,
        ExecutionStatus::Completed
            | ExecutionStatus::Failed
            | ExecutionStatus::Dlq
            | ExecutionStatus::Cancelled
    )
}

/// Writes one execution with its whole log.
async fn write(client: &Client, ground: &mut Ground, id: &str) -> anyhow::Result<()> {
    let execution = client.execution(id).await?;
    let (query, mut paging) = (EventQuery::default(), Paging::first(PAGE));
    let mut events = Vec::new();
    loop {
        let page = client.events(id, &query, &paging).await?;
        events.extend(page.items);
        match page.next_cursor {
            Some(next) => paging.cursor = Some(next),
            None => break,
        }
    }
    let line = Line {
        execution: &execution,
        events: &events,
    };
    ground.write(&serde_json::to_string(&line)?)
}

/// Bytes for people.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut amount = bytes as f64;
    let mut unit = "bytes";
    for next in UNITS {
        if amount < 1024.0 {
            break;
        }
        amount /= 1024.0;
        unit = next;
    }
    match unit {
        "bytes" => format!("{bytes} bytes"),
        _ => format!("{amount:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        for (bytes, expected) in [
            (0, "0 bytes"),
            (1023, "1023 bytes"),
            (1024, "1.0 KiB"),
            (1_572_864, "1.5 MiB"),
            (3 << 30, "3.0 GiB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
