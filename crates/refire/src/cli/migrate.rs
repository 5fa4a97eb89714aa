//! `refire migrate`: brings the tables of a PostgreSQL up to date, and moves an embedded database
//! there. Both happen without a server; `refire serve` does the first by itself.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use refire_store::postgres::{Options, Postgres};

use super::progress::bar;
use crate::cli::prelude::*;
use crate::config::{Database, DatabaseUrl};
use crate::serve::moved;

/// Options of `refire migrate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire migrate --database postgres://refire:…@db.example.com/refire
  refire migrate --check        in a pipeline: exit code 3 while migrations are pending
  refire migrate --from sqlite:/var/lib/refire/refire.db

Put the password in REFIRE_DATABASE_URL rather than in --database: command lines are visible to
every user of the machine. Before you move a database with --from, stop its server.")]
pub(crate) struct MigrateArgs {
    /// The PostgreSQL database: postgres://<user>:<password>@<host>/<database> [default: `database` in
    /// ./refire.yaml]
    #[arg(long, env = "REFIRE_DATABASE_URL", value_name = "URL")]
    #[arg(hide_env_values = true)]
    database: Option<DatabaseUrl>,
    /// Change nothing, and list pending migrations; exit code 3 if there are any, 0 if not
    #[arg(long, conflicts_with = "from")]
    check: bool,
    /// Copy an SQLite database into the PostgreSQL database, which must be empty
    #[arg(long, value_name = "sqlite:FILE")]
    from: Option<DatabaseUrl>,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, args: &MigrateArgs) -> anyhow::Result<Outcome> {
    let options = target(session, args)?;
    if args.check {
        return check(session, &options).await;
    }
    let (applied, copied) = match args.from.as_ref().map(source).transpose()? {
        Some(file) => {
            // Copying makes the tables itself, when it has found that the file can be used.
            let pending = Postgres::pending(&options).await?;
            let applied: Vec<String> = pending.into_iter().map(|one| one.name).collect();
            let copied = import(session, &file, &options, &applied).await?;
            (applied, Some(copied))
        }
        None => {
            let applied = Postgres::migrate(&options).await?;
            if !session.is_json() {
                say_applied(&options, &applied);
            }
            (applied, None)
        }
    };
    if session.is_json() {
        print_json(&serde_json::json!({ "applied": applied, "copied_rows": copied }))?;
    }
    Ok(Outcome::Done)
}

/// The database to work on.
fn target(session: &Session, args: &MigrateArgs) -> anyhow::Result<Options> {
    if session.database_url(args.database.as_ref()).is_none() {
        let how = "give the PostgreSQL database with --database or REFIRE_DATABASE_URL";
        return Err(Usage(how.to_owned()).into());
    }
    match session.needed_database(args.database.as_ref())? {
        Database::Postgres(options) => Ok(*options),
        Database::Sqlite(_) => Err(Usage(
            "--database: this command is for PostgreSQL; the server updates the tables of an \
             SQLite database itself"
                .to_owned(),
        )
        .into()),
    }
}

/// The file to copy from.
fn source(url: &DatabaseUrl) -> anyhow::Result<std::path::PathBuf> {
    match url.read() {
        Ok(Database::Sqlite(file)) => Ok(file),
        Err(_) if url.names_a_file() => Ok(url.as_path()),
        _ => Err(Usage("--from: write sqlite:<file>".to_owned()).into()),
    }
}

async fn check(session: &Session, options: &Options) -> anyhow::Result<Outcome> {
    let pending = Postgres::pending(options).await?;
    let place = options.place();
    if session.is_json() {
        let names: Vec<&str> = pending.iter().map(|one| one.name.as_str()).collect();
        print_json(&serde_json::json!({ "pending": names }))?;
    } else if pending.is_empty() {
        say!("{place} is up to date");
    } else {
        let count = match pending.len() {
            1 => "1 migration is pending".to_owned(),
            many => format!("{many} migrations are pending"),
        };
        say!("{place}: {count}");
        let lines = pending.iter();
        let lines: Vec<String> = lines
            .map(|one| format!("{}  {}", one.name, one.about))
            .collect();
        print(&lines.join("\n"))?;
        say("run `refire migrate` to apply them; a node also does this when it starts");
    }
    Ok(Outcome::Failed.unless(pending.is_empty()))
}

fn say_applied(options: &Options, applied: &[String]) {
    let place = options.place();
    match applied {
        [] => say!("{place} is up to date"),
        applied => say!("{place}: applied {}", applied.join(", ")),
    }
}

/// Copies an embedded database; how many rows that were.
async fn import(
    session: &Session,
    file: &Path,
    options: &Options,
    applied: &[String],
) -> anyhow::Result<u64> {
    let began = Instant::now();
    let bar = bar("rows");
    let copied = Postgres::import(options, file, &|done, all| {
        bar.set_length(all);
        bar.set_position(done);
    })
    .await;
    bar.finish_and_clear();
    let rows = copied.with_context(|| format!("{} was not copied", file.display()))?;
    let note = moved::note(file, &options.place());
    let note = note.with_context(|| {
        let file = file.display();
        format!("{file} was copied, but could not be marked as moved: move it away, or a server that starts on it calls your targets again")
    })?;
    if !session.is_json() {
        say_applied(options, applied);
        say!(
            "{rows} rows of {} copied to {} in {}",
            file.display(),
            options.place(),
            span(millis(began.elapsed()))
        );
        say!(
            "{} marks the old file as moved: no server will start on it",
            note.display()
        );
    }
    Ok(rows)
}
