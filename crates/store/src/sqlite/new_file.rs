//! A file that is there, complete and synced, or not at all: it is filled under another name.

use std::fs::File;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{failure, private};
use crate::ReadError;

/// A file that is being filled; removed again unless it is published.
pub(super) struct NewFile {
    target: PathBuf,
    partial: PathBuf,
    is_published: bool,
}

impl NewFile {
    /// Makes it, empty, beside where it shall be.
    pub(super) fn begin(target: &Path) -> Result<Self, ReadError> {
        refuse_existing(target)?;
        require_directory(target)?;
        let partial = partial_path(target);
        remove_if_there(&partial)?;
        private::make_new(&partial)?;
        Ok(Self {
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
