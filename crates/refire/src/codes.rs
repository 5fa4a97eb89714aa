//! Every error code of the API, with its page. A code never changes its meaning.
//!
//! The pages are the files of `docs/errors`; the server shows them under `/docs/errors/…` and
//! `refire explain` prints them, so the words exist once.

/// An error code.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Code {
    /// `RFnnnn`
    pub(crate) code: &'static str,
    /// The HTTP status it comes with.
    pub(crate) status: u16,
    /// A short name for people.
    pub(crate) title: &'static str,
    /// The whole story, in Markdown.
    pub(crate) page: &'static str,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $name:ident = $code:literal, $status:literal, $title:literal;)+) => {
        $(
            $(#[$doc])*
            pub(crate) static $name: Code = Code {
                code: $code,
                status: $status,
                title: $title,
                page: include_str!(concat!("../../../docs/errors/", $code, ".md")),
            };
        )+

        static ALL: &[&Code] = &[$(&$name),+];
    };
}

codes! {
    /// A workflow's definition has problems; each is named with its line.
    INVALID_DEFINITION = "RF0001", 400, "The definition is not valid";
    /// The body cannot be read, or is not what the call takes.
    INVALID_BODY = "RF0002", 400, "The body is not valid";
    /// A query parameter, header or part of the path is wrong.
    INVALID_PARAMETER = "RF0003", 400, "A parameter is not valid";
    /// A cursor that this list did not give.
    INVALID_CURSOR = "RF0004", 400, "The cursor is not valid";
    /// Retry settings have problems.
    INVALID_POLICY = "RF0005", 400, "The retry policy is not valid";
    /// No key, or a wrong one.
    UNAUTHORIZED = "RF0006", 401, "The API key is missing or wrong";
    /// No such path.
    NO_ROUTE = "RF0007", 404, "There is nothing at this address";
    /// No such workflow.
    NO_WORKFLOW = "RF0008", 404, "There is no such workflow";
    /// No such version of a workflow.
    NO_VERSION = "RF0009", 404, "There is no such version";
    /// No such execution.
    NO_EXECUTION = "RF0010", 404, "There is no such execution";
    /// No such dead letter.
    NO_DEAD_LETTER = "RF0011", 404, "There is no such dead letter";
    /// No page of that code.
    NO_CODE = "RF0012", 404, "There is no such error code";
    /// The path exists, with other methods.
    WRONG_METHOD = "RF0013", 405, "The method is not allowed here";
    /// The body came too slowly.
    BODY_TOO_SLOW = "RF0014", 408, "The body did not arrive in time";
    /// The idempotency key belongs to an execution with another input.
    IDEMPOTENCY_CONFLICT = "RF0015", 409, "The idempotency key was used with another input";
    /// A workflow with open executions cannot be deleted.
    WORKFLOW_IN_USE = "RF0016", 409, "The workflow has open executions";
    /// The execution's state does not allow the command.
    REFUSED = "RF0017", 409, "The execution's state does not allow this";
    /// Only pending dead letters can be retried or deleted.
    NOT_PENDING = "RF0018", 409, "The dead letter is not pending";
    /// This dead letter cannot be retried this way.
    CANNOT_RETRY = "RF0019", 409, "The dead letter cannot be retried this way";
    /// The backup's file cannot be written.
    CANNOT_BACK_UP = "RF0020", 409, "The backup cannot be written";
    /// The body is larger than the limit.
    BODY_TOO_LARGE = "RF0021", 413, "The body is too large";
    /// Too many or too large headers.
    HEADERS_TOO_LARGE = "RF0022", 431, "The headers are too large";
    /// A defect.
    INTERNAL = "RF0023", 500, "Internal error";
    /// It may or may not have been accepted.
    OUTCOME_UNKNOWN = "RF0024", 500, "The outcome is not known";
    /// The store cannot be used now.
    UNAVAILABLE = "RF0025", 503, "The store is not available";
    /// Too much waits to be committed.
    OVERLOADED = "RF0026", 503, "The server is overloaded";
    /// The server is shutting down.
    STOPPING = "RF0027", 503, "The server is stopping";
    /// Others kept changing the execution.
    CONTENDED = "RF0028", 503, "The execution is being changed by somebody else";
    /// The disk is full.
    DISK_FULL = "RF0029", 507, "The disk is full";
    /// What is stored is not what was written.
    DAMAGED = "RF0030", 500, "The store is damaged";
    /// No such trigger.
    NO_TRIGGER = "RF0031", 404, "There is no such trigger";
    /// A trigger's settings have problems; each is named with its field.
    INVALID_TRIGGER = "RF0032", 400, "The trigger is not valid";
    /// The trigger is disabled.
    TRIGGER_DISABLED = "RF0033", 409, "The trigger is disabled";
    /// This kind of trigger has not what was asked for.
    NOT_OF_THIS_TRIGGER = "RF0034", 409, "This type of trigger does not support that";
    /// Others kept changing the trigger.
    TRIGGER_CONTENDED = "RF0035", 503, "The trigger is being changed by somebody else";
    /// There is no master key, or another one.
    NO_MASTER_KEY = "RF0036", 500, "Secrets cannot be stored or read";
    /// No such request to a webhook.
    NO_REQUEST = "RF0037", 404, "There is no such request";
    /// A request of which not all was kept.
    REQUEST_NOT_KEPT = "RF0038", 409, "The request was not kept completely";
    /// A request that was checked again does still not pass.
    STILL_REFUSED = "RF0039", 409, "The request is still refused";
    /// A secret that was promised to be good for longer would end.
    PREVIOUS_SECRET = "RF0040", 409, "The previous secret is still valid";
    /// No such task.
    NO_TASK = "RF0041", 404, "There is no such task";
    /// The worker does not have the task.
    TASK_NOT_HELD = "RF0042", 409, "The task is not locked by this worker";
    /// No such worker.
    NO_WORKER = "RF0043", 404, "There is no such worker";
    /// A workflow was changed since it was seen.
    WORKFLOW_CHANGED = "RF0048", 412, "The workflow was changed by somebody else";
    /// No webhook has this address, or it is disabled.
    NO_WEBHOOK = "RF0050", 404, "There is no such webhook";
    /// A webhook request is not signed, or wrongly.
    WEBHOOK_SIGNATURE = "RF0051", 401, "The signature or key is missing or wrong";
    /// A webhook request comes from elsewhere than the trigger's list says.
    WEBHOOK_ADDRESS = "RF0052", 403, "Requests from this address are not accepted";
    /// A webhook request's content type is not read.
    WEBHOOK_TYPE = "RF0053", 415, "The content type is not supported";
    /// Too many requests to one webhook.
    WEBHOOK_RATE = "RF0054", 429, "Too many requests";
    /// Nothing is known by the token of a callback.
    NO_CALLBACK = "RF0060", 404, "There is nothing to call back";
    /// A callback after the last word, or after the window.
    CALLBACK_OVER = "RF0061", 400, "Nothing waits for this callback any more";
    /// No such scheduled task.
    NO_SCHEDULED_TASK = "RF0070", 404, "There is no such scheduled task";
    /// A scheduled task has problems; each is named.
    INVALID_TASK = "RF0071", 400, "The task is not valid";
    /// A scheduled task that was cancelled can only be read or deleted.
    TASK_CANCELLED = "RF0072", 409, "The task was cancelled";
    /// A scheduled task was changed since it was seen.
    TASK_CHANGED = "RF0073", 412, "The task was changed by somebody else";
    /// Others kept changing the scheduled task.
    TASK_CONTENDED = "RF0074", 503, "The task is being changed by somebody else";
    /// The target of a scheduled task has not said how to ask about an attempt.
    NO_QUERY = "RF0075", 404, "The target has not said how to ask about it";
    /// A kind of query that this version cannot make.
    QUERY_UNSUPPORTED = "RF0076", 501, "This kind of query is not supported yet";
    /// The target of a scheduled task could not be asked.
    QUERY_FAILED = "RF0077", 502, "The target could not be asked";
    /// A one-time link that was used, is too old or never was.
    LINK_OVER = "RF0080", 401, "The link is not valid any more";
    /// A session that has ended.
    SESSION_OVER = "RF0081", 401, "The session has ended";
    /// A change that a browser asks for elsewhere than in the console.
    NOT_FROM_CONSOLE = "RF0082", 403, "The request does not come from the console";
    /// Too many wrong keys from one address.
    TOO_MANY_LOGINS = "RF0083", 429, "Too many attempts to log in";
    /// A session that wants to make another.
    LINK_NEEDS_KEY = "RF0084", 403, "Only a key makes login links";
    /// A channel's settings have problems; each is named.
    INVALID_CHANNEL = "RF0085", 400, "The channel is not valid";
    /// No such channel.
    NO_CHANNEL = "RF0086", 404, "There is no such channel";
    /// No such message to people.
    NO_NOTIFICATION = "RF0087", 404, "There is no such notification";
    /// A hundred are enough.
    TOO_MANY_CHANNELS = "RF0088", 409, "There are too many channels";
    /// `If-Match` names another version.
    CHANNEL_CHANGED = "RF0089", 412, "The channel was changed by somebody else";
    /// No such bulk job.
    NO_BULK_JOB = "RF0090", 404, "There is no such bulk job";
    /// A bulk job has problems; each is named with its field.
    INVALID_BULK = "RF0091", 400, "The bulk job is not valid";
    /// A bulk job that has ended cannot be steered.
    BULK_JOB_OVER = "RF0092", 409, "The bulk job has ended";
    /// Too many bulk jobs are open.
    TOO_MANY_BULK_JOBS = "RF0093", 409, "Too many bulk jobs are open";
    /// Nothing calls this host.
    NO_TARGET = "RF0095", 404, "There is no such target";
    /// What cannot be a host.
    INVALID_TARGET = "RF0096", 400, "That cannot be a host";
    /// A breaker that is not open is not tried.
    NOTHING_TO_PROBE = "RF0097", 409, "The breaker is not open";
    /// Nobody can steer breakers that are not used.
    BREAKERS_OFF = "RF0098", 409, "Circuit breakers are turned off";
    /// No such rule of alerts.
    NO_ALERT_RULE = "RF0099", 404, "There is no such alert rule";
    /// A rule of alerts has problems; each is named.
    INVALID_ALERT_RULE = "RF0100", 400, "The alert rule is not valid";
    /// A name that is taken, too many of them, or an alert that is over.
    ALERT_CONFLICT = "RF0101", 409, "That cannot be done to this alert, rule or silence";
    /// A rule of alerts was changed since it was seen.
    ALERT_RULE_CHANGED = "RF0102", 412, "The alert rule was changed by somebody else";
    /// No such alert, or silence.
    NO_ALERT = "RF0103", 404, "There is no such alert or silence";
}

/// The code of that name, in any case.
pub(crate) fn find(code: &str) -> Option<&'static Code> {
    ALL.iter()
        .copied()
        .find(|known| known.code.eq_ignore_ascii_case(code))
}

/// A code's page.
pub(crate) fn page(code: &str) -> Option<&'static str> {
    find(code).map(|code| code.page)
}

/// Every code with its title.
pub(crate) fn all() -> Vec<(&'static str, &'static str)> {
    ALL.iter().map(|code| (code.code, code.title)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_a_code_and_says_what_to_do() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/errors");
        let mut pages: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.starts_with("RF"))
            .collect();
        pages.sort();
        let expected: Vec<_> = ALL.iter().map(|code| format!("{}.md", code.code)).collect();
        assert_eq!(pages, expected, "in the order of their numbers, none twice");
        for code in ALL {
            let heading = format!("# {}: {}\n", code.code, code.title);
            assert!(code.page.starts_with(&heading), "{}", code.code);
            assert!(
                code.page.contains(&format!("HTTP status {}", code.status)),
                "{}",
                code.code
            );
            for part in ["## What it means", "## Example", "## What to do"] {
                assert!(code.page.contains(part), "{} has no {part:?}", code.code);
            }
            assert!(
                code.page.contains(&format!("\"code\": \"{}\"", code.code)),
                "{}",
                code.code
            );
        }
    }

    #[test]
    fn codes_are_found_in_any_case() {
        assert_eq!(find("rf0001").map(|code| code.code), Some("RF0001"));
        assert_eq!(page("RF9999"), None);
    }
}
