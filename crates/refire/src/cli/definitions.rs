//! Definition files named with `-f`: a file, a directory, or `-` for the standard input.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use refire_core::definition::{ParseOptions, Workflow};

use super::excerpt::{excerpt, field_problem};
use super::output::say;

/// What files in a directory must end with to be read.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// A definition's text and where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The file as it was named.
    pub(crate) file: String,
    /// Its text.
    pub(crate) text: String,
}

impl Source {
    /// Reads and checks it; problems are shown with their place.
    pub(crate) fn check(&self) -> Option<Workflow> {
        match Workflow::parse(&self.text, &ParseOptions::default()) {
            Ok(workflow) => Some(workflow),
            Err(problems) => {
                for problem in &problems {
                    let text = excerpt(&self.file, &self.text, &field_problem(problem));
                    say(text.trim_end());
                }
                None
            }
        }
    }
}

/// Reads everything that was named, in order; a directory's files by name.
pub(crate) fn read_all(paths: &[PathBuf]) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in paths {
        if path.is_dir() {
            for file in files_of(path)? {
                sources.push(read(&file)?);
            }
        } else {
            sources.push(read(path)?);
        }
    }
    Ok(sources)
}

/// Whether exactly one file was named.
pub(crate) fn is_one_file(paths: &[PathBuf]) -> bool {
    matches!(paths, [path] if !path.is_dir())
}

/// Reads one file or the standard input.
pub(crate) fn read(path: &Path) -> anyhow::Result<Source> {
    if path == Path::new("-") {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("the standard input cannot be read")?;
        return Ok(Source {
            file: "<stdin>".to_owned(),
            text,
        });
    }
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    Ok(Source {
        file: path.display().to_string(),
        text,
    })
}

fn files_of(directory: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let what = || format!("{} cannot be read", directory.display());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).with_context(what)? {
        let path = entry.with_context(what)?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_file() && extension.is_some_and(|known| EXTENSIONS.contains(&known)) {
            files.push(path);
        }
    }
    if files.is_empty() {
        bail!(
            "{} has no file that ends with .yaml, .yml or .json",
            directory.display()
        );
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_gives_its_definitions_by_name() {
        let directory = tempfile::tempdir().unwrap();
        for name in ["b.yml", "a.yaml", "c.json", "notes.txt"] {
            std::fs::write(directory.path().join(name), name).unwrap();
        }
        let sources = read_all(&[directory.path().to_owned()]).unwrap();
        let texts: Vec<_> = sources.iter().map(|source| source.text.as_str()).collect();
        assert_eq!(texts, ["a.yaml", "b.yml", "c.json"]);
        assert!(!is_one_file(&[directory.path().to_owned()]));
        assert!(is_one_file(&[PathBuf::from("-")]));
    }

    #[test]
    fn an_empty_directory_is_a_mistake() {
        let directory = tempfile::tempdir().unwrap();
        let error = read_all(&[directory.path().to_owned()]).unwrap_err();
        assert!(
            error.to_string().contains("no file that ends with .yaml"),
            "{error}"
        );
    }
}
