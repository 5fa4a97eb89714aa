//! Lets a person edit a JSON text in their editor.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, bail};
use refire_core::json::Json;

use crate::cli::prelude::*;

/// What is opened when neither VISUAL nor EDITOR is set.
const DEFAULT_EDITOR: &str = "vi";

/// Opens the text in lines and gives what was made of it; `None` = it was left as it is.
///
/// When the result is not JSON the file stays, so that no work is lost.
pub(crate) fn edit(name: &str, text: &str) -> anyhow::Result<Option<Json>> {
    let before = format!("{}\n", pretty(text));
    let path = std::env::temp_dir().join(format!("refire-{name}-{}.json", std::process::id()));
    create(&path)?
        .write_all(before.as_bytes())
        .with_context(|| format!("{} cannot be written", path.display()))?;
    run(&path)?;
    let after = std::fs::read_to_string(&path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    if after == before {
        remove(&path);
        return Ok(None);
    }
    match Json::parse(after.as_str()) {
        Ok(json) => {
            remove(&path);
            Ok(Some(json))
        }
        Err(error) => bail!(
            "{path}:{}:{}: not JSON: {}\n  your text is saved; correct it and use --input @{path}",
            error.line,
            error.column,
            error.message,
            path = path.display(),
        ),
    }
}

/// The text may hold somebody's data, so nobody else may read the file, and a file that is
/// already there under this name is not ours.
fn create(path: &PathBuf) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
        .open(path)
        .with_context(|| format!("{} cannot be created", path.display()))
}

fn run(path: &PathBuf) -> anyhow::Result<()> {
    let set = |name| {
        std::env::var(name)
            .ok()
            .filter(|value: &String| !value.trim().is_empty())
    };
    let editor = set("VISUAL")
        .or_else(|| set("EDITOR"))
        .unwrap_or_else(|| DEFAULT_EDITOR.to_owned());
    // Values like `code --wait` have arguments.
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or(DEFAULT_EDITOR);
    let status = Command::new(program)
        .args(words)
        .arg(path)
        .status()
        .with_context(|| format!("`{editor}` cannot be started; set EDITOR to your editor"))?;
    if !status.success() {
        remove(path);
        bail!("`{editor}` ended with {status}; nothing was done");
    }
    Ok(())
}

/// What is left over in the temporary directory is not worth an error.
fn remove(path: &PathBuf) {
    let _ = std::fs::remove_file(path);
}
