//! What a person might do about a dead letter: plain rules by class, code and reason.

mod chinese;

use serde::Serialize;

use super::Reason;
use crate::failure::{ErrorClass, Failure};
use crate::template::missing_secret;

/// One thing to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Suggestion {
    /// What to do, in a few words.
    pub title: &'static str,
    /// Why it may help.
    pub detail: &'static str,
}

const fn say(title: &'static str, detail: &'static str) -> Suggestion {
    Suggestion { title, detail }
}

/// What is known about a letter.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Why it is there.
    pub reason: Reason,
    /// What went wrong.
    pub failure: &'a Failure,
    /// Retries that were made of the failed step.
    pub retry_count: u32,
    /// Retries that its policy allowed.
    pub max_retries: u32,
    /// Whether its workflow was deleted.
    pub workflow_deleted: bool,
    /// Whether its input is JSON that a webhook read as a form.
    pub json_as_form: bool,
}

/// What to try, most likely first; never empty.
#[must_use]
pub fn suggest(situation: &Situation<'_>) -> Vec<Suggestion> {
    let mut all = Vec::new();
    if situation.workflow_deleted {
        all.push(say(
            "Save the workflow again",
            "It was deleted, so nothing of it can run. Save it again, then retry; or delete this \
             letter.",
        ));
    }
    if situation.json_as_form {
        all.push(say(
            "Let the sender say that it sends JSON",
            "The webhook's body was read as a form, but looks like JSON, so the input has one odd \
             field. The sender must set Content-Type: application/json. Retry with an edited input.",
        ));
    }
    all.extend(by_reason(situation.reason, situation.failure));
    if situation.reason == Reason::Exhausted {
        all.push(say("Retry once the target is healthy", in_vain(situation)));
    }
    all
}

/// What the policy had tried.
fn in_vain(situation: &Situation<'_>) -> &'static str {
    match (situation.retry_count, situation.max_retries) {
        (_, 0) => {
            "The policy allows no automatic retries. If the target has recovered, retry from the \
             failed step, where completed steps do not run again; from the start if they were undone."
        }
        (made, allowed) if made < allowed => {
            "The policy's time limit was over before all retries were made. If the target has \
             recovered, retry from the failed step, where completed steps do not run again; from the \
             start if they were undone."
        }
        _ => {
            "Every automatic retry failed. If the target has recovered, retry from the failed \
             step, where completed steps do not run again; from the start if they were undone."
        }
    }
}

fn by_reason(reason: Reason, failure: &Failure) -> Vec<Suggestion> {
    match reason {
        Reason::CompensationFailed => vec![say(
            "Undo the step by hand",
            "A completed step could not be compensated: its effect is still there. \
             Put it right at the target, then delete this letter.",
        )],
        Reason::NodeLost => vec![say(
            "Find out why the server died",
            "The server stopped five times while this step was running. Look at its log and \
             memory before you retry; the step itself may be what stops it.",
        )],
        Reason::HistoryLimit => vec![say(
            "Make the outputs smaller, or split the workflow",
            "The execution's history reached its limit: 9,900 events, or 10 MiB of values. Save a \
             definition with smaller outputs, fewer retries or fewer steps, then retry from the start.",
        )],
        _ => by_class(failure),
    }
}

fn by_class(failure: &Failure) -> Vec<Suggestion> {
    match failure.class {
        ErrorClass::HttpStatus => by_status(failure.code.as_deref()),
        ErrorClass::ConnectTimeout | ErrorClass::ConnectionRefused => vec![say(
            "Check that the target is up",
            "Nothing answered at the address. Check the service, the port and the firewall.",
        )],
        ErrorClass::ReadTimeout => vec![say(
            "Give the target more time",
            "It accepted the connection but did not answer in time. Raise the step's `timeout`, \
             or let the target answer first and work afterwards.",
        )],
        ErrorClass::ConnectionReset => vec![say(
            "Look at the target's log",
            "It closed the connection in the middle: a crash, a restart or a proxy limit.",
        )],
        ErrorClass::Dns => vec![say(
            "Check the host name",
            "The name in the URL could not be resolved.",
        )],
        ErrorClass::Tls => vec![say(
            "Check the certificate",
            "The TLS handshake failed: the certificate may have expired, be self-signed or be \
             for another name.",
        )],
        ErrorClass::AddressRefused => vec![say(
            "Allow the address, if it is meant",
            "Calls into private networks are refused by default. \
             REFIRE_ALLOW_PRIVATE_TARGETS opens them, all or by list.",
        )],
        ErrorClass::Redirect => vec![say(
            "Use the final address",
            "The target answered with a redirect that is not followed. Put the new address into \
             the step's `url`, or let it follow with `followRedirects`.",
        )],
        ErrorClass::ResponseTooLarge => vec![say(
            "Ask for less, or allow more",
            "The answer is larger than the step's `maxResponseBytes`.",
        )],
        ErrorClass::InvalidResponse => vec![say(
            "Check what answers there",
            "The answer was not readable HTTP with a text body. The URL may belong to another \
             kind of service.",
        )],
        ErrorClass::Template if missing_secret(&failure.message).is_some() => vec![say(
            "Set the secret",
            "The server has no value for a secret that the step names. Set it in the server's \
             environment, start the server again, and retry: the input can stay as it is.",
        )],
        ErrorClass::InvalidUrl | ErrorClass::Template => vec![say(
            "Edit the input or the template",
            "A template could not be filled in from this input. Retry with an edited input, or \
             fix the workflow and retry from the start.",
        )],
        ErrorClass::Mapping => vec![say(
            "Simplify the mapping, or ask for less",
            "A path of `outputMapping` is too costly on this answer, or matches too much. Use a \
             plainer path (`$.body.items[0].id` has no limit), or let the target answer with less; \
             then save the workflow and retry from the start.",
        )],
        ErrorClass::Local => vec![say(
            "Read the task's error",
            "The in-process task returned an error; its message and causes are above.",
        )],
        ErrorClass::Worker
        | ErrorClass::TaskTimeout
        | ErrorClass::LockExpired
        | ErrorClass::HeartbeatMissed => by_task(failure.class),
        ErrorClass::CallbackFailed => vec![say(
            "Read what the target called back",
            "The target accepted the call and called back later that it failed; what it sent is above.",
        )],
        ErrorClass::NodeLost | ErrorClass::HistoryLimit | ErrorClass::Internal => vec![say(
            "Look at the server's log",
            "The engine could not carry out the step.",
        )],
    }
}

/// What to do about a task of a worker.
fn by_task(class: ErrorClass) -> Vec<Suggestion> {
    match class {
        ErrorClass::Worker => vec![say(
            "Read the worker's error",
            "The worker that did the task said that it failed; its message and stack trace are above.",
        )],
        ErrorClass::TaskTimeout => vec![say(
            "Check that workers ask for this task type",
            "The task was not done within its `timeout`. If no worker had fetched it, none may be \
             running; else it needs more time, or the step a longer `timeout`.",
        )],
        _ => vec![say(
            "Look at the worker's log",
            "The worker fetched the task and was not heard of again: it may have crashed, perhaps by \
             this very task, or it takes longer than `lockDuration` without sending heartbeats.",
        )],
    }
}

fn by_status(code: Option<&str>) -> Vec<Suggestion> {
    match code {
        Some("400" | "422") => vec![say(
            "Edit the input and retry",
            "The target did not accept the request's content. Compare the input with what the \
             target expects; its answer, in the STEP_FAILED event, may name the field.",
        )],
        Some("401" | "403") => vec![say(
            "Check the credentials",
            "The target refused them. Renew the secret or its permissions, then retry.",
        )],
        Some("404" | "410") => vec![say(
            "Check the address and the ids",
            "The target does not know what was asked for: the URL, or an id in the input.",
        )],
        Some("409") => vec![say(
            "See whether it is done already",
            "The target reports a conflict: an earlier attempt may have succeeded.",
        )],
        Some("429") => vec![say(
            "Slow down",
            "The target limits the rate. Lower the workflow's `concurrency` or set a \
             `rateLimit`, or allow longer delays.",
        )],
        Some(code) if code.starts_with('5') => vec![say(
            "Wait for the target to recover",
            "The target reports an error of its own. Look at its status or log, then retry.",
        )],
        _ => vec![say(
            "Read the response",
            "The status is not among the expected ones. If it is fine, add it to the step's \
             `expectedStatuses`.",
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn situation(
        reason: Reason,
        failure: &Failure,
        retry_count: u32,
        max_retries: u32,
    ) -> Situation<'_> {
        Situation {
            reason,
            failure,
            retry_count,
            max_retries,
            workflow_deleted: false,
            json_as_form: false,
        }
    }

    fn is_translated(suggestion: &Suggestion) {
        let chinese = suggestion.in_chinese();
        let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        assert!(is_chinese(chinese.title), "{}", suggestion.title);
        assert!(is_chinese(chinese.detail), "{}", suggestion.title);
    }

    #[test]
    fn every_class_and_reason_has_something_to_try() {
        for reason in Reason::ALL {
            for class in ErrorClass::ALL {
                for code in [
                    None,
                    Some("400"),
                    Some("401"),
                    Some("404"),
                    Some("409"),
                    Some("429"),
                    Some("503"),
                ] {
                    let mut failure = Failure::new(class, "x");
                    failure.code = code.map(str::to_owned);
                    let situation = situation(reason, &failure, 2, 2);
                    let found = suggest(&situation);
                    assert!(!found.is_empty(), "{reason:?} {class} {code:?}");
                    found.iter().for_each(is_translated);
                }
            }
        }
    }

    #[test]
    fn a_rate_limit_is_told_to_slow_down() {
        let failure = Failure::new(ErrorClass::HttpStatus, "429").with_code("429");
        let situation = situation(Reason::Exhausted, &failure, 2, 2);
        assert_eq!(suggest(&situation)[0].title, "Slow down");
    }

    #[test]
    fn what_the_policy_did_is_said_truly() {
        let failure = Failure::new(ErrorClass::HttpStatus, "503").with_code("503");
        for (made, allowed, expected, in_chinese) in [
            (
                2,
                2,
                "Every automatic retry failed.",
                "所有自動重試都失敗了",
            ),
            (
                2,
                10,
                "The policy's time limit was over before",
                "在完成所有重試之前",
            ),
            (
                0,
                10,
                "The policy's time limit was over before",
                "在完成所有重試之前",
            ),
            (
                0,
                0,
                "The policy allows no automatic retries.",
                "重試政策不允許自動重試",
            ),
        ] {
            let found = suggest(&situation(Reason::Exhausted, &failure, made, allowed));
            let last = found.last().unwrap();
            let detail = last.detail;
            assert!(
                detail.starts_with(expected),
                "{made} of {allowed}: {detail}"
            );
            let chinese = last.in_chinese();
            assert_eq!(chinese.title, "目標恢復後再重試");
            assert!(chinese.detail.starts_with(in_chinese), "{}", chinese.detail);
        }
    }

    #[test]
    fn a_missing_secret_is_to_be_set_and_a_deleted_workflow_to_be_saved() {
        let message = "`headers.X`: `${secret.KEY}` has no value; \
                       set REFIRE_SECRET_KEY in the server's environment";
        let failure = Failure::new(ErrorClass::Template, message);
        let mut situation = situation(Reason::NonRetryable, &failure, 0, 5);
        let titles = |situation: &Situation<'_>| -> Vec<&str> {
            let found = suggest(situation).into_iter();
            found.map(|one| one.title).collect()
        };
        assert_eq!(titles(&situation), ["Set the secret"]);
        situation.workflow_deleted = true;
        assert_eq!(
            titles(&situation),
            ["Save the workflow again", "Set the secret"]
        );
        suggest(&situation).iter().for_each(is_translated);
        situation.workflow_deleted = false;
        situation.json_as_form = true;
        suggest(&situation).iter().for_each(is_translated);
        assert_eq!(
            titles(&situation)[0],
            "Let the sender say that it sends JSON"
        );
    }
}
