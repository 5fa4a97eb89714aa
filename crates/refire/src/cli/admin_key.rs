//! `refire admin-key`: another admin key, without a server and without the old key. Whoever may write
//! the database or the data directory may do it.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use refire_store::Store as _;
use refire_store::postgres::{Options, Postgres};

use crate::cli::prelude::*;
use crate::config::{Database, DatabaseUrl};
use crate::serve::key;

/// The variable with a key of one's own.
const VARIABLE: &str = "REFIRE_ADMIN_KEY";

/// What can be done with the admin key.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminKeyCommand {
    /// Replace the admin key by a new one, which is shown once
    ///
    /// Running servers take the new key within a few seconds, and no longer the old one. Servers that were started
    /// with REFIRE_ADMIN_KEY keep that one until they are started with another.
    Rotate(RotateArgs),
}

/// Options of `refire admin-key rotate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire admin-key rotate --data-dir /var/lib/refire
  refire admin-key rotate --database postgres://refire@db.example.com/refire

On SQLite the new key is written to admin.key in the data directory. On PostgreSQL its hash is written to the
database; if admin.key in the data directory here has the old key, it gets the new one too.

With REFIRE_ADMIN_KEY set, that key becomes the one of the PostgreSQL, and none is made or shown: use it when all
nodes have been started with the same variable, so that the old key is gone from the database.")]
pub(crate) struct RotateArgs {
    /// The database of the servers [default: `database` of ./refire.yaml, else the SQLite database
    /// in the data directory]
    #[arg(long, env = "REFIRE_DATABASE_URL", value_name = "URL")]
    #[arg(hide_env_values = true)]
    database: Option<DatabaseUrl>,
}

/// A key that counts from now on.
struct Changed {
    /// The key, if it was made here.
    made: Option<String>,
    /// The file that has it.
    file: Option<PathBuf>,
    /// What else is to be said.
    note: String,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &AdminKeyCommand) -> anyhow::Result<Outcome> {
    let AdminKeyCommand::Rotate(args) = command;
    let given = std::env::var(VARIABLE).ok().filter(|key| !key.is_empty());
    let database = session.needed_database(args.database.as_ref())?;
    let path = session.key_path();
    let changed = match database {
        Database::Sqlite(file) => in_directory(&path, &file, given.as_deref())?,
        Database::Postgres(mut options) => {
            options.migrate = false;
            in_database(&path, &options, given.as_deref()).await?
        }
    };
    show(session, &changed)
}

/// The key of a single server is the one in its data directory.
fn in_directory(path: &Path, database: &Path, given: Option<&str>) -> anyhow::Result<Changed> {
    if given.is_some() {
        let how = format!(
            "{VARIABLE} is set: a server with it uses that key, and not {}. Start the server with \
             another {VARIABLE}, or run this command without it",
            path.display()
        );
        return Err(Usage(how).into());
    }
    if !path.exists() && !database.exists() {
        bail!(
            "neither {} nor {} is there; name the server's data directory with --data-dir",
            path.display(),
            database.display()
        );
    }
    let made = key::make();
    key::replace(path, &made)
        .with_context(|| format!("the admin key cannot be written to {}", path.display()))?;
    Ok(Changed {
        made: Some(made),
        file: Some(path.to_owned()),
        note: "a server that runs takes it within a few seconds, unless it was started with \
               REFIRE_ADMIN_KEY"
            .to_owned(),
    })
}

/// Several nodes compare with the hash in their database.
async fn in_database(
    path: &Path,
    options: &Options,
    given: Option<&str>,
) -> anyhow::Result<Changed> {
    let made = match given {
        Some(given) => {
            key::check(given)?;
            None
        }
        None => Some(key::make()),
    };
    let new = made.as_deref().or(given).unwrap_or_default();
    let store = Postgres::open(options).await?;
    let put = key::put(&store, new).await;
    store.close().await;
    let old = put.context("the admin key was not changed")?;
    let place = options.place();
    let note = match (&made, key::is_of(&old, new)) {
        (None, true) => format!("{place} had the key of {VARIABLE} already"),
        (None, false) => {
            format!("the key of {VARIABLE} is now the one of {place}, and the old one is gone")
        }
        (Some(_), _) => format!(
            "the nodes of {place} take it within a few seconds, except those that were started with {VARIABLE}"
        ),
    };
    // A file with a key of another database is not ours.
    let has_old = key::read(path)?.is_some_and(|text| key::is_of(&old, &text));
    let file = (has_old && !key::is_of(&old, new)).then(|| path.to_owned());
    if let Some(file) = &file
        && let Err(error) = key::replace(file, new)
    {
        // The database has it: the key must be shown whatever happens here.
        say!("{} still has the old key: {error}", file.display());
        return Ok(Changed {
            made,
            file: None,
            note,
        });
    }
    Ok(Changed { made, file, note })
}

fn show(session: &Session, changed: &Changed) -> anyhow::Result<Outcome> {
    let file = changed.file.as_ref().map(|file| file.display().to_string());
    if session.is_json() {
        return print_json(&serde_json::json!({ "admin_key": changed.made, "file": file }));
    }
    if let Some(made) = &changed.made {
        print(made)?;
        say(match file {
            Some(_) => "it is not shown again",
            None => "save it now: it is not shown again",
        });
    }
    if let Some(file) = file {
        say!("saved in {file}");
    }
    say(&changed.note);
    Ok(Outcome::Done)
}
