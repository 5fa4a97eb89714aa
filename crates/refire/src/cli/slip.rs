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
        (ErrorKind::InvalidSubcommand, ["trigger" | "triggers", command, ..]) => {
            trigger_command(command).map(str::to_owned)
        }
        (ErrorKind::MissingRequiredArgument, ["trigger" | "triggers", "recheck", id]) => {
            Some(format!(
                "refire trigger recheck {id} --all   checks all refused requests; \
                 refire trigger requests {id}   lists them"
            ))
        }
        (
            ErrorKind::UnknownArgument,
            [
                "trigger" | "triggers",
                command @ ("create" | "update"),
                which,
                ..,
            ],
        ) => trigger_option(command, which, &arguments),
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
                "refire cron {command} \"*/15 9-17 * * MON-FRI\"   in quotes, or the shell splits it"
            ))
        }
        _ => None,
    }
}

/// Other words for the commands of `refire trigger`.
fn trigger_command(word: &str) -> Option<&'static str> {
    Some(match word {
        "add" | "make" | "new" => "refire trigger create <workflow>",
        "change" | "edit" | "modify" | "set" => "refire trigger update <id>",
        "describe" | "get" | "info" => "refire trigger show <id>",
        "ls" => "refire trigger list",
        "remove" => "refire trigger delete <id>",
        "stop" => "refire trigger disable <id>",
        "start" => {
            "refire trigger enable <id>   resumes it; refire trigger run <id>   starts an execution now"
        }
        "fire" | "exec" | "execute" => "refire trigger run <id>",
        "log" | "logs" | "events" => {
            "refire trigger slots <id>   of planned times; refire trigger requests <id>   of a webhook"
        }
        "ledger" | "runs" => "refire trigger slots <id>",
        "secret" | "rotate" => "refire trigger rotate-secret <id>",
        _ => return None,
    })
}

/// What was meant by an argument that `trigger create` and `update` do not know.
fn trigger_option(command: &str, which: &str, arguments: &[&str]) -> Option<String> {
    let is = |option: &str| {
        arguments.iter().any(|one| {
            let rest = one.strip_prefix(option);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    };
    if is("--schedule") {
        return Some(
            "for a schedule use --every 13h, --at, --daily 09:00, --weekly or --monthly; for a \
             cron expression use --cron"
                .to_owned(),
        );
    }
    // Only an expression that was taken apart leaves words behind it.
    let cron = arguments.iter().position(|one| *one == "--cron")?;
    let behind = arguments.get(cron + 2)?;
    (!behind.starts_with('-')).then(|| {
        format!(
            "refire trigger {command} {which} --cron \"0 9 * * MON\"   in quotes, or the shell takes it \
             apart"
        )
    })
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
        let unquoted = tip(unknown, "trigger create report --cron 0 9 * * MON").unwrap();
        assert!(
            unquoted.starts_with("refire trigger create report --cron \"0 9 * * MON\"   in quotes"),
            "{unquoted}"
        );
        let quoted = "trigger create report --cron @daily --tzz UTC";
        assert_eq!(tip(unknown, quoted), None);
        let schedule = tip(unknown, "trigger create report --schedule=daily").unwrap();
        assert!(schedule.contains("--daily"), "{schedule}");
        let wrong = ErrorKind::InvalidSubcommand;
        for (word, meant) in [("edit", "update"), ("log", "slots"), ("stop", "disable")] {
            let tip = tip(wrong, &format!("trigger {word} trg_1")).unwrap();
            assert!(
                tip.starts_with(&format!("refire trigger {meant} ")),
                "{tip}"
            );
        }
        assert_eq!(tip(wrong, "trigger crete"), None);
        let recheck = tip(ErrorKind::MissingRequiredArgument, "trigger recheck trg_1");
        assert!(recheck.unwrap().contains("recheck trg_1 --all"));
        assert_eq!(
            tip(unknown, "execute w {\"a\":1}").unwrap(),
            "refire execute w --input '{\"a\":1}'"
        );
    }
}
