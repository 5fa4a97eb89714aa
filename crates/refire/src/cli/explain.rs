//! `refire explain`: the page of an error code, readable in a terminal. Needs no server.

use anyhow::bail;

use crate::cli::prelude::*;
use crate::codes;

/// Digits of a code.
const DIGITS: usize = 4;

/// Options of `refire explain`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire explain RF0006
  refire explain")]
pub(crate) struct ExplainArgs {
    /// The code, e.g. RF0006; without it, all codes are listed
    code: Option<String>,
}

/// Prints the page.
pub(crate) fn run(session: &Session, args: &ExplainArgs) -> anyhow::Result<Outcome> {
    let Some(given) = &args.code else {
        return list(session);
    };
    let code = normal(given);
    let Some(page) = codes::page(&code) else {
        bail!("unknown error code {given}; `refire explain` lists all codes");
    };
    let document = serde_json::json!({ "code": code, "page": page });
    session.answer(&document, || readable(page))
}

fn list(session: &Session) -> anyhow::Result<Outcome> {
    let all = codes::all();
    if session.is_json() {
        let items: Vec<_> = all
            .iter()
            .map(|(code, title)| serde_json::json!({ "code": code, "title": title }))
            .collect();
        return print_json(&serde_json::json!({ "items": items, "next_cursor": null }));
    }
    let mut grid = Grid::new(&["CODE", "MEANING"]);
    for (code, title) in all {
        grid.row(vec![cell(code), cell(title)]);
    }
    print(&grid.lines(0))?;
    say!("\nread one with: {}", command("refire explain RF0001"));
    Ok(Outcome::Done)
}

/// `rf6`, `6` and `RF0006` are the same code.
fn normal(given: &str) -> String {
    let upper = given.trim().to_ascii_uppercase();
    let digits = upper.strip_prefix("RF").unwrap_or(&upper);
    format!("RF{digits:0>DIGITS$}")
}

/// Markdown for the eye: headings stand out, commands have their colour, marks are gone.
fn readable(page: &str) -> String {
    let mut out = String::new();
    let mut in_code = false;
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if in_code {
            out.push_str(&format!("  {}\n", command(line)));
        } else if let Some(title) = line.strip_prefix('#') {
            out.push_str(&heading(title.trim_start_matches('#').trim()));
            out.push('\n');
        } else {
            out.push_str(&spans(line));
            out.push('\n');
        }
    }
    out
}

/// What stands between backticks in its colour, and bold words without their stars.
fn spans(line: &str) -> String {
    let mut out = String::new();
    for (at, part) in line.split('`').enumerate() {
        if at % 2 == 1 {
            out.push_str(&command(part));
        } else {
            for (at, part) in unlinked(part).split("**").enumerate() {
                out.push_str(&if at % 2 == 1 {
                    heading(part)
                } else {
                    part.to_owned()
                });
            }
        }
    }
    out
}

/// Links as their words: where they lead in a repository is of no use in a terminal.
fn unlinked(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, words, after)) = first_link(rest) {
        out.push_str(before);
        out.push_str(words);
        rest = after;
    }
    out + rest
}

/// What stands before the first link, its words, and what follows it.
fn first_link(text: &str) -> Option<(&str, &str, &str)> {
    let middle = text.find("](")?;
    let start = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    Some((&text[..start], &text[start + 1..middle], &text[end + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_may_be_typed_short() {
        for given in ["RF0006", "rf0006", "6", " rf6 "] {
            assert_eq!(normal(given), "RF0006");
        }
    }

    #[test]
    fn a_page_is_readable_without_its_marks() {
        let page = "# RF0001: Bad\n\nUse `id` **now**.\n\n```sh\nrefire serve\n```\n";
        let text = anstream::adapter::strip_str(&readable(page)).to_string();
        assert_eq!(text, "RF0001: Bad\n\nUse id now.\n\n  refire serve\n");
    }

    #[test]
    fn links_become_their_words() {
        for (line, expected) in [
            (
                "and [Triggers](../triggers.md) has it.",
                "and Triggers has it.",
            ),
            ("[a](b) and [c](d#e)", "a and c"),
            ("a list[0] (see it)", "a list[0] (see it)"),
            ("an end [a](b", "an end [a](b"),
        ] {
            assert_eq!(unlinked(line), expected);
        }
    }

    #[test]
    fn no_page_shows_a_link() {
        for (code, _) in codes::all() {
            let text = readable(codes::page(code).unwrap());
            assert!(!text.contains("]("), "{code}: {text}");
        }
    }
}
