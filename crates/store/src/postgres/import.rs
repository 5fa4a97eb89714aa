//! From one machine to many: everything in an SQLite file, carried into a database that is empty.

use std::path::Path;
use std::pin::Pin;

use tokio::sync::mpsc;
use tokio_postgres::Client;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};

use super::cell::{self, Cell};
use super::options::Options;
use super::{columns, connect, migrate};
use crate::ReadError;
use crate::error::{joined, off_thread};
use crate::sqlite::Original;
use crate::table::{Rows, TABLES, Table};

/// Loads that wait to be sent, at most.
const LOADS_WAITING_MAX: usize = 2;
/// Tables are long, and indexes are filled with them.
const SESSION: &str = "SET statement_timeout = 0;
    SET idle_in_transaction_session_timeout = '10min'";
/// Nobody else writes meanwhile, and whatever is there has been seen.
const LOCK: &str = "LOCK TABLE nodes, workflows, executions IN EXCLUSIVE MODE";
/// New workflows go on counting where those that were carried end.
const COUNT_ON: &str = "SELECT setval(pg_get_serial_sequence('workflows', 'key'), max(key))
   FROM workflows HAVING count(*) > 0";

/// What the thread that reads says.
enum Told {
    /// So many rows there are in all.
    Begin(u64),
    Rows(Rows),
    /// The next table follows.
    TableEnd,
}

/// Carries everything over, or nothing. The number of rows is the answer.
pub(super) async fn import(
    options: &Options,
    from: &Path,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> Result<u64, ReadError> {
    // The file first: if it cannot be used, nothing is made.
    let now = cell::now(&migrate::checked(options).await?).await?;
    let source = from.to_owned();
    let mut original = off_thread(move || Original::open(&source, now)).await?;
    migrate::ensure(options).await?;
    let client = connect::connect(options, "import").await?;
    client.batch_execute(SESSION).await?;
    client.batch_execute("BEGIN").await?;
    client.batch_execute(LOCK).await?;
    refuse_unless_empty(&client, &options.place()).await?;
    let (told, mut hearing) = mpsc::channel(LOADS_WAITING_MAX);
    let reading = off_thread(move || {
        original.bring_up_to_date(now)?;
        read(&original, &told)
    });
    let reading = tokio::spawn(reading);
    let written = write(&client, &mut hearing, progress).await;
    drop(hearing);
    let read = joined(reading.await);
    // Whichever failed first made the other one fail; the database says more.
    let rows = match (written, read) {
        (Ok(rows), Ok(())) => rows,
        (Err(Stopped::Database(error)), _) => return Err(error),
        (Err(Stopped::NoMore) | Ok(_), Err(error)) => return Err(error),
        (Err(Stopped::NoMore), Ok(())) => {
            return Err(ReadError::Unavailable(
                "the file was not read to its end".into(),
            ));
        }
    };
    client.batch_execute("COMMIT").await?;
    // Plans are bad until the server knows what it has.
    if let Err(error) = client.batch_execute("ANALYZE").await {
        tracing::warn!(error = ?error, "the imported tables could not be analysed");
    }
    progress(rows, rows);
    Ok(rows)
}

/// Why the writing side stopped.
enum Stopped {
    Database(ReadError),
    /// The reading side ended early.
    NoMore,
}

impl<E: Into<ReadError>> From<E> for Stopped {
    fn from(error: E) -> Self {
        Self::Database(error.into())
    }
}

async fn refuse_unless_empty(client: &Client, place: &str) -> Result<(), ReadError> {
    let refuse = |why: String| ReadError::File {
        what: format!("nothing is imported into {place}: it is not empty"),
        source: why.into(),
    };
    let tables = TABLES.iter().map(|table| table.name).chain(["nodes"]);
    for table in tables {
        let sql = format!("SELECT EXISTS (SELECT 1 FROM {table})");
        let row = client.query_one(&sql, &[]).await?;
        if columns::get(&row, 0)? {
            let why = match table {
                "nodes" => "a node is using it".to_owned(),
                _ => format!("there are {table}"),
            };
            return Err(refuse(why));
        }
    }
    Ok(())
}

/// Reads the file to its end, or until nobody listens.
fn read(original: &Original, told: &mpsc::Sender<Told>) -> Result<(), ReadError> {
    let say = |what| {
        told.blocking_send(what)
            .map_err(|_| ReadError::Unavailable("the database takes no more".into()))
    };
    let counts = TABLES.iter().map(|table| original.count(table));
    say(Told::Begin(counts.sum::<Result<u64, _>>()?))?;
    for table in TABLES {
        original.rows(table, |rows| say(Told::Rows(rows)))?;
        say(Told::TableEnd)?;
    }
    Ok(())
}

async fn write(
    client: &Client,
    hearing: &mut mpsc::Receiver<Told>,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> Result<u64, Stopped> {
    let Some(Told::Begin(all)) = hearing.recv().await else {
        return Err(Stopped::NoMore);
    };
    let mut done = 0;
    for table in TABLES {
        let before = done;
        let sql = format!(
            "COPY {} ({}) FROM STDIN (FORMAT binary)",
            table.name,
            table.column_list()
        );
        let types = table.columns().map(|(_, kind)| cell::type_of(kind));
        let types: Vec<Type> = types.collect();
        let mut copy = Box::pin(BinaryCopyInWriter::new(client.copy_in(&sql).await?, &types));
        loop {
            match hearing.recv().await {
                Some(Told::Rows(rows)) => {
                    put(copy.as_mut(), table, &rows).await?;
                    done += rows.len() as u64;
                    progress(done, all);
                }
                Some(Told::TableEnd) => break,
                Some(Told::Begin(_)) | None => return Err(Stopped::NoMore),
            }
        }
        copy.as_mut().finish().await?;
        let sql = format!("SELECT count(*) FROM {}", table.name);
        let there = columns::count(&client.query_one(&sql, &[]).await?, 0)?;
        if there != done - before {
            let sent = done - before;
            let differ = format!("{there} rows of {} arrived, {sent} were sent", table.name);
            return Err(ReadError::Unavailable(differ.into()).into());
        }
    }
    client.query_opt(COUNT_ON, &[]).await?;
    if done != all {
        let differ = format!("{done} rows were read where there are {all}");
        return Err(ReadError::Unavailable(differ.into()).into());
    }
    Ok(done)
}

async fn put(
    mut copy: Pin<&mut BinaryCopyInWriter>,
    table: &Table,
    rows: &Rows,
) -> Result<(), tokio_postgres::Error> {
    for row in rows {
        let columns = row.iter().zip(table.columns());
        let cells: Vec<Cell<'_>> = columns
            .map(|(value, (_, kind))| Cell(value, kind))
            .collect();
        let cells: Vec<&(dyn ToSql + Sync)> = cells.iter().map(|cell| cell as _).collect();
        copy.as_mut().write(&cells).await?;
    }
    Ok(())
}
