//! `refire notifications`: what people were told, and whether it got through.

use refire_client::model::Notification;
use refire_client::query::{NotificationQuery, Paging, Query};

use crate::cli::prelude::*;

/// Commands about messages to people.
#[derive(Debug, Subcommand)]
pub(crate) enum NotificationsCommand {
    /// List messages, newest first
    List(ListArgs),
    /// Show a message: what it is about, and how far it is
    Show(ShowArgs),
    /// Send a message once more
    Resend(ResendArgs),
}

/// Options of `notifications list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire notifications list
  refire notifications list --status failed,retrying
  refire notifications list --channel chn_01j9x8w7v6t5s4r3q2p1n0m9k8 --limit 5")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: NotificationQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Options of `notifications show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire notifications show ntf_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct ShowArgs {
    /// The message (ntf_…)
    id: String,
}

/// Options of `notifications resend`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire notifications resend ntf_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct ResendArgs {
    /// The message (ntf_…)
    id: String,
}

const COLUMNS: [Column<Notification>; 7] = [
    text("NOTIFICATION", |it, _| cell(&it.id)),
    text("CHANNEL", |it, _| {
        cell(it.channel_name.as_ref().unwrap_or(&it.channel_id))
    }),
    text("ABOUT", |it, _| cell(format!("{} ({})", it.kind, it.phase))),
    text("SUBJECT", |it, _| cell(&it.subject)),
    number("COUNT", |it, _| Cell::new(it.count)),
    text("STATUS", |it, _| status_cell(it.status.name())),
    text("CREATED", |it, now| cell(relative(&it.created_at, now))),
];

/// Does what was asked.
pub(crate) async fn run(
    session: &Session,
    command: &NotificationsCommand,
) -> anyhow::Result<Outcome> {
    match command {
        NotificationsCommand::List(args) => list(session, args).await,
        NotificationsCommand::Show(args) => show(session, args).await,
        NotificationsCommand::Resend(args) => resend(session, args).await,
    }
}

async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let paging = Paging::first(args.limit);
    let page = session
        .client()?
        .notifications(&args.query, &paging)
        .await?;
    let nothing = match args.query.is_empty() {
        true => format!(
            "no messages yet; see the channels with: {}",
            command("refire channels list")
        ),
        false => format!(
            "no message matches; see all with: {}",
            command("refire notifications list")
        ),
    };
    session.list(&page, &COLUMNS, async || Ok(nothing)).await
}

async fn show(session: &Session, args: &ShowArgs) -> anyhow::Result<Outcome> {
    let id = ids::notification(&args.id)?;
    let it = session.client()?.notification(id).await?;
    session.answer(&it, || screen(session, &it))
}

fn screen(session: &Session, it: &Notification) -> String {
    let cleaned = |text: &Option<String>| text.as_deref().map(|text| clean(text).into_owned());
    let channel = it.channel_name.as_ref().unwrap_or(&it.channel_id);
    let facts = [
        ("channel", Some(clean(channel).into_owned())),
        ("about", Some(format!("{} ({})", it.kind, it.phase))),
        ("subject", Some(clean(&it.subject).into_owned())),
        ("count", Some(format!("{} ({} new)", it.count, it.increase))),
        ("attempts", Some(it.attempts.to_string())),
        ("error", cleaned(&it.error)),
        (
            "next",
            it.next_attempt_at
                .as_ref()
                .map(|at| both(at, session.now())),
        ),
        ("repeats", it.repeats.clone()),
        ("asked by", cleaned(&it.requested_by)),
        ("made", Some(both(&it.created_at, session.now()))),
    ];
    Screen::of(&it.id, it.status.name())
        .facts(10, facts)
        .next(&[
            format!("refire executions events {}", it.execution_id),
            format!("refire notifications resend {}", it.id),
        ])
}

async fn resend(session: &Session, args: &ResendArgs) -> anyhow::Result<Outcome> {
    let id = ids::notification(&args.id)?;
    let started = session.client()?.resend_notification(id).await?;
    if session.is_json() {
        return print_json(&started);
    }
    print(&started.id)?;
    let show = command(&format!("refire notifications show {}", started.id));
    say!("it is being sent; what becomes of it: {show}");
    Ok(Outcome::Done)
}
