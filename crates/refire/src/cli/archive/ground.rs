//! The directory of an archive: files of lines, none too large, and where the last run ended.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// A file that has so many bytes is followed by another.
const FILE_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// Only its owner reads an archive: it holds all inputs and outputs.
const PRIVATE: u32 = 0o600;
/// Where it is said how far the archive goes.
const MARK: &str = "archive.json";
/// What the names of files with executions end with.
const LINES: &str = "ndjson";

/// How far an archive goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Mark {
    /// What began before is in it.
    pub(super) until: String,
    /// But for these, which were open.
    pub(super) open: BTreeSet<String>,
}

/// See the module.
pub(super) struct Ground {
    directory: PathBuf,
    mark: Option<Mark>,
    file: Option<(BufWriter<File>, u64)>,
    written: Written,
}

/// What was written.
#[derive(Debug, Default)]
pub(super) struct Written {
    pub(super) executions: u64,
    pub(super) bytes: u64,
    pub(super) files: Vec<PathBuf>,
}

impl Ground {
    /// Makes the directory if it is missing.
    pub(super) fn open(directory: &Path) -> anyhow::Result<Self> {
        let shown = directory.display();
        fs::create_dir_all(directory).with_context(|| format!("{shown} cannot be made"))?;
        let path = directory.join(MARK);
        let mark = match fs::read(&path) {
            Ok(text) => Some(
                serde_json::from_slice(&text)
                    .with_context(|| format!("{} cannot be read", path.display()))?,
            ),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error).context(format!("{} cannot be read", path.display())),
        };
        Ok(Self {
            directory: directory.to_owned(),
            mark,
            file: None,
            written: Written::default(),
        })
    }

    /// Where the last run ended.
    pub(super) fn mark(&self) -> Option<Mark> {
        self.mark.clone()
    }

    /// Adds a line.
    pub(super) fn write(&mut self, line: &str) -> anyhow::Result<()> {
        if self
            .file
            .as_ref()
            .is_some_and(|(_, size)| *size >= FILE_BYTES_MAX)
        {
            self.close()?;
        }
        if self.file.is_none() {
            self.file = Some((self.next()?, 0));
        }
        let Some((file, size)) = &mut self.file else {
            return Ok(());
        };
        writeln!(file, "{line}").context("the archive cannot be written")?;
        let bytes = line.len() as u64 + 1;
        *size += bytes;
        self.written.bytes += bytes;
        self.written.executions += 1;
        Ok(())
    }

    /// A new file, which no run has written to.
    fn next(&mut self) -> anyhow::Result<BufWriter<File>> {
        for number in 1.. {
            let path = self
                .directory
                .join(format!("executions-{number:06}.{LINES}"));
            let mut options = OpenOptions::new();
            let made = options
                .write(true)
                .create_new(true)
                .mode(PRIVATE)
                .open(&path);
            match made {
                Ok(file) => {
                    self.written.files.push(path);
                    return Ok(BufWriter::new(file));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).context(format!("{} cannot be made", path.display()));
                }
            }
        }
        anyhow::bail!("the archive has too many files")
    }

    fn close(&mut self) -> anyhow::Result<()> {
        if let Some((file, _)) = self.file.take() {
            let file = file.into_inner().map_err(|error| error.into_error());
            file.and_then(|file| file.sync_all())
                .context("the archive cannot be written")?;
        }
        Ok(())
    }

    /// Everything is on disk, and only then it is said how far the archive goes.
    pub(super) fn end(&mut self, mark: &Mark) -> anyhow::Result<Written> {
        self.close()?;
        let (path, new) = (
            self.directory.join(MARK),
            self.directory.join("archive.json.new"),
        );
        let write = || {
            let mut options = OpenOptions::new();
            options
                .write(true)
                .create(true)
                .truncate(true)
                .mode(PRIVATE);
            let mut file = options.open(&new)?;
            file.write_all(&serde_json::to_vec(mark)?)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            File::open(&self.directory)?.sync_all()
        };
        write().with_context(|| format!("{} cannot be written", path.display()))?;
        Ok(std::mem::take(&mut self.written))
    }

    /// How large all files are together.
    pub(super) fn bytes(&self) -> anyhow::Result<u64> {
        let mut bytes = 0;
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            if entry.path().extension().is_some_and(|it| it == LINES) {
                bytes += entry.metadata()?.len();
            }
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_goes_on_where_the_last_one_ended() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join("new/archive");
        let mark = Mark {
            until: "2026-11-01T00:00:00Z".to_owned(),
            open: BTreeSet::from(["exec_1".to_owned()]),
        };
        let mut first = Ground::open(&place).unwrap();
        assert_eq!(first.mark(), None);
        first.write("{\"a\":1}").unwrap();
        first.write("{\"a\":2}").unwrap();
        let written = first.end(&mark).unwrap();
        assert_eq!((written.executions, written.bytes), (2, 16));
        assert_eq!(
            fs::read_to_string(&written.files[0]).unwrap(),
            "{\"a\":1}\n{\"a\":2}\n"
        );
        let mut second = Ground::open(&place).unwrap();
        assert_eq!(second.mark(), Some(mark.clone()));
        second.write("{}").unwrap();
        let files = second.end(&mark).unwrap().files;
        assert!(files[0].ends_with("executions-000002.ndjson"), "{files:?}");
        assert_eq!(second.bytes().unwrap(), 19);
        // Nothing to write makes no file.
        assert_eq!(
            Ground::open(&place)
                .unwrap()
                .end(&mark)
                .unwrap()
                .files
                .len(),
            0
        );
    }
}
