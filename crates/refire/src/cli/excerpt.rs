//! A problem of a definition with its place in the file: the line, and a mark under the spot.

use refire_client::model::FieldProblem;
use refire_core::definition::Problem;

use crate::cli::prelude::*;

/// The most characters shown of a line.
const LINE_CHARS_MAX: usize = 160;

/// A problem found here, in the shape of the API's.
pub(crate) fn field_problem(problem: &Problem) -> FieldProblem {
    FieldProblem {
        field: problem.path.clone(),
        message: problem.message.clone(),
        line: Some(problem.line),
        column: Some(problem.column),
        hint: problem.hint.clone(),
    }
}

/// `file:line:column: message`, the line of the source, a caret, and what would be right.
pub(crate) fn excerpt(file: &str, source: &str, problem: &FieldProblem) -> String {
    let (line, column) = (problem.line.unwrap_or(1), problem.column.unwrap_or(1));
    let place = heading(&format!("{file}:{line}:{column}:"));
    let mut out = format!("{place} {}", bad("error: "));
    if !problem.field.is_empty() {
        let _ = write!(out, "{}: ", clean(&problem.field));
    }
    let _ = writeln!(out, "{}", clean(&problem.message));
    let text = source
        .lines()
        .nth(line.saturating_sub(1) as usize)
        .unwrap_or_default();
    if !text.trim().is_empty() {
        let number = line.to_string();
        let margin = " ".repeat(number.len());
        let before = column.saturating_sub(1) as usize;
        // Control characters take one place each, so that the caret stays under its spot.
        let shown: String = text
            .trim_end()
            .chars()
            .take(LINE_CHARS_MAX)
            .map(|c| if super::paint::is_unsafe(c) { ' ' } else { c })
            .collect();
        let _ = writeln!(out, " {} {shown}", dim(&format!("{number} |")));
        if before <= LINE_CHARS_MAX {
            let _ = writeln!(
                out,
                " {} {}{}",
                dim(&format!("{margin} |")),
                " ".repeat(before),
                bad("^")
            );
        }
    }
    if let Some(hint) = &problem.hint {
        let _ = writeln!(out, "   {} {}", dim("= hint:"), clean(hint));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    fn problem(line: u32, column: u32) -> FieldProblem {
        FieldProblem {
            field: "steps[0].type".to_owned(),
            message: "unknown type `htp`".to_owned(),
            line: Some(line),
            column: Some(column),
            hint: Some("did you mean \"http\"?".to_owned()),
        }
    }

    #[test]
    fn the_caret_stands_under_the_spot() {
        let source = "id: a\nsteps:\n  - id: x\n    type: htp\n";
        let expected = "\
a.yaml:4:11: error: steps[0].type: unknown type `htp`
 4 |     type: htp
   |           ^
   = hint: did you mean \"http\"?
";
        assert_eq!(plain(&excerpt("a.yaml", source, &problem(4, 11))), expected);
    }

    #[test]
    fn a_place_outside_of_the_text_is_no_reason_to_fail() {
        let said = plain(&excerpt("a.yaml", "id: a", &problem(9, 4)));
        assert!(said.starts_with("a.yaml:9:4: error: "), "{said}");
        let said = plain(&excerpt("a.yaml", &"x".repeat(10_000), &problem(1, 9_999)));
        assert!(said.len() < 500, "a long line is cut");
    }
}
