//! `refire targets`: who is called, and the circuit breakers before them.

use refire_client::model::{BreakerState, Page, Target};
use refire_client::query::{Paging, Query, TargetQuery};

use crate::cli::prelude::*;

/// Commands about targets.
#[derive(Debug, Subcommand)]
pub(crate) enum TargetsCommand {
    /// List targets: where their breakers stand, how calls go, what waits
    ///
    /// closed: called. open: not called. half_open: one call tries it. closing: calls come back by and by.
    List(ListArgs),
    /// Show a target: why it is not called, since when, what waits for it
    Show(HostArgs),
    /// Stop all calls to a target, until it is closed or reset
    ///
    /// What is due waits, and loses no attempt. Restarts change nothing.
    Open(ActArgs),
    /// Let all calls be made, whatever fails, until it is opened or reset
    Close(HostArgs),
    /// Close its breaker, and let it open by itself again
    Reset(HostArgs),
    /// Try with the next call whether a target is back
    Probe(HostArgs),
}

/// Options of `targets list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire targets list
  refire targets list --state open,half_open,closing
  refire targets list --q example.com --format json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: TargetQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// A target.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire targets show api.example.com
  refire targets reset 10.0.0.7:8080
  refire targets probe '[2001:db8::1]:8443'")]
pub(crate) struct HostArgs {
    /// The host, with its port unless that is the scheme's own
    host: String,
}

/// Options of `targets open`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire targets open api.example.com
  refire targets open api.example.com --yes")]
pub(crate) struct ActArgs {
    #[command(flatten)]
    target: HostArgs,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &TargetsCommand) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    let (target, said) = match command {
        TargetsCommand::List(args) => return list(session, args).await,
        TargetsCommand::Show(args) => {
            let target = client.target(&args.host).await?;
            return session.answer(&target, || screen(session, &target));
        }
        TargetsCommand::Open(args) => {
            let host = &args.target.host;
            if !confirm(&format!("Stop all calls to {}?", clean(host)), args.yes)? {
                return Ok(Outcome::Refused);
            }
            (client.open_target(host).await?, "is not called any more")
        }
        TargetsCommand::Close(args) => (
            client.close_target(&args.host).await?,
            "is called, whatever fails",
        ),
        TargetsCommand::Reset(args) => (client.reset_target(&args.host).await?, "is called"),
        TargetsCommand::Probe(args) => (
            client.probe_target(&args.host).await?,
            "is tried with the next call that is due",
        ),
    };
    session.answer(&target, || format!("{} {said}\n", clean(&target.host)))
}

/// A count, with a sign that there are more.
fn at_least(count: u64, exact: bool) -> String {
    match exact {
        true => count.to_string(),
        false => format!("{count}+"),
    }
}

/// Where a breaker stands, and who says so.
fn state(target: &Target) -> String {
    match target.forced {
        Some(_) => format!("{} (by hand)", target.state.name()),
        None => target.state.name().to_owned(),
    }
}

const COLUMNS: [Column<Target>; 7] = [
    text("TARGET", |target, _| cell(&target.host)),
    text("BREAKER", |target, _| cell(state(target))),
    optional("UNTIL", |target, now| {
        maybe(target.until.as_ref().map(|at| relative(at, now)))
    }),
    number("CALLS", |target, _| Cell::new(target.window.calls)),
    number("FAILED", |target, _| Cell::new(target.window.failed)),
    number("PARKED", |target, _| {
        Cell::new(at_least(target.parked, target.parked_exact))
    }),
    number("LETTERS", |target, _| {
        Cell::new(at_least(target.letters, target.letters_exact))
    }),
];

async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let paging = Paging::first(args.limit);
    let listed = session.client()?.targets(&args.query, &paging).await?;
    let page = Page {
        items: listed.items.clone(),
        next_cursor: listed.next_cursor.clone(),
    };
    let nothing = match args.query.is_empty() {
        false => "no matching targets. Leave out the options to list all.".to_owned(),
        true => "no targets: no workflow calls a host that is known.".to_owned(),
    };
    session
        .list_of(&listed, &page, &COLUMNS, async || Ok(nothing))
        .await
}

fn screen(session: &Session, target: &Target) -> String {
    let now = session.now();
    let time = |at: &Option<String>| at.as_ref().map(|at| both(at, now));
    let cleaned = |text: &Option<String>| text.as_deref().map(|text| clean(text).into_owned());
    let is_closed = target.state == BreakerState::Closed;
    let window = &target.window;
    let calls = format!(
        "{} in the last 30s, {} failed, {} answered with 429",
        window.calls, window.failed, window.limited
    );
    let in_flight = target.in_flight_max.map_or_else(
        || target.in_flight.to_string(),
        |most| format!("{} of {most}", target.in_flight),
    );
    let letters = match target.letters_since_opening {
        Some(since) if since > 0 => format!(
            "{} pending, {since} since shortly before it opened",
            at_least(target.letters, target.letters_exact)
        ),
        _ => format!("{} pending", at_least(target.letters, target.letters_exact)),
    };
    let facts = [
        ("opened", time(&target.opened_at)),
        ("until", time(&target.until)),
        (
            "openings",
            (!is_closed).then(|| target.openings.to_string()),
        ),
        ("cause", cleaned(&target.cause)),
        ("changed", time(&target.changed_at)),
        ("by", cleaned(&target.changed_by)),
        ("tried by", cleaned(&target.probing_node)),
        ("calls", Some(calls)),
        ("in flight", Some(in_flight)),
        ("parked", Some(at_least(target.parked, target.parked_exact))),
        ("letters", Some(letters)),
        (
            "workflows",
            (!target.workflows.is_empty()).then(|| target.workflows.join(", ")),
        ),
    ];
    Screen::of(&target.host, &state(target))
        .facts(10, facts)
        .next(&next(target))
}

/// What a person would most likely type next.
fn next(target: &Target) -> Vec<String> {
    let host = &target.host;
    let mut commands = Vec::new();
    match (target.forced, target.state) {
        (Some(_), _) => commands.push(format!("refire targets reset {host}")),
        (None, BreakerState::Open) => {
            commands.push(format!("refire targets probe {host}"));
            commands.push(format!("refire targets close {host}"));
        }
        (None, _) => {}
    }
    if target.letters > 0 {
        commands.push(format!("refire dlq list --target {host}"));
    }
    commands
}
