//! `refire silences`: times in which nobody is told of alerts.

use refire_client::model::Silence;
use refire_core::duration;
use serde::Serialize;

use crate::cli::prelude::*;

/// Commands about silences.
#[derive(Debug, Subcommand)]
pub(crate) enum SilencesCommand {
    /// List silences, those that end last first
    List(ListArgs),
    /// Add a silence: of a rule, about a subject, or of everything
    ///
    /// Alerts fire and are listed all the same. What still fires at its end is told then.
    Add(AddArgs),
    /// End a silence
    #[command(visible_alias = "rm")]
    Remove(RemoveArgs),
}

/// Options of `silences list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire silences list")]
pub(crate) struct ListArgs {}

/// Options of `silences add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire silences add --for 2h
  refire silences add --for 30m --rule \"Executions fail\" --subject ship_order
  refire silences add --from 2026-11-20T22:00:00Z --until 2026-11-21T06:00:00Z --comment \"maintenance\"")]
pub(crate) struct AddArgs {
    /// How long it lasts, such as 2h
    #[arg(
        long = "for",
        value_name = "TIME",
        required_unless_present = "until",
        conflicts_with = "until"
    )]
    lasts: Option<String>,
    /// When it ends, such as 2026-11-21T06:00:00Z
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// When it begins [default: now]
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Only alerts of this rule: its name, or rule_…
    #[arg(long, value_name = "RULE")]
    rule: Option<String>,
    /// Only alerts about this workflow, trigger, worker or host
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// Why
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
}

/// Options of `silences remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire silences remove sil_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct RemoveArgs {
    /// The silence (sil_…)
    id: String,
}

/// A silence as it is sent.
#[derive(Debug, Serialize)]
struct Wish<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    starts_at: Option<String>,
    ends_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    comment: Option<&'a str>,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &SilencesCommand) -> anyhow::Result<Outcome> {
    match command {
        SilencesCommand::List(_) => list(session).await,
        SilencesCommand::Add(args) => add(session, args).await,
        SilencesCommand::Remove(args) => remove(session, args).await,
    }
}

const COLUMNS: [Column<Silence>; 6] = [
    text("SILENCE", |it, _| cell(&it.id)),
    text("STATE", |it, _| status_cell(it.state.name())),
    text("OF", |it, _| cell(of(it))),
    text("ENDS", |it, now| cell(relative(&it.ends_at, now))),
    text("BY", |it, _| cell(&it.created_by)),
    optional("WHY", |it, _| maybe(it.comment.as_ref())),
];

/// What it hides, in words.
fn of(silence: &Silence) -> String {
    let rule = silence.rule.as_ref().or(silence.rule_id.as_ref());
    match (rule, &silence.subject) {
        (None, None) => "everything".to_owned(),
        (Some(rule), None) => rule.clone(),
        (None, Some(subject)) => subject.clone(),
        (Some(rule), Some(subject)) => format!("{rule}: {subject}"),
    }
}

async fn list(session: &Session) -> anyhow::Result<Outcome> {
    let page = session.client()?.silences().await?;
    let nothing = format!(
        "no silences; add one with: {}",
        command("refire silences add --for 2h")
    );
    session.list(&page, &COLUMNS, async || Ok(nothing)).await
}

async fn add(session: &Session, args: &AddArgs) -> anyhow::Result<Outcome> {
    let now = session.now();
    let from = args.from.as_deref();
    let from = from.map(|text| moment("--from", text, now)).transpose()?;
    let begins = from.as_deref().and_then(|text| text.parse().ok());
    let ends_at = match (&args.lasts, &args.until) {
        (Some(lasts), _) => {
            let length =
                duration::parse(lasts).map_err(|error| Usage(format!("--for: {error}")))?;
            begins.unwrap_or(now).plus(length).to_string()
        }
        (None, Some(until)) => moment("--until", until, now)?,
        (None, None) => return Err(Usage("write --for or --until".to_owned()).into()),
    };
    let wish = Wish {
        rule: args.rule.as_deref(),
        subject: args.subject.as_deref(),
        starts_at: from,
        ends_at,
        comment: args.comment.as_deref(),
    };
    let text = serde_json::to_string(&wish)?;
    let silence = session.client()?.create_silence(&text).await?;
    if session.is_json() {
        return print_json(&silence);
    }
    print(&silence.id)?;
    say!(
        "nobody is told of {} until {}",
        clean(&of(&silence)),
        both(&silence.ends_at, now)
    );
    Ok(Outcome::Done)
}

async fn remove(session: &Session, args: &RemoveArgs) -> anyhow::Result<Outcome> {
    session.client()?.delete_silence(&args.id).await?;
    session.deleted(&args.id, "what still fires is told with the next look")
}
