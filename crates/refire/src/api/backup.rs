//! A copy of the store, as a new file in the directory for backups and nowhere else: whoever has a
//! key may not write all over the server's machine.

use std::fs::DirBuilder;
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

use axum::Json;
use refire_client::model::{BackupRequest, BackupResult};
use refire_store::ReadError;

use super::{Answer, App, Content, Params, Problem};
use crate::codes;

/// Nobody else on the machine may look into the directory.
const DIRECTORY_MODE: u32 = 0o700;

/// Backs up all data to a new file in the server's backup directory, while the server runs. The file is
/// an SQLite database, also for PostgreSQL.
#[utoipa::path(
    post,
    path = "/api/backup",
    request_body(content = BackupRequest, example = json!({"to": "refire-2026-11-15.db"})),
    responses(
        (status = 200, description = "The copy is complete and on disk", body = BackupResult),
        (status = 400, description = "The body is wrong, or the file would be elsewhere"),
        (status = 409, description = "The file exists or cannot be written"),
    ),
)]
pub(super) async fn back_up(app: App, _: Params<()>, body: Content) -> Answer<BackupResult> {
    let wish: BackupRequest = body.read()?;
    let directory = app.backup_dir.clone();
    let target = tokio::task::spawn_blocking(move || place(&directory, &wish.to))
        .await
        .map_err(Problem::internal)??;
    let began = Instant::now();
    app.engine
        .store()
        .backup(&target, &|_, _| {})
        .await
        .map_err(refused)?;
    let bytes = tokio::fs::metadata(&target)
        .await
        .map_err(Problem::internal)?
        .len();
    Ok(Json(BackupResult {
        path: target.display().to_string(),
        bytes,
        duration_ms: u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }))
}

/// Where a file goes that is named so. The directory for backups is made if it is missing.
fn place(directory: &Path, to: &str) -> Result<PathBuf, Problem> {
    let refuse = |message: &str| Err(Problem::field(&codes::INVALID_BODY, "to", message));
    let elsewhere = || {
        let place = directory.display();
        refuse(&format!(
            "is not in the server's directory for backups, {place}; --backup-dir sets another"
        ))
    };
    let wish = Path::new(to);
    let Some(name) = wish.file_name().filter(|_| !to.ends_with('/')) else {
        return refuse("is not the name of a file; name a new one in the directory for backups");
    };
    if to.contains('\0') || wish.components().any(|part| part == Component::ParentDir) {
        return refuse("may have neither `..` nor a zero byte");
    }
    let root = made(directory)
        .map_err(|error| cannot(format!("{} cannot be made: {error}", directory.display())))?;
    let folder = wish.parent().unwrap_or_else(|| Path::new(""));
    let folder = match folder.is_absolute() {
        false => root.join(folder),
        true => folder.to_owned(),
    };
    // What is there counts, wherever links lead to.
    match folder.canonicalize() {
        Ok(folder) if folder.starts_with(&root) => Ok(folder.join(name)),
        Err(error) if error.kind() == ErrorKind::NotFound && folder.starts_with(&root) => {
            let (file, folder) = (folder.join(name), folder);
            Err(cannot(format!(
                "{} cannot be written: the directory {} does not exist",
                file.display(),
                folder.display()
            )))
        }
        _ => elsewhere(),
    }
}

/// The directory, by its real name.
fn made(directory: &Path) -> io::Result<PathBuf> {
    DirBuilder::new()
        .recursive(true)
        .mode(DIRECTORY_MODE)
        .create(directory)?;
    directory.canonicalize()
}

fn cannot(detail: String) -> Problem {
    Problem::new(&codes::CANNOT_BACK_UP, detail)
}

/// A file that cannot be written is the caller's to choose again, and its story is theirs.
fn refused(error: ReadError) -> Problem {
    match error {
        ReadError::File { what, source } => cannot(format!("{what}: {source}")),
        other => other.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    #[test]
    fn only_the_directory_for_backups_is_written_to() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        let backups = home.join("data/backups");
        let found = place(&backups, "a.db").unwrap();
        assert_eq!(found, backups.join("a.db"));
        let mode = backups.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, DIRECTORY_MODE);
        std::fs::create_dir(backups.join("daily")).unwrap();
        symlink(&home, backups.join("out")).unwrap();
        symlink(&backups, home.join("link")).unwrap();
        let inside = |path: &str| format!("{}/{path}", backups.display());
        for (to, expected) in [
            ("daily/a.db".to_owned(), Some(inside("daily/a.db"))),
            ("./a.db".to_owned(), Some(inside("a.db"))),
            (inside("daily/a.db"), Some(inside("daily/a.db"))),
            (
                format!("{}/link/a.db", home.display()),
                Some(inside("a.db")),
            ),
            ("../admin.key".to_owned(), None),
            (inside("../admin.key"), None),
            (format!("{}/data/admin.key", home.display()), None),
            ("/etc/passwd.db".to_owned(), None),
            ("/nowhere/a.db".to_owned(), None),
            ("out/a.db".to_owned(), None),
            (String::new(), None),
            ("..".to_owned(), None),
            ("daily/".to_owned(), None),
            ("a\0.db".to_owned(), None),
        ] {
            match (place(&backups, &to), expected) {
                (Ok(found), Some(expected)) => assert_eq!(found, Path::new(&expected), "{to}"),
                (Err(problem), None) => assert_eq!(problem.code(), &codes::INVALID_BODY, "{to}"),
                (found, _) => panic!("{to}: {found:?}"),
            }
        }
        let problem = place(&backups, "weekly/a.db").unwrap_err();
        assert_eq!(problem.code(), &codes::CANNOT_BACK_UP);
        assert!(problem.detail().contains("does not exist"));
    }
}
