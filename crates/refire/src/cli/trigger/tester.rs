//! `refire trigger test` and `curl`: requests to a webhook, signed as its sender would.

use super::introduce::ISSUERS;
use super::requests::header_lines;
use anyhow::bail;
use refire_client::Error;
use refire_client::model::{
    Problem, RequestStatus, SentRequest, TestResult, TestWebhook, TestedWebhook,
};
use refire_core::webhook::headers::REMOVED;
use std::collections::BTreeMap;

use crate::cli::prelude::*;
use crate::codes;

/// The variable that stands for the key of a webhook in a command.
const KEY_VARIABLE: &str = "REFIRE_WEBHOOK_KEY";

/// What a test leaves behind that a person may not expect.
const NAME_TAKEN: &str = "
If this event has an idempotency key, it is used up now: the same event from the real sender gets
already_processed until the key expires (idempotency_window).
";

/// What is to be sent.
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// The body: text, @file, or - for standard input [default: {}]
    #[arg(long, short, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    body: Option<String>,
    /// The content type of the body [default: application/json]
    #[arg(long, value_name = "TYPE")]
    content_type: Option<String>,
    /// Add or replace a header; can be repeated
    #[arg(long, short = 'H', value_name = "NAME=VALUE")]
    header: Vec<String>,
}

/// Options of `trigger test`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger test trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger test trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --body '{\"event_type\": \"incident.created\"}'
  refire trigger test trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --body @event.json --header X-GitHub-Event=push
  refire trigger test trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --source-ip 203.0.113.9

The request is signed with the live secret and handled like any other: if it passes, it starts an
execution and uses up its idempotency key. The log marks it as a test.
Exit codes: 0 an execution was started, now or by an equal request; 5 filtered; 3 refused.")]
pub(crate) struct TestArgs {
    /// The trigger (trg_…)
    id: String,
    #[command(flatten)]
    sample: SampleArgs,
    /// The sender address to simulate [default: yours]
    #[arg(long, value_name = "IP")]
    source_ip: Option<String>,
}

/// Options of `trigger curl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger curl trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --body '{\"event_type\": \"incident.created\"}'
  refire trigger curl trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --body @event.json | sh

The command contains a signature, never the secret. For a webhook with an API key, it takes the key
from the variable REFIRE_WEBHOOK_KEY.")]
pub(crate) struct CurlArgs {
    /// The trigger (trg_…)
    id: String,
    #[command(flatten)]
    sample: SampleArgs,
}

impl SampleArgs {
    fn wish(&self) -> anyhow::Result<TestWebhook> {
        let mut headers = BTreeMap::new();
        for header in &self.header {
            let Some((name, value)) = header.split_once('=') else {
                let message = format!("--header `{header}`: write NAME=VALUE");
                return Err(Usage(message).into());
            };
            headers.insert(name.trim().to_owned(), value.to_owned());
        }
        Ok(TestWebhook {
            body_text: self.body.as_deref().map(input::text).transpose()?,
            content_type: self.content_type.clone(),
            headers,
            ..TestWebhook::default()
        })
    }
}

/// Tries a webhook.
pub(super) async fn test(session: &Session, args: &TestArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let wish = TestWebhook {
        source_ip: args.source_ip.clone(),
        ..args.sample.wish()?
    };
    let tested = match session.client()?.test_webhook(id, &wish).await {
        Err(Error::Problem(problem)) if problem.code == codes::BODY_TOO_LARGE.code => {
            return too_large(session, &wish, &problem);
        }
        other => other?,
    };
    session.answer(&tested, || screen(id, &tested))?;
    Ok(outcome(tested.result.as_ref()))
}

/// What became of a test, for scripts.
fn outcome(result: Option<&TestResult>) -> Outcome {
    match result {
        Some(result) if result.http_status >= 300 => Outcome::Failed,
        Some(result) if result.execution_id.is_some() => Outcome::Done,
        Some(_) => Outcome::Filtered,
        None => Outcome::Failed,
    }
}

/// A body that is longer than the server takes never comes to the webhook, neither from a sender nor
/// from here.
fn too_large(session: &Session, wish: &TestWebhook, problem: &Problem) -> anyhow::Result<Outcome> {
    let bytes = wish.body_text.as_ref().map_or(0, String::len);
    let limit = limit(&problem.detail);
    if limit.is_some_and(|limit| bytes <= limit) {
        bail!(
            "the body has {bytes} bytes, which a sender may send, but a test request with it is \
             too large; try a shorter body ({})",
            problem.detail
        );
    }
    let reason = match limit {
        Some(limit) => {
            format!("the body has {bytes} bytes, and the server accepts at most {limit}")
        }
        None => problem.detail.clone(),
    };
    if session.is_json() {
        let result = serde_json::json!({ "http_status": problem.status, "status": "too_large",
            "reason": reason, "execution_id": null, "request_id": null });
        print_json(&serde_json::json!({ "result": result, "sent": null }))?;
        return Ok(Outcome::Failed);
    }
    print(&format!(
        "{}  the sender would get {}\n  {} {}\n",
        status("too_large"),
        problem.status,
        dim("reason    "),
        clean(&reason)
    ))?;
    say("nothing was sent to the webhook, so it is not in the log");
    Ok(Outcome::Failed)
}

/// The number of bytes that a problem names.
fn limit(detail: &str) -> Option<usize> {
    let mut numbers = detail.split(|c: char| !c.is_ascii_digit());
    numbers.find_map(|digits| digits.parse().ok())
}

/// The sender that issues the secret itself, by how it signs.
fn issuer(sent: &SentRequest) -> Option<&'static str> {
    let signs = |name: &str, mark: &str| {
        let mut headers = sent.headers.iter();
        headers
            .any(|header| header.name.eq_ignore_ascii_case(name) && header.value.starts_with(mark))
    };
    let known = ISSUERS
        .iter()
        .find(|(.., header, mark)| signs(header, mark));
    known.map(|(_, name, ..)| *name)
}

fn screen(id: &str, tested: &TestedWebhook) -> String {
    let (result, sent) = (tested.result.as_ref(), &tested.sent);
    let mut screen = Screen::new("");
    if let Some(result) = result {
        let word = status(result.status.name());
        let reason = result.reason.as_deref();
        let facts = [
            ("reason", reason.map(|reason| clean(reason).into_owned())),
            ("execution", result.execution_id.clone()),
            ("request", Some(result.request_id.clone())),
        ];
        screen = screen
            .line(format!(
                "{word}  the sender would get {}",
                result.http_status
            ))
            .facts(10, facts);
    }
    let body = sent.body.lines();
    let body: String = body.map(|line| format!("  {}\n", clean(line))).collect();
    screen = screen
        .line(format!("\n{}", heading("Sent")))
        .line(format!("  {} {}", sent.method, clean(&sent.url)))
        .lines(header_lines(&sent.headers))
        .lines(format!("\n{body}"));
    if let Some(sender) = issuer(sent) {
        screen = screen.line(format!(
            "\nIt was signed with the secret that this webhook has now. If that is not the one that {sender}\n\
             created, {sender} gets 401: refire trigger update {id} --secret @FILE"
        ));
    }
    if result.is_some_and(|one| one.status == RequestStatus::Triggered) {
        screen = screen.lines(NAME_TAKEN);
    }
    let started = result.and_then(|one| one.execution_id.as_ref());
    let show = started.map(|execution| format!("refire executions show {execution}"));
    let log = format!("refire trigger requests {id} --test");
    screen.next(&show.into_iter().chain([log]).collect::<Vec<_>>())
}

/// Prints a command.
pub(super) async fn curl(session: &Session, args: &CurlArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let wish = TestWebhook {
        dry_run: true,
        ..args.sample.wish()?
    };
    let sent = session.client()?.test_webhook(id, &wish).await?.sent;
    let line = command_line(&sent)?;
    if session.is_json() {
        return print_json(&serde_json::json!({
            "command": line,
            "valid_until": sent.valid_until,
            "key_variable": sent.key_header.as_ref().map(|_| KEY_VARIABLE),
        }));
    }
    print(&line)?;
    if let Some(until) = &sent.valid_until {
        let until = both(until, session.now());
        say!("its signature is valid until {until}");
    } else if sent.key_header.is_some() {
        let export = command(&format!("export {KEY_VARIABLE}=…"));
        say!("the key is not shown; set it first with: {export}");
    } else {
        say("it is valid as long as the secret is");
    }
    Ok(Outcome::Done)
}

/// The request as a command for a shell.
fn command_line(sent: &SentRequest) -> anyhow::Result<String> {
    let parts = sent.headers.iter().flat_map(|one| [&one.name, &one.value]);
    if parts
        .chain([&sent.body, &sent.url])
        .any(|part| part.contains('\0'))
    {
        bail!("a body with a zero byte cannot be passed on a command line");
    }
    let mut lines = vec![format!("curl -sSi {}", quoted(&sent.url))];
    for header in &sent.headers {
        let text = match header.value.as_str() {
            // With a colon and nothing behind it, curl would leave the header out.
            "" => format!("{};", header.name),
            value => format!("{}: {value}", header.name),
        };
        let is_key = sent.key_header.as_ref() == Some(&header.name);
        let text = match text.split_once(REMOVED).filter(|_| is_key) {
            Some((before, after)) => {
                let key = format!("\"${KEY_VARIABLE}\"");
                let after = (!after.is_empty()).then(|| quoted(after));
                format!("{}{key}{}", quoted(before), after.unwrap_or_default())
            }
            None => quoted(&text),
        };
        lines.push(format!("-H {text}"));
    }
    // Behind an `@` curl would read a file.
    let option = if sent.body.starts_with('@') {
        "--data-raw"
    } else {
        "--data-binary"
    };
    lines.push(format!("{option} {}", quoted(&sent.body)));
    Ok(lines.join(" \\\n  "))
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use refire_client::model::RequestHeader;

    fn sent(headers: &[(&str, &str)], key_header: Option<&str>, body: &str) -> SentRequest {
        let header = |(name, value): &(&str, &str)| RequestHeader {
            name: (*name).to_owned(),
            value: (*value).to_owned(),
        };
        SentRequest {
            method: "POST".to_owned(),
            url: "http://127.0.0.1:1/webhooks/wh_1".to_owned(),
            headers: headers.iter().map(header).collect(),
            key_header: key_header.map(str::to_owned),
            body: body.to_owned(),
            valid_until: None,
        }
    }

    #[test]
    fn a_command_is_what_a_shell_reads_back() {
        let nasty = "{\"a\": \"it's $HOME `id` \\n \\\\ \n\"}";
        let sent = sent(
            &[("X-A", "b'c"), ("X-Empty", ""), ("X-Key", REMOVED)],
            Some("X-Key"),
            nasty,
        );
        let line = command_line(&sent).unwrap();
        let script = line.replacen("curl", "printf '%s\\0'", 1);
        let run = std::process::Command::new("/bin/sh")
            .args(["-c", &script])
            .env(KEY_VARIABLE, "k$e\"y")
            .output()
            .unwrap();
        let said = String::from_utf8(run.stdout).unwrap();
        let words: Vec<&str> = said.split_terminator('\0').collect();
        let url = "http://127.0.0.1:1/webhooks/wh_1";
        let expected = [
            "-sSi",
            url,
            "-H",
            "X-A: b'c",
            "-H",
            "X-Empty;",
            "-H",
            "X-Key: k$e\"y",
            "--data-binary",
            nasty,
        ];
        assert_eq!(words, expected, "{line}");
    }

    #[test]
    fn a_script_can_tell_what_became_of_a_test() {
        let result = |http_status, execution: Option<&str>| TestResult {
            http_status,
            status: RequestStatus::Filtered,
            reason: None,
            execution_id: execution.map(str::to_owned),
            request_id: "whr_1".to_owned(),
        };
        for (result, expected) in [
            (result(200, Some("exec_1")), Outcome::Done),
            (result(200, None), Outcome::Filtered),
            (result(401, None), Outcome::Failed),
            (result(503, None), Outcome::Failed),
        ] {
            assert_eq!(outcome(Some(&result)), expected, "{result:?}");
        }
    }

    #[test]
    fn a_limit_is_read_from_what_the_server_said() {
        let detail = "the body is larger than 1048576 bytes";
        assert_eq!(limit(detail), Some(1_048_576));
        assert_eq!(limit("too large"), None);
    }

    #[test]
    fn what_a_command_cannot_hold_is_said() {
        let line = command_line(&sent(&[], None, "@file")).unwrap();
        assert!(line.ends_with("--data-raw '@file'"), "{line}");
        assert!(command_line(&sent(&[], None, "a\0b")).is_err());
    }
}
