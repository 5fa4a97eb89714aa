//! Common slips on the command line, and what was most likely meant.

use std::ffi::OsString;

use clap::error::ErrorKind;

/// What to write instead, where that can be guessed. The arguments are without the program's name.
pub(super) fn tip(kind: ErrorKind, arguments: &[OsString]) -> Option<String> {
    let arguments: Vec<&str> = arguments.iter().filter_map(|one| one.to_str()).collect();
    let plain = arguments.iter().filter(|one| !one.starts_with("--"));
    let words: Vec<&str> = plain.copied().collect();
    match (kind, words.as_slice()) {
        (ErrorKind::InvalidSubcommand, [command @ ("apply" | "validate" | "diff"), ..]) => {
            Some(format!("refire workflow {command}"))
        }
        (ErrorKind::InvalidSubcommand, ["run" | "start" | "exec", ..]) => {
            Some("refire execute <workflow>".to_owned())
        }
        (ErrorKind::InvalidSubcommand, ["letters" | "dead-letters" | "deadletters", ..]) => {
            Some("refire dlq".to_owned())
        }
        (
            ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument,
            [
                "workflow" | "workflows",
                command @ ("apply" | "validate"),
                file,
                ..,
            ],
        ) if *file != "-f" => Some(format!("refire workflow {command} -f {file}")),
        (ErrorKind::UnknownArgument, ["execute", workflow, input, ..]) if is_json(input) => {
            Some(format!("refire execute {workflow} --input '{input}'"))
        }
        (ErrorKind::UnknownArgument, ["dlq", "retry", letter, input, ..]) if is_json(input) => {
            Some(format!("refire dlq retry {letter} --input '{input}'"))
        }
        (ErrorKind::UnknownArgument, ["cron", command @ ("next" | "explain"), _, _, ..]) => {
            Some(format!(
                "refire cron {command} \"*/15 9-17 * * MON-FRI\"   in quotes, or the shell takes it apart"
            ))
        }
        _ => None,
    }
}

fn is_json(text: &str) -> bool {
    text.starts_with(['{', '[', '@'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_slip_has_a_tip() {
        let tip = |kind, words: &str| {
            let words: Vec<OsString> = words.split(' ').map(Into::into).collect();
            tip(kind, &words)
        };
        let unknown = ErrorKind::UnknownArgument;
        assert_eq!(tip(unknown, "execute w x"), None);
        assert_eq!(tip(unknown, "workflow apply -f a.yaml --dry"), None);
        assert_eq!(tip(ErrorKind::InvalidSubcommand, "aply"), None);
        assert_eq!(
            tip(unknown, "execute w {\"a\":1}").unwrap(),
            "refire execute w --input '{\"a\":1}'"
        );
    }
}
