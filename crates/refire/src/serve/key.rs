//! The admin key: given, found, or made at the first start.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use refire_engine::entropy::{Entropy, SystemEntropy};

use crate::config::ServeConfig;

/// In the data directory; the command line on the same machine finds it there.
const FILE: &str = "admin.key";
/// Only the server's user reads it.
const MODE: u32 = 0o600;
/// Random bytes of a key.
const BYTES: usize = 32;
/// A given key that is shorter is refused.
const LENGTH_MIN: usize = 16;

/// The admin key of this run.
pub(super) struct Obtained {
    /// The key itself.
    pub(super) text: String,
    /// Where it was written, if it was made just now.
    pub(super) new_file: Option<PathBuf>,
}

/// The key to use.
pub(super) fn obtain(config: &ServeConfig) -> anyhow::Result<Obtained> {
    if let Some(key) = &config.admin_key {
        if key.len() < LENGTH_MIN || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            bail!("REFIRE_ADMIN_KEY: a key has at least {LENGTH_MIN} characters and no spaces");
        }
        return Ok(Obtained {
            text: key.clone(),
            new_file: None,
        });
    }
    let path = config.data_dir.join(FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => found(&path, text.trim()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let text = make();
            write(&path, &text).with_context(|| {
                format!("the admin key cannot be written to {}", path.display())
            })?;
            Ok(Obtained {
                text,
                new_file: Some(path),
            })
        }
        Err(error) => Err(error)
            .with_context(|| format!("the admin key in {} cannot be read", path.display())),
    }
}

fn found(path: &Path, key: &str) -> anyhow::Result<Obtained> {
    if key.len() < LENGTH_MIN {
        bail!(
            "{} holds no key; remove the file to have a new one made",
            path.display()
        );
    }
    let mode = path
        .metadata()
        .map_or(0, |metadata| metadata.permissions().mode());
    if mode & 0o077 != 0 {
        tracing::warn!(path = %path.display(), "others on this machine can read the admin key");
    }
    Ok(Obtained {
        text: key.to_owned(),
        new_file: None,
    })
}

fn make() -> String {
    let mut bytes = [0; BYTES];
    SystemEntropy::default().fill(&mut bytes);
    format!("rf_{}", BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// Written under another name first, so that there is never half a key; and on disk with its name
/// before it is shown, since it is shown only once.
fn write(path: &Path, key: &str) -> std::io::Result<()> {
    let partial = path.with_extension("key.partial");
    // A stale one may have another owner or mode; ours is made anew.
    let _ = std::fs::remove_file(&partial);
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(MODE)
        .open(&partial)?;
    writeln!(file, "{key}")?;
    file.sync_all()?;
    std::fs::rename(&partial, path)?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    File::open(folder.unwrap_or_else(|| Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_long_and_random() {
        let (a, b) = (make(), make());
        assert_ne!(a, b);
        assert_eq!((a.len(), a.starts_with("rf_")), (46, true));
    }

    #[test]
    fn it_is_kept_for_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(FILE);
        write(&path, "rf_0123456789abcdef").unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, MODE);
        let read = std::fs::read_to_string(&path).unwrap();
        assert_eq!(
            found(&path, read.trim()).unwrap().text,
            "rf_0123456789abcdef"
        );
        assert!(found(&path, "").is_err());
    }
}
