//! A file that is there, complete and synced, or not at all: it is filled under another name.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{failure, private};
use crate::ReadError;

/// What a name ends with until its file is complete.
const PARTIAL: &str = "partial";

/// A file that is being filled; removed again unless it is published.
pub(super) struct NewFile {
    target: PathBuf,
    partial: PathBuf,
    is_published: bool,
    /// Locked, so that nobody else fills it.
    _filled: File,
}

impl NewFile {
    /// Makes it, empty, beside where it shall be.
    pub(super) fn begin(target: &Path) -> Result<Self, ReadError> {
        refuse_existing(target)?;
        refuse_partial(target)?;
        require_directory(target)?;
        let partial = partial_path(target);
        remove_stale(&partial)?;
        let filled = private::make_new(&partial)?;
        if filled.try_lock().is_err() || !is_at(&filled, &partial) {
            return Err(being_filled(&partial));
        }
        Ok(Self {
            _filled: filled,
            target: target.to_owned(),
            partial,
            is_published: false,
        })
    }

    /// Where it is filled.
    pub(super) fn path(&self) -> &Path {
        &self.partial
    }

    /// Makes it durable and gives it its name.
    pub(super) fn publish(mut self) -> Result<(), ReadError> {
        publish(&self.partial, &self.target)?;
        self.is_published = true;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_published
            && let Err(error) = remove_if_there(&self.partial)
        {
            tracing::warn!(%error, "an unfinished copy is left behind");
        }
    }
}

/// What a copy left behind that was interrupted goes; that of one under way stays.
fn remove_stale(partial: &Path) -> Result<(), ReadError> {
    if let Ok(file) = File::open(partial)
        && let Err(TryLockError::WouldBlock) = file.try_lock()
    {
        return Err(being_filled(partial));
    }
    remove_if_there(partial)
}

/// The copy of a file named like this one would remove it as the remains of its own.
fn refuse_partial(target: &Path) -> Result<(), ReadError> {
    if target
        .extension()
        .is_none_or(|extension| extension != PARTIAL)
    {
        return Ok(());
    }
    Err(ReadError::File {
        what: format!("{} cannot be written", target.display()),
        source: format!("names that end with .{PARTIAL} are for copies that are being written")
            .into(),
    })
}

/// Whether the file still has its name: somebody may have taken it for stale before it was locked.
fn is_at(file: &File, path: &Path) -> bool {
    let place = |metadata: &std::fs::Metadata| (metadata.dev(), metadata.ino());
    matches!((file.metadata(), path.metadata()), (Ok(a), Ok(b)) if place(&a) == place(&b))
}

fn being_filled(partial: &Path) -> ReadError {
    ReadError::File {
        what: format!("{} cannot be written", partial.display()),
        source: "another copy is being written there".into(),
    }
}

fn refuse_existing(target: &Path) -> Result<(), ReadError> {
    match target.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Ok(_) => Err(exists(target)),
        Err(error) => Err(failure::file(format!(
            "{} cannot be written",
            target.display()
        ))(error)),
    }
}

fn exists(target: &Path) -> ReadError {
    ReadError::File {
        what: format!("{} cannot be written", target.display()),
        source: "the file exists already".into(),
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

fn partial_path(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".");
    name.push(PARTIAL);
    PathBuf::from(name)
}

pub(super) fn remove_if_there(path: &Path) -> Result<(), ReadError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(failure::file(format!(
            "{} cannot be removed",
            path.display()
        ))(error)),
        _ => Ok(()),
    }
}

/// Gives a file its name, and never that of another one.
fn name(partial: &Path, target: &Path) -> Result<(), ReadError> {
    let failed = || failure::file(format!("{} cannot be written", target.display()));
    match std::fs::hard_link(partial, target) {
        Ok(()) => remove_if_there(partial),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(exists(target)),
        // Not every file system has a second name for a file.
        Err(_) => {
            refuse_existing(target)?;
            std::fs::rename(partial, target).map_err(failed())
        }
    }
}

fn publish(partial: &Path, target: &Path) -> Result<(), ReadError> {
    sync(partial)?;
    name(partial, target)?;
    sync_directory_of(target)
}

/// Makes the names beside a file durable, and its own.
pub(super) fn sync_directory_of(path: &Path) -> Result<(), ReadError> {
    sync(directory_of(path))
}

fn sync(path: &Path) -> Result<(), ReadError> {
    File::open(path)
        .and_then(|file| file.sync_all())
        .map_err(failure::file(format!(
            "{} cannot be synced",
            path.display()
        )))
}
