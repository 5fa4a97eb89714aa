//! `refire restore`: a backup in place of the database of a server that does not run.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use refire_store::sqlite::{self, Restored};

use super::backup::size;
use crate::cli::prelude::*;
use crate::config::{Database, DatabaseUrl};
use crate::serve::data;

/// The variable with a master key of one's own.
const MASTER_KEY: &str = "REFIRE_MASTER_KEY";

/// Options of `refire restore`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire restore /backups/refire-2026-11-15.db --data-dir /var/lib/refire
  refire restore copy.db --yes

Stop the server first. The backup is copied and checked; then it takes the place of refire.db. The old
database is kept beside it as refire.db.before-restore-<date>, and nothing is deleted.

Do not copy a backup over refire.db yourself: if refire.db-wal of the old database is still there,
SQLite writes it into the backup, which undoes the restore or damages the database.

The backup does not contain master.key and admin.key: on a new machine, copy them into the data
directory before you start the server.

For PostgreSQL, use `refire migrate --from sqlite:<file>` with an empty database.")]
pub(crate) struct RestoreArgs {
    /// The backup to restore; it is not changed
    file: PathBuf,
    /// The SQLite database to replace [default: `database` in ./refire.yaml, else refire.db in the
    /// data directory]
    #[arg(long, env = "REFIRE_DATABASE_URL", value_name = "URL")]
    #[arg(hide_env_values = true)]
    database: Option<DatabaseUrl>,
    /// Do not ask before an existing database is replaced
    #[arg(long, short = 'y')]
    yes: bool,
}

/// Puts the backup in its place.
pub(crate) fn run(session: &Session, args: &RestoreArgs) -> anyhow::Result<Outcome> {
    let database = database(session, args)?;
    if !args.file.is_file() {
        bail!("{} does not exist or is not a file", args.file.display());
    }
    let question = format!(
        "Replace {} with {}? The old database is kept under another name.",
        database.display(),
        args.file.display()
    );
    if database.exists() && !confirm(&question, args.yes)? {
        return Ok(Outcome::Refused);
    }
    if let Some(directory) = database
        .parent()
        .filter(|path| !path.as_os_str().is_empty())
    {
        data::make(directory)?;
    }
    let restored = sqlite::restore(&args.file, &database, session.now())?;
    give_to_owner(&database)?;
    if session.is_json() {
        print_json(&serde_json::json!({
            "path": database,
            "from": args.file,
            "bytes": restored.bytes,
            "previous": restored.previous,
        }))?;
    } else {
        print(&database.display().to_string())?;
        tell(session, args, &restored);
    }
    Ok(Outcome::Done)
}

fn database(session: &Session, args: &RestoreArgs) -> anyhow::Result<PathBuf> {
    match session.needed_database(args.database.as_ref())? {
        Database::Sqlite(file) => Ok(file),
        Database::Postgres(options) => Err(Usage(format!(
            "the configured database is PostgreSQL at {}; to fill an empty one from a backup, run \
             `refire migrate --from sqlite:{}`",
            options.place(),
            args.file.display()
        ))
        .into()),
    }
}

/// Whoever runs this as root restores for the server's user, who owns the directory.
fn give_to_owner(database: &Path) -> anyhow::Result<()> {
    let mut lock = database.as_os_str().to_owned();
    lock.push(".lock");
    for file in [database, Path::new(&lock)] {
        let directory = file
            .parent()
            .filter(|path| !path.as_os_str().is_empty())
            .unwrap_or_else(|| Path::new("."));
        let (Ok(owner), Ok(found)) = (directory.metadata(), file.metadata()) else {
            continue;
        };
        if (owner.uid(), owner.gid()) != (found.uid(), found.gid()) {
            std::os::unix::fs::chown(file, Some(owner.uid()), Some(owner.gid())).with_context(
                || {
                    format!(
                        "the backup was restored, but {} cannot be given to the owner of its \
                         directory; run chown on it before you start the server",
                        file.display()
                    )
                },
            )?;
        }
    }
    Ok(())
}

/// What was done, and what comes next.
fn tell(session: &Session, args: &RestoreArgs, restored: &Restored) {
    say!(
        "restored from {} ({})",
        args.file.display(),
        size(restored.bytes)
    );
    if let Some(previous) = &restored.previous {
        say!(
            "the old database is kept as {}; delete it when you no longer need it",
            previous.display()
        );
    }
    let master = session.globals().data_dir().join("master.key");
    let has_own = std::env::var_os(MASTER_KEY).is_some_and(|key| !key.is_empty());
    if master.exists() || has_own {
        say!(
            "next: start the server. If the backup is from another server, first copy that server's \
             master.key to {}",
            master.display()
        );
    } else {
        say!(
            "next: copy the master.key of the server that made the backup to {} (without it the \
             secrets of webhooks cannot be read), and its admin.key too; then start the server",
            master.display()
        );
    }
}
