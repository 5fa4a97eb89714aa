//! `refire backup`: a copy of the whole store, while it is in use.
//!
//! A running server makes the copy itself, since only one process may have an embedded store open, and
//! writes it to its directory for backups. From there it is taken to where it was wanted, if that is on
//! this machine. When no server runs here the store is opened here. The copy is an SQLite file, whatever
//! the store is.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, bail};
use refire_client::model::BackupResult;
use refire_store::Store;
use refire_store::postgres::Postgres;
use refire_store::sqlite::{self, Sqlite};

use super::progress::bar;
use crate::cli::prelude::*;
use crate::config::{Database, DatabaseUrl};

/// Only its owner reads a copy: it holds all inputs and outputs.
const PRIVATE: u32 = 0o600;

/// Options of `refire backup`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire backup /backups/refire-$(date +%F).db
  refire backup refire.copy.db --data-dir /var/lib/refire
  refire backup nightly.db --url https://refire.example.com

The server writes to its directory for backups (`refire serve --backup-dir`). One on this machine: the copy is
then moved to FILE. One elsewhere: FILE is a name in that directory, and the copy stays there.

The backup of a PostgreSQL database is an SQLite file, too. `refire serve --database sqlite:<file>`
runs on it, and `refire migrate --from sqlite:<file>` copies it into an empty PostgreSQL database.

To restore a backup, stop the server and run `refire restore FILE`. Do not copy it over refire.db.

If webhooks have secrets or keys, the backup needs the master key that encrypted them, which it does
not contain: also keep master.key of the data directory (or REFIRE_MASTER_KEY), in another place.")]
pub(crate) struct BackupArgs {
    /// The file to write; an existing file is not overwritten
    file: PathBuf,
    /// The database to copy if no server runs [default: `database` in ./refire.yaml, else
    /// refire.db in the data directory]
    #[arg(long, env = "REFIRE_DATABASE_URL", value_name = "URL")]
    #[arg(hide_env_values = true)]
    database: Option<DatabaseUrl>,
}

/// Makes the copy.
pub(crate) async fn run(session: &Session, args: &BackupArgs) -> anyhow::Result<Outcome> {
    let to = std::path::absolute(&args.file)
        .with_context(|| format!("{} is not a path", args.file.display()))?;
    // What the server is asked for: a name of which it makes a path of its own.
    let name = match session.is_local() {
        true => {
            refuse(&to)?;
            to.file_name().map(Path::new)
        }
        false => Some(args.file.as_path()),
    };
    let Some(name) = name.and_then(Path::to_str) else {
        bail!("{} is not a file name in valid UTF-8", args.file.display());
    };
    let waiting = Waiting::new("the server is writing the backup");
    let answer = session.client()?.backup(name).await;
    drop(waiting);
    let result = match answer {
        Ok(result) if session.is_local() => fetched(result, &to)?,
        Ok(result) => result,
        Err(error) if error.is_connect() && session.is_local() => {
            match session.database(args.database.as_ref())? {
                Database::Sqlite(file) if !file.is_file() => return Err(error.into()),
                database => copy(session, database, &to).await?,
            }
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
        say!(
            "{} written{place} in {}",
            size(result.bytes),
            span(result.duration_ms)
        );
    }
    Ok(Outcome::Done)
}

/// Refuses what could not be written in the end, before a whole store is copied for it.
fn refuse(to: &Path) -> anyhow::Result<()> {
    if to.symlink_metadata().is_ok() {
        bail!("{} exists already; name a new file", to.display());
    }
    match to.parent() {
        Some(folder) if !folder.is_dir() => bail!(
            "{} cannot be written: the directory {} does not exist",
            to.display(),
            folder.display()
        ),
        _ => Ok(()),
    }
}

/// Takes the copy of a server on this machine to where it was wanted.
fn fetched(made: BackupResult, to: &Path) -> anyhow::Result<BackupResult> {
    let from = Path::new(&made.path);
    if to.canonicalize().is_ok_and(|to| to == from) {
        return Ok(made);
    }
    take(from, to).with_context(|| {
        format!(
            "the copy is complete in {} on the server's machine, but cannot be moved to {}",
            made.path,
            to.display()
        )
    })?;
    Ok(BackupResult {
        path: to.display().to_string(),
        ..made
    })
}

/// Moves a file, and never over another one.
fn take(from: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(from, to) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Err(error),
        // Another disk, or one where a file has no second name.
        Err(_) => {
            let mut source = File::open(from)?;
            let mut options = OpenOptions::new();
            let mut target = options
                .write(true)
                .create_new(true)
                .mode(PRIVATE)
                .open(to)?;
            let copied = io::copy(&mut source, &mut target).and_then(|_| target.sync_all());
            if let Err(error) = copied {
                // Half a copy would pass for a whole one.
                let _ = std::fs::remove_file(to);
                return Err(error);
            }
        }
    }
    if let Some(folder) = to.parent() {
        File::open(folder)?.sync_all()?;
    }
    std::fs::remove_file(from)
}

/// Copies the store of a server that does not run.
async fn copy(session: &Session, database: Database, to: &Path) -> anyhow::Result<BackupResult> {
    let (store, bar): (Box<dyn Store>, _) = match database {
        Database::Sqlite(file) => {
            say!("no server runs; copying {}", file.display());
            let options = sqlite::Options::new(session.now());
            (Box::new(Sqlite::open(&file, &options)?), bar("pages"))
        }
        Database::Postgres(mut options) => {
            say!("no server runs here; copying {}", options.place());
            options.migrate = false;
            (Box::new(Postgres::open(&options).await?), bar("rows"))
        }
    };
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

/// `12.3 MB`
pub(super) fn size(bytes: u64) -> String {
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
