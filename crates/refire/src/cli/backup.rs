//! `refire backup`: a copy of the whole store, while it is in use.
//!
//! A running server makes the copy itself, since only one process may have the store open. When
//! none runs on this machine the store is opened here.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use refire_client::model::BackupResult;
use refire_store::Store as _;
use refire_store::sqlite::{Options, Sqlite};

use super::moment::{millis, span};
use super::outcome::Outcome;
use super::output::{is_watched, print, print_json, say};
use super::session::Session;
use super::wait::spinner;

/// The database's name in a data directory.
const DATABASE: &str = "refire.db";
const BAR: &str = "{bar:40} {percent:>3} %  {pos}/{len} pages";

/// Options of `refire backup`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire backup /backups/refire-$(date +%F).db
  refire backup refire.copy.db --data-dir /var/lib/refire

To restore, stop the server, put the copy in place of refire.db in its data directory (without
refire.db-wal and refire.db-shm beside it) and start the server again.")]
pub(crate) struct BackupArgs {
    /// The file to write; one that exists is not written over
    file: PathBuf,
}

/// Makes the copy.
pub(crate) async fn run(session: &Session, args: &BackupArgs) -> anyhow::Result<Outcome> {
    let to = std::path::absolute(&args.file)
        .with_context(|| format!("{} is not a path", args.file.display()))?;
    let Some(text) = to.to_str() else {
        bail!(
            "{} is not a path the server can be told: it is not UTF-8",
            to.display()
        );
    };
    let progress = spinner();
    progress.set_message("the server copies its store");
    let answer = session.client()?.backup(text).await;
    progress.finish_and_clear();
    let result = match answer {
        Ok(result) => result,
        Err(error) if error.is_connect() && session.is_local() => {
            let database = session.globals().data_dir().join(DATABASE);
            if !database.is_file() {
                return Err(error.into());
            }
            say(&format!("no server runs; copying {}", database.display()));
            copy(session, &database, &to).await?
        }
        Err(error) => return Err(error.into()),
    };
    if session.is_json() {
        print_json(&result)?;
    } else {
        print(&result.path)?;
        let place = if session.is_local() {
            ""
        } else {
            " on the server's machine"
        };
        say(&format!(
            "{} written{place} in {}",
            size(result.bytes),
            span(result.duration_ms)
        ));
    }
    Ok(Outcome::Done)
}

/// Copies the store of a server that does not run.
async fn copy(session: &Session, database: &Path, to: &Path) -> anyhow::Result<BackupResult> {
    let store = Sqlite::open(database, &Options::new(session.now()))?;
    let bar = bar();
    let started = Instant::now();
    let copied = store
        .backup(to, &|done, all| {
            bar.set_length(all);
            bar.set_position(done);
        })
        .await;
    store.close().await;
    bar.finish_and_clear();
    copied?;
    let bytes = std::fs::metadata(to)
        .with_context(|| format!("{}", to.display()))?
        .len();
    let duration_ms = millis(started.elapsed());
    Ok(BackupResult {
        path: to.display().to_string(),
        bytes,
        duration_ms,
    })
}

fn bar() -> ProgressBar {
    if !is_watched() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template(BAR).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}

/// `12.3 MB`
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)];
    for (name, unit) in UNITS {
        if bytes >= unit {
            return format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit);
        }
    }
    format!("{bytes} bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit() {
        for (bytes, expected) in [
            (17, "17 bytes"),
            (4_096, "4.0 KB"),
            (12_897_485, "12.3 MB"),
            (1 << 31, "2.0 GB"),
        ] {
            assert_eq!(size(bytes), expected);
        }
    }
}
