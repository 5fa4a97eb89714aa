//! Online backup: a copy of the file, page by page, while commits go on.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::backup::{Backup, StepResult};
use tokio::sync::mpsc;

use super::desk::Desk;
use super::{connect, failure};
use crate::ReadError;

/// Pages copied in one step (1 MB); commits wait for at most one step.
const PAGES_PER_STEP: i32 = 256;
/// Between two steps the copy waits so long for commits, so that it does not take the whole disk.
const PAUSE: Duration = Duration::from_micros(500);
/// Reports of progress that may wait for the caller; the rest are dropped.
const REPORTS_WAITING_MAX: usize = 16;

/// The mode of the copy: nobody but its owner reads or writes it.
#[cfg(unix)]
const OWNER_ONLY: u32 = 0o600;

/// Copies the database to a new file. It is there, complete and synced, or not at all.
pub(super) async fn backup(
    desk: Arc<Desk>,
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
    copying
        .await
        .unwrap_or_else(|broken| Err(ReadError::Unavailable(broken.into())))
}

fn run(desk: &Desk, target: &Path, reports: &mpsc::Sender<(u64, u64)>) -> Result<(), ReadError> {
    refuse_existing(target)?;
    require_directory(target)?;
    let partial = partial_path(target);
    remove_if_there(&partial)?;
    let copied = copy(desk, &partial, reports).and_then(|pages| {
        publish(&partial, target)?;
        Ok(pages)
    });
    match copied {
        Ok(pages) => {
            let _ = reports.blocking_send((pages, pages));
            Ok(())
        }
        Err(error) => {
            remove_if_there(&partial)?;
            Err(error)
        }
    }
}

fn refuse_existing(target: &Path) -> Result<(), ReadError> {
    let what = || format!("{} cannot be written", target.display());
    match target.try_exists() {
        Ok(false) => Ok(()),
        Ok(true) => Err(ReadError::File {
            what: what(),
            source: "the file exists already".into(),
        }),
        Err(error) => Err(failure::file(what())(error)),
    }
}

/// Names the directory that is missing, instead of a file that nobody asked for.
fn require_directory(target: &Path) -> Result<(), ReadError> {
    let directory = directory_of(target);
    match directory.metadata() {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(ReadError::File {
            what: format!(
                "{} cannot be written: {} is not a directory",
                target.display(),
                directory.display()
            ),
            source: std::io::Error::from(ErrorKind::NotADirectory).into(),
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(failure::file(format!(
            "{} cannot be written: the directory {} does not exist",
            target.display(),
            directory.display()
        ))(error)),
        Err(error) => Err(failure::file(format!(
            "{} cannot be written",
            target.display()
        ))(error)),
    }
}

fn directory_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes the file that only its owner may read: it will hold every input and output. SQLite gives
/// the files that it makes beside it the same mode.
fn create_private(path: &Path) -> Result<(), ReadError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, OWNER_ONLY);
    options
        .open(path)
        .map(drop)
        .map_err(failure::file(format!("{} cannot be made", path.display())))
}

fn partial_path(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

fn remove_if_there(path: &Path) -> Result<(), ReadError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failure::file(format!(
            "{} cannot be removed",
            path.display()
        ))(error)),
        _ => Ok(()),
    }
}

fn copy(desk: &Desk, partial: &Path, reports: &mpsc::Sender<(u64, u64)>) -> Result<u64, ReadError> {
    create_private(partial)?;
    let mut destination = connect::copy(partial)?;
    let pages = copy_pages(desk, &mut destination, reports)?;
    destination.close().map_err(|(_, error)| {
        failure::file(format!("{} cannot be closed", partial.display()))(error)
    })?;
    Ok(pages)
}

fn copy_pages(
    desk: &Desk,
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

/// Makes the copy durable and gives it its name.
fn publish(partial: &Path, target: &Path) -> Result<(), ReadError> {
    let sync = |path: &Path| File::open(path).and_then(|file| file.sync_all());
    sync(partial).map_err(failure::file(format!(
        "{} cannot be synced",
        partial.display()
    )))?;
    refuse_existing(target)?;
    std::fs::rename(partial, target).map_err(failure::file(format!(
        "{} cannot be renamed",
        partial.display()
    )))?;
    let directory = directory_of(target);
    sync(directory).map_err(failure::file(format!(
        "{} cannot be synced",
        directory.display()
    )))
}
