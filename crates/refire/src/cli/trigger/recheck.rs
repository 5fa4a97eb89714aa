//! `refire trigger recheck`: refused requests judged again by what the trigger is now.

use refire_client::model::{
    RecheckRequests, RecheckedRequest, RequestStatus, WebhookAnswer, WebhookRequest, WebhookStatus,
};
use refire_client::query::RequestQuery;
use refire_client::{Client, Error, every};

use crate::cli::prelude::*;
use crate::codes;

/// What is worth another look, unless somebody says otherwise.
const REFUSED: [RequestStatus; 7] = [
    RequestStatus::AuthFailed,
    RequestStatus::Filtered,
    RequestStatus::IpRefused,
    RequestStatus::RateLimited,
    RequestStatus::TooLarge,
    RequestStatus::Disabled,
    RequestStatus::Error,
];

/// Options of `trigger recheck`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger recheck trg_01j9x8w7v6t5s4r3q2p1n0m9k8 whr_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger recheck trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --all --status auth_failed --from 24h
  refire trigger recheck trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --all --dry-run

A request that passes now is run, and its status in the log becomes triggered. If its signature was
right when it arrived, it is not checked again. Otherwise the time of signing is compared with the
time of arrival: a request that was too old still is, unless `tolerance` is longer now.
With --all, requests that have no idempotency key and are equal byte for byte count as one request
that the sender repeated: it is run once, or not at all if a repetition was accepted.")]
pub(crate) struct RecheckArgs {
    /// The trigger (trg_…)
    id: String,
    /// The request (whr_…)
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    request: Option<String>,
    /// Check all refused requests except tests, oldest first
    #[arg(long)]
    all: bool,
    /// Only requests with this status; several are separated by commas
    #[arg(long, value_delimiter = ',', requires = "all")]
    status: Vec<RequestStatus>,
    /// Only requests since this time (2026-11-15T09:30:00Z), day (from 0:00 UTC), or how long ago
    /// (24h)
    #[arg(long, value_name = "TIME", requires = "all")]
    from: Option<String>,
    /// Only requests before this time
    #[arg(long, value_name = "TIME", requires = "all")]
    to: Option<String>,
    /// Only say which requests would pass; start nothing
    #[arg(long, requires = "all")]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short, requires = "all")]
    yes: bool,
}

/// Refusals of one request, which say nothing about the next.
const OF_ONE_REQUEST: [&str; 4] = [
    codes::STILL_REFUSED.code,
    codes::REQUEST_NOT_KEPT.code,
    codes::NO_REQUEST.code,
    // Its headers were sealed with a master key that is gone; those that came since were not.
    codes::NO_MASTER_KEY.code,
];

/// What became of one request.
enum Checked {
    Started(String),
    Before(String),
    Refused(String),
}

/// How many became what.
#[derive(Default, serde::Serialize)]
struct Sum {
    checked: usize,
    started: usize,
    already_processed: usize,
    still_refused: usize,
}

/// Judges requests again.
pub(super) async fn run(session: &Session, args: &RecheckArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let client = session.client()?;
    let Some(request) = &args.request else {
        return all(session, &client, id, args).await;
    };
    if !request.starts_with("whr_") {
        let message = format!("{request} is not a request (whr_…); `refire trigger requests {id}`");
        return Err(Usage(message).into());
    }
    let answer = client.recheck_request(id, request, false).await;
    if session.is_json() {
        return print_json(&answer?);
    }
    // What could not be judged at all is an error, with its page.
    Ok(match checked(answer, &[codes::STILL_REFUSED.code])? {
        Checked::Started(execution) => {
            print(&execution)?;
            let show = command(&format!("refire executions show {execution}"));
            say!("it passes now and was started; see {show}");
            Outcome::Done
        }
        Checked::Before(execution) => {
            print(&execution)?;
            say("it was already started");
            Outcome::Done
        }
        Checked::Refused(reason) => {
            say!("it still does not pass: {}", clean(&reason));
            Outcome::Refused
        }
    })
}

async fn all(
    session: &Session,
    client: &Client,
    id: &str,
    args: &RecheckArgs,
) -> anyhow::Result<Outcome> {
    let mut query = RequestQuery {
        status: args.status.clone(),
        test: Some(false),
        from: args.from.clone(),
        to: args.to.clone(),
    };
    if query.status.is_empty() {
        query.status.extend(REFUSED);
    }
    moments(&mut query.from, &mut query.to, session.now())?;
    if args.dry_run {
        return dry_run(session, client, id, query).await;
    }
    let requests = every(async |paging| client.webhook_requests(id, &query, paging).await);
    // The oldest first.
    let requests: Vec<_> = requests.await?.items.into_iter().rev().collect();
    if requests.is_empty() {
        say("no matching requests");
        return Ok(Outcome::Done);
    }
    let question = format!(
        "Check {} refused requests again, and run those that pass?",
        requests.len()
    );
    if !confirm(&question, args.yes)? {
        return Ok(Outcome::Refused);
    }
    let mut sum = Sum::default();
    for request in &requests {
        let answer = client.recheck_request(id, &request.id, true).await;
        let checked = checked(answer, &OF_ONE_REQUEST).inspect_err(|_| {
            say!("stopped; {}", told(&sum, requests.len()));
        })?;
        sum.add(&checked);
        if !session.is_json() {
            print(&line(request, &checked))?;
        }
    }
    if session.is_json() {
        print_json(&sum)?;
    } else {
        say(&told(&sum, requests.len()));
    }
    Ok(Outcome::Done)
}

/// Says which requests would pass.
async fn dry_run(
    session: &Session,
    client: &Client,
    id: &str,
    query: RequestQuery,
) -> anyhow::Result<Outcome> {
    let mut wish = RecheckRequests {
        status: query.status,
        from: query.from,
        to: query.to,
        dry_run: true,
        cursor: None,
    };
    let mut all: Vec<RecheckedRequest> = Vec::new();
    loop {
        let checked = client.recheck_requests(id, &wish).await?;
        all.extend(checked.items);
        wish.cursor = checked.next_cursor;
        if wish.cursor.is_none() || checked.error.is_some() {
            break;
        }
    }
    if session.is_json() {
        return print_json(&all);
    }
    for one in &all {
        let reason = one.reason.as_deref().unwrap_or("would start");
        let word = status(one.status.name());
        print(&format!("{}  {word}  {}", one.request_id, clean(reason)))?;
    }
    let pass = all.iter().filter(|one| one.reason.is_none()).count();
    say!("{pass} of {} would pass; nothing was started", all.len());
    Ok(Outcome::Done)
}

/// What an answer means; an error is one that the next request would meet as well.
fn checked(answer: Result<WebhookAnswer, Error>, refusals: &[&str]) -> Result<Checked, Error> {
    match answer {
        Ok(answer) => {
            let execution = answer.execution_id.unwrap_or_default();
            Ok(match answer.status {
                WebhookStatus::Triggered => Checked::Started(execution),
                WebhookStatus::AlreadyProcessed => Checked::Before(execution),
                WebhookStatus::Filtered => Checked::Refused(answer.message),
            })
        }
        Err(Error::Problem(problem)) if refusals.contains(&problem.code.as_str()) => {
            Ok(Checked::Refused(problem.detail.clone()))
        }
        Err(other) => Err(other),
    }
}

impl Sum {
    fn add(&mut self, checked: &Checked) {
        self.checked += 1;
        match checked {
            Checked::Started(_) => self.started += 1,
            Checked::Before(_) => self.already_processed += 1,
            Checked::Refused(_) => self.still_refused += 1,
        }
    }
}

fn line(request: &WebhookRequest, checked: &Checked) -> String {
    let (word, rest) = match checked {
        Checked::Started(execution) => ("triggered", execution.as_str()),
        Checked::Before(execution) => ("duplicate", execution.as_str()),
        Checked::Refused(reason) => (request.status.name(), reason.as_str()),
    };
    format!("{}  {}  {}", request.id, status(word), clean(rest))
}

fn told(sum: &Sum, count: usize) -> String {
    format!(
        "{} of {count} checked: {} started, {} already started, {} still refused",
        sum.checked, sum.started, sum.already_processed, sum.still_refused
    )
}
