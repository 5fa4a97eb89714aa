//! The guides: links that lead somewhere, and facts that are written down in the program too.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::refire::Place;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Every page of the documentation, by its path.
fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"]
        .iter()
        .map(|name| root().join(format!("{name}.md")))
        .collect();
    for folder in [
        "docs",
        "docs/errors",
        "bench",
        "crates/retry",
        "examples/n8n",
    ] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path());
        found.extend(files.filter(|path| path.extension().is_some_and(|kind| kind == "md")));
    }
    assert!(found.len() > 50, "the pages were found");
    found
}

/// A page without its blocks of code, which are no Markdown.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The names that the headings of a page have in links.
fn anchors(text: &str) -> BTreeSet<String> {
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    let name = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    };
    headings.map(name).collect()
}

/// Where the links of a page lead to.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let parts = prose.split("](").skip(1);
    let ends = parts.filter_map(|part| part.split_once(')'));
    ends.map(|(link, _)| link.to_owned()).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for link in links(&text) {
            if link.contains("://") {
                continue;
            }
            count += 1;
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => page.clone(),
                file => page.parent().unwrap().join(file),
            };
            let is_there = target.exists()
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&target).unwrap()).contains(anchor));
            if !is_there {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(count > 200, "{count} links were found");
}

/// The API guide names every call there is.
#[test]
fn the_api_guide_has_every_call() {
    let api: Value = serde_json::from_str(&read("openapi.json")).unwrap();
    let guide = read("docs/api.md");
    let rows: Vec<&str> = guide.lines().filter(|line| line.starts_with('|')).collect();
    for (path, calls) in api["paths"].as_object().unwrap() {
        for method in calls.as_object().unwrap().keys() {
            let method = method.to_uppercase();
            let is_named = rows.iter().any(|row| {
                let after = row.split_once(path.as_str()).map(|(_, rest)| rest);
                // Not a longer path that begins like this one.
                let is_whole = after.is_some_and(|rest| rest.starts_with(['`', '?']));
                is_whole && row.contains(&format!("`{method}"))
            });
            assert!(is_named, "{method} {path}");
        }
    }
}

/// Lines of the log in the guides are lines that the program writes.
#[test]
fn the_lines_of_the_log_are_real() {
    let mut sources = String::new();
    for folder in ["crates/refire/src", "crates/engine/src", "crates/store/src"] {
        collect(&root().join(folder), &mut sources);
    }
    // A text may be broken into several lines of source.
    let sources = sources.replace("\\\n", "");
    let sources = sources.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for line in text.lines() {
            let level = ["INFO ", "WARN ", "ERROR "];
            let Some(start) = level.iter().find_map(|level| {
                let at = line.find(level)?;
                let before = &line[..at];
                let is_line = before.is_empty() || before.ends_with("Z  ");
                is_line.then_some(at + level.len())
            }) else {
                continue;
            };
            let words = line[start..].split(' ');
            let message: Vec<&str> = words.take_while(|word| !word.contains('=')).collect();
            let message = message.join(" ");
            assert!(
                sources.contains(&format!("\"{message}\"")),
                "{}: {message}",
                page.display()
            );
            count += 1;
        }
    }
    assert!(count > 5, "{count} lines were found");
}

fn collect(folder: &Path, into: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            into.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

/// Words in the outputs of the guides that are not the program's own: what a target answered, and what the
/// library that reads YAML says.
const FOREIGN: [&str; 2] = ["the payment service is down", "did not find expected"];

/// The words of a text; what is filled in later is `*`.
fn tokens(text: &str) -> Vec<String> {
    let mut filled = String::with_capacity(text.len());
    let mut depth = 0;
    for letter in text.chars() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => {
                depth -= 1;
                filled.push_str(" * ");
            }
            // Blocks of code are no placeholders.
            '\n' => {
                depth = 0;
                filled.push(' ');
            }
            letter if depth == 0 => filled.push(letter.to_ascii_lowercase()),
            _ => {}
        }
    }
    let words = filled.split(|letter: char| !(letter.is_ascii_lowercase() || letter == '*'));
    let words = words.filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// Sentences in what the guides show of a terminal are still said by the program: no two neighbouring
/// groups of three words may be missing in the sources.
#[test]
fn what_the_guides_quote_is_still_said() {
    let mut sources = String::new();
    for name in ["client", "core", "engine", "refire", "schedule", "store"] {
        collect(&root().join(format!("crates/{name}/src")), &mut sources);
    }
    let lines = sources.split("\\\n").map(str::trim_start);
    let words = tokens(&lines.collect::<Vec<_>>().concat());
    let known: BTreeSet<&[String]> = words.windows(3).collect();
    let is_said = |group: &[String]| {
        let with = |at: Option<usize>| {
            let mut group = group.to_vec();
            at.into_iter().for_each(|at| "*".clone_into(&mut group[at]));
            known.contains(group.as_slice())
        };
        [None, Some(0), Some(1), Some(2)].into_iter().any(with)
    };
    let mut count = 0;
    let mut stale = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let blocks = text.split("```console\n").skip(1);
        let shown = blocks.filter_map(|block| block.split("```").next());
        for line in shown.flat_map(str::lines) {
            if line.trim_start().starts_with('$') || FOREIGN.iter().any(|it| line.contains(it)) {
                continue;
            }
            for run in line.split(|letter: char| !(letter.is_ascii_alphabetic() || letter == ' ')) {
                let words: Vec<String> = run.split(' ').map(str::to_ascii_lowercase).collect();
                // Two spaces are between columns.
                for sentence in words.split(String::is_empty) {
                    let said: Vec<bool> = sentence.windows(3).map(is_said).collect();
                    count += said.len();
                    if said.windows(2).any(|two| two == [false, false]) {
                        stale.push(format!("{}: {}", page.display(), sentence.join(" ")));
                    }
                }
            }
        }
    }
    assert!(stale.is_empty(), "{stale:#?}");
    assert!(count > 300, "{count} groups were found");
}

/// Every option of a trigger is explained, not only in the help.
#[test]
fn every_option_of_a_trigger_is_in_a_guide() {
    let help = Place::new().run(&["trigger", "create", "--help"]).code(0);
    let options = help.out.split("Global options:").next().unwrap();
    let guides = read("docs/triggers.md") + &read("docs/webhooks.md") + &read("docs/schedules.md");
    let words = options.split(|c: char| !(c.is_ascii_lowercase() || c == '-'));
    let flags: BTreeSet<&str> = words
        .filter(|word| word.starts_with("--") && !["--help", "--file"].contains(word))
        .collect();
    assert!(flags.len() > 25, "{flags:?}");
    for flag in flags {
        assert!(guides.contains(flag), "{flag}");
    }
}

/// What `${trigger.type}` can be.
#[test]
fn every_kind_of_start_is_in_the_guide() {
    let guide = read("docs/workflows.md");
    let row = guide
        .lines()
        .find(|line| line.starts_with("| `${trigger.type}` |"));
    let row = row.unwrap();
    for kind in ["manual", "manual_dlq_retry", "cron", "schedule", "webhook"] {
        assert!(row.contains(&format!("`{kind}`")), "{kind}");
    }
}

/// Every step type has its section, and every key of its `config` a line there.
#[test]
fn every_step_type_is_in_the_guide() {
    let guide = read("docs/workflows.md");
    for (name, keys) in refire_core::definition::step_type_keys() {
        let (_, section) = guide
            .split_once(&format!("\n### `{name}` steps\n"))
            .unwrap();
        let section = section.split("\n## ").next().unwrap();
        let section = section.split("\n### ").next().unwrap();
        for key in keys {
            assert!(section.contains(&format!("\n| `{key}` |")), "{name}: {key}");
        }
    }
}

/// Every field of a webhook has its line in the guide.
#[test]
fn every_field_of_a_webhook_is_in_its_guide() {
    let guide = read("docs/webhooks.md");
    for field in refire_core::webhook::Settings::fields() {
        let is_named = guide
            .lines()
            .any(|line| line.starts_with('|') && line.contains(&format!("`{field}")));
        assert!(is_named, "{field}");
    }
}
