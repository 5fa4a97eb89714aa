//! Online backup: a copy of the file, page by page, while commits go on.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use tokio::sync::mpsc;

use super::new_file::NewFile;
use super::single_writer::SingleWriter;
use super::{connect, failure};
use crate::ReadError;
use crate::error::joined;

/// Pages copied in one step (1 MB); commits wait for at most one step.
const PAGES_PER_STEP: i32 = 256;
/// Between two steps the copy waits so long for commits, so that it does not take the whole disk.
const PAUSE: Duration = Duration::from_micros(500);
/// Reports of progress that may wait for the caller; the rest are dropped.
const REPORTS_WAITING_MAX: usize = 16;

/// Copies the database to a new file. It is there, complete and synced, or not at all.
pub(super) async fn backup(
    desk: Arc<SingleWriter>,
    to: &Path,
    progress: &(dyn Fn(u64, u64) + Send + Sync),
) -> Result<(), ReadError> {
    let (reports, mut reported) = mpsc::channel(REPORTS_WAITING_MAX);
    let target = to.to_owned();
    let copying = tokio::task::spawn_blocking(move || run(&desk, &target, &reports));
    // The callback is borrowed, so it is called here and not on the thread that copies.
    while let Some((done, all)) = reported.recv().await {
        progress(done, all);
    }
    joined(copying.await)
}

fn run(
    desk: &SingleWriter,
    target: &Path,
    reports: &mpsc::Sender<(u64, u64)>,
) -> Result<(), ReadError> {
    let file = NewFile::begin(target)?;
    let pages = copy(desk, file.path(), reports)?;
    file.publish()?;
    let _ = reports.blocking_send((pages, pages));
    Ok(())
}

fn copy(
    desk: &SingleWriter,
    partial: &Path,
    reports: &mpsc::Sender<(u64, u64)>,
) -> Result<u64, ReadError> {
    let mut destination = connect::copy(partial)?;
    let pages = copy_pages(desk, &mut destination, reports)?;
    // Who was logged out meanwhile must not be logged in again where the copy is used.
    destination.execute("DELETE FROM sessions", [])?;
    destination.close().map_err(|(_, error)| {
        failure::file(format!("{} cannot be closed", partial.display()))(error)
    })?;
    Ok(pages)
}

fn copy_pages(
    desk: &SingleWriter,
    destination: &mut Connection,
    reports: &mpsc::Sender<(u64, u64)>,
) -> Result<u64, ReadError> {
    let mut loan = desk.borrow()?;
    let Some((connection, scribe, guests)) = loan.parts() else {
        return Ok(0);
    };
    let backup = Backup::new(connection, destination)?;
    loop {
        // Busy and locked are temporary: the next step tries again.
        let step = backup.step(PAGES_PER_STEP)?;
        let count = |pages: i32| u64::try_from(pages).unwrap_or(0);
        let all = count(backup.progress().pagecount);
        if step == StepResult::Done {
            return Ok(all);
        }
        let _ = reports.try_send((all.saturating_sub(count(backup.progress().remaining)), all));
        if desk.is_closing() {
            return Err(ReadError::Unavailable(
                "the database is being closed".into(),
            ));
        }
        guests.serve(connection, scribe, PAUSE);
    }
}
