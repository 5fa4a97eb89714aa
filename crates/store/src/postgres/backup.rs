//! A backup of the database: an SQLite file with the same content, as of one moment, which the
//! embedded store opens as its own.

use std::path::Path;
use std::pin::pin;

use futures_util::TryStreamExt;
use tokio::sync::mpsc;
use tokio_postgres::Client;
use tokio_postgres::types::ToSql;

use super::options::Options;
use super::{cell, connect};
use crate::ReadError;
use crate::error::{joined, off_thread};
use crate::sqlite::NewCopy;
use crate::table::{Load, Rows, TABLES, Table};

/// Loads that wait to be written, at most.
const LOADS_WAITING_MAX: usize = 2;
/// Tables are long, and the disk of the copy may be slow.
const SESSION: &str = "SET statement_timeout = 0;
    SET idle_in_transaction_session_timeout = '10min'";
/// Everything is read as it was when this began.
const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY";

/// What the thread that writes is told.
enum Told {
    Rows(&'static Table, Rows),
    /// All of it has come.
    End,
}

/// Copies the database to a new file. It is there, complete and synced, or not at all.
pub(super) async fn backup(
    options: &Options,
    to: &Path,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> Result<(), ReadError> {
    let client = connect::connect(options, "backup").await?;
    client.batch_execute(SESSION).await?;
    let (now, target) = (cell::now(&client).await?, to.to_owned());
    let copy = off_thread(move || NewCopy::begin(&target, now)).await?;
    let (loads, arriving) = mpsc::channel(LOADS_WAITING_MAX);
    let writing = tokio::spawn(off_thread(move || write(copy, arriving)));
    let read = read(&client, &loads, progress).await;
    drop(loads);
    let written = joined(writing.await);
    // If the thread that writes failed, what could not be handed to it says nothing.
    written?;
    let all = read?;
    progress(all, all);
    Ok(())
}

/// Without the end nothing is left behind.
fn write(copy: NewCopy, mut arriving: mpsc::Receiver<Told>) -> Result<(), ReadError> {
    while let Some(told) = arriving.blocking_recv() {
        match told {
            Told::Rows(table, rows) => copy.put(table, &rows)?,
            Told::End => return copy.finish(),
        }
    }
    Ok(())
}

/// Reads all tables, and says how many rows that were.
async fn read(
    client: &Client,
    loads: &mpsc::Sender<Told>,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> Result<u64, ReadError> {
    client.batch_execute(BEGIN).await?;
    let mut all = 0;
    for table in TABLES {
        all += cell::count(client, table).await?;
    }
    let mut done = 0;
    for table in TABLES {
        let nothing: [&(dyn ToSql + Sync); 0] = [];
        // The server sends on only as fast as rows are taken.
        let mut rows = pin!(client.query_raw(&cell::select(table), nothing).await?);
        let mut load = Load::default();
        while let Some(row) = rows.try_next().await? {
            if let Some(full) = load.add(table.values(&row)?) {
                done += full.len() as u64;
                hand_over(loads, Told::Rows(table, full)).await?;
                progress(done, all);
            }
        }
        let rest = load.take();
        done += rest.len() as u64;
        hand_over(loads, Told::Rows(table, rest)).await?;
    }
    if done != all {
        return Err(ReadError::Unavailable(
            format!("{done} rows were read where there are {all}").into(),
        ));
    }
    hand_over(loads, Told::End).await?;
    Ok(done)
}

async fn hand_over(loads: &mpsc::Sender<Told>, told: Told) -> Result<(), ReadError> {
    loads
        .send(told)
        .await
        .map_err(|_| ReadError::Unavailable("the copy cannot be written".into()))
}
