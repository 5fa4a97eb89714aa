//! Definition files named with `-f`: a file, a directory, or `-` for the standard input.
//!
//! A YAML file may hold several definitions, as documents separated by `---`.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use refire_client::model::FieldProblem;
use refire_core::definition::{ParseOptions, Problems, Workflow};

use super::excerpt::{excerpt, field_problem};
use crate::cli::prelude::*;

/// What files in a directory must end with to be read.
const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// A definition's text and where it comes from.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The file as it was named.
    pub(crate) file: String,
    /// The definition's text.
    pub(crate) text: String,
    /// How many lines of the file stand before it.
    lines_before: u32,
}

impl Source {
    /// Reads and checks it; problems have their place in the file.
    pub(crate) fn parse(&self) -> Result<Workflow, Problems> {
        Workflow::parse(&self.in_file(), &ParseOptions::default())
    }

    /// The same; problems are shown.
    pub(crate) fn check(&self) -> Option<Workflow> {
        self.shown(self.parse())
    }

    /// Shows the problems, if there are any.
    pub(crate) fn shown(&self, parsed: Result<Workflow, Problems>) -> Option<Workflow> {
        let show = |problems: &Problems| {
            for problem in problems {
                self.show(&field_problem(problem));
            }
        };
        parsed.inspect_err(show).ok()
    }

    /// Shows a problem that was found in the text as it was sent.
    pub(crate) fn show_sent(&self, problem: &FieldProblem) {
        let mut problem = problem.clone();
        problem.line = problem.line.map(|line| line + self.lines_before);
        self.show(&problem);
    }

    fn show(&self, problem: &FieldProblem) {
        say(excerpt(&self.file, &self.in_file(), problem).trim_end());
    }

    /// The text in the lines where it stands in its file.
    fn in_file(&self) -> Cow<'_, str> {
        match self.lines_before {
            0 => Cow::Borrowed(&self.text),
            lines => Cow::Owned("\n".repeat(lines as usize) + &self.text),
        }
    }

    /// The definitions in it: the documents of YAML that are not empty, or the text as it is.
    fn documents(self) -> Vec<Self> {
        let mut starts = Vec::new();
        let mut has_content = false;
        for (at, line) in self.text.lines().enumerate() {
            let is_mark = line == "---" || line.starts_with("--- ") || line.starts_with("---\t");
            // A directive belongs to the document after it.
            if (is_mark && has_content) || starts.is_empty() {
                starts.push(at);
                has_content = false;
            }
            let inside = if is_mark { &line[3..] } else { line }.trim();
            has_content |= !inside.is_empty() && !inside.starts_with(['#', '%']);
        }
        if starts.len() < 2 {
            return vec![self];
        }
        let lines: Vec<&str> = self.text.split_inclusive('\n').collect();
        let mut ends = starts.split_off(1);
        starts.extend(&ends);
        if has_content {
            ends.push(lines.len());
        } else {
            starts.pop();
        }
        let document = |(start, end): (usize, usize)| Self {
            file: self.file.clone(),
            text: lines[start..end].concat(),
            lines_before: self.lines_before + u32::try_from(start).unwrap_or(u32::MAX),
        };
        starts.into_iter().zip(ends).map(document).collect()
    }
}

/// Reads everything that was named, in order; a directory's files by name.
pub(crate) fn read_all(paths: &[PathBuf]) -> anyhow::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in paths {
        let files = match path.is_dir() {
            true => files_of(path)?,
            false => vec![path.clone()],
        };
        for file in files {
            sources.extend(read(&file)?.documents());
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
    let (file, text) = if path == Path::new("-") {
        let text = io::read_to_string(io::stdin()).context("standard input cannot be read")?;
        ("<stdin>".to_owned(), text)
    } else {
        let file = path.display().to_string();
        let text = std::fs::read_to_string(path);
        (
            file.clone(),
            text.with_context(|| format!("{file} cannot be read"))?,
        )
    };
    Ok(Source {
        file,
        text,
        lines_before: 0,
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
            "{} contains no .yaml, .yml or .json file",
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
    fn a_file_may_hold_several_documents() {
        let split = |text: &str| {
            let source = Source {
                file: "f".to_owned(),
                text: text.to_owned(),
                lines_before: 0,
            };
            let documents = source.documents().into_iter();
            documents
                .map(|one| (one.lines_before, one.text))
                .collect::<Vec<_>>()
        };
        for text in ["id: a\n", "---\nid: a\n", "# c\n---\nid: a\n", "", "{\n}"] {
            assert_eq!(split(text), [(0, text.to_owned())]);
        }
        assert_eq!(split("id: a\n---\n# end\n"), [(0, "id: a\n".to_owned())]);
        let text = "# first\nid: a\nsteps: |\n  ---\n---\nid: b\n--- # third\nid: c";
        assert_eq!(
            split(text),
            [
                (0, "# first\nid: a\nsteps: |\n  ---\n".to_owned()),
                (4, "---\nid: b\n".to_owned()),
                (6, "--- # third\nid: c".to_owned())
            ]
        );
    }

    #[test]
    fn an_empty_directory_is_a_mistake() {
        let directory = tempfile::tempdir().unwrap();
        let error = read_all(&[directory.path().to_owned()]).unwrap_err();
        assert!(
            error.to_string().contains("no .yaml, .yml or .json file"),
            "{error}"
        );
    }
}
