//! An embedded database whose contents were moved elsewhere says so in a file beside it: a server on it
//! would call the targets of everything that is open once more.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::anyhow;

/// Beside `refire.db` it is `refire.db.moved`.
fn note_of(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(".moved");
    PathBuf::from(name)
}

/// Notes where its contents are now; the file that says so.
pub(crate) fn note(database: &Path, to: &str) -> io::Result<PathBuf> {
    let note = note_of(database);
    std::fs::write(&note, format!("PostgreSQL at {to}\n"))?;
    Ok(note)
}

/// Refuses a database whose contents are elsewhere.
pub(super) fn refuse(database: &Path) -> anyhow::Result<()> {
    let note = note_of(database);
    if !database.exists() {
        return Ok(());
    }
    match std::fs::read_to_string(&note) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(anyhow!(error).context(format!("{} cannot be read", note.display()))),
        Ok(place) => Err(anyhow!(
            "{} was moved to {}: a server on the old file would call your targets again for all \
             open executions\n\
             start with `--database postgres://…` (or REFIRE_DATABASE_URL), or, to undo the move, \
             delete {}",
            database.display(),
            place.trim(),
            note.display()
        )),
    }
}
