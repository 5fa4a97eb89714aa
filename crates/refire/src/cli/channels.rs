//! `refire channels`: ways to tell people.

use std::path::PathBuf;

use refire_client::model::{Channel, Page};

use super::definitions::read;
use super::editor;
use super::report::field_line;
use crate::cli::prelude::*;
use crate::codes;

/// Commands about channels.
#[derive(Debug, Subcommand)]
pub(crate) enum ChannelsCommand {
    /// List channels, and whether messages get through
    List(ListArgs),
    /// Show a channel: what it is told of, and where its messages go
    Show(IdArgs),
    /// Make a channel from a file
    Add(AddArgs),
    /// Change a channel: from a file, or in your editor
    Edit(EditArgs),
    /// Remove a channel
    #[command(visible_alias = "rm")]
    Remove(RemoveArgs),
    /// Send a test message through a channel
    Test(TestArgs),
    /// Send messages through a channel again
    Enable(EnableArgs),
    /// Send nothing through a channel until it is enabled
    Disable(DisableArgs),
}

/// Options of `channels list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire channels list
  refire channels list --format json")]
pub(crate) struct ListArgs {}

/// Options of `channels show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire channels show chn_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct IdArgs {
    /// The channel (chn_…)
    id: String,
}

/// Options of `channels add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire channels add -f ops.yaml
  refire channels add -f - < ops.yaml

A file has the fields of the API:
  name: ops
  type: teams            # teams, slack, email, webhook or pagerduty
  language: zh-TW        # or en
  kinds: [dead_letter.created, dead_letter.resolved]
  workflows: [orders, \"pay*\"]
  config:
    url: https://prod-1.westeurope.logic.azure.com/workflows/…
    envelope: message    # or card")]
pub(crate) struct AddArgs {
    /// The channel, in a file in JSON or YAML, or - for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// Options of `channels edit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire channels edit chn_01j9x8w7v6t5s4r3q2p1n0m9k8
  echo '{\"kinds\": [\"dead_letter.created\"]}' | refire channels edit chn_01j9x8w7v6t5s4r3q2p1n0m9k8 -f -")]
pub(crate) struct EditArgs {
    /// The channel (chn_…)
    id: String,
    /// A file with the fields to change (null removes one), or - for standard input; your editor if none is given
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
}

/// Options of `channels remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire channels remove chn_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire channels remove chn_01j9x8w7v6t5s4r3q2p1n0m9k8 --yes")]
pub(crate) struct RemoveArgs {
    /// The channel (chn_…)
    id: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Options of `channels test`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire channels test chn_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct TestArgs {
    /// The channel (chn_…)
    id: String,
}

/// Options of `channels enable`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire channels enable chn_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct EnableArgs {
    /// The channel (chn_…)
    id: String,
}

/// Options of `channels disable`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire channels disable chn_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct DisableArgs {
    /// The channel (chn_…)
    id: String,
}

const COLUMNS: [Column<Channel>; 5] = [
    text("CHANNEL", |channel, _| cell(&channel.id)),
    text("NAME", |channel, _| cell(&channel.name)),
    text("TYPE", |channel, _| cell(channel.channel_type.name())),
    text("STATE", |channel, _| status_cell(state(channel))),
    text("TOLD OF", |channel, _| cell(told_of(channel))),
];

/// Where a channel stands, in a word.
fn state(channel: &Channel) -> &'static str {
    match channel {
        _ if !channel.enabled => "disabled",
        _ if channel.broken.is_some() => "broken",
        _ => "enabled",
    }
}

fn told_of(channel: &Channel) -> String {
    let kinds: Vec<&str> = channel.kinds.iter().map(|kind| kind.name()).collect();
    match kinds.is_empty() {
        true => "everything".to_owned(),
        false => kinds.join(", "),
    }
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &ChannelsCommand) -> anyhow::Result<Outcome> {
    match command {
        ChannelsCommand::List(_) => list(session).await,
        ChannelsCommand::Show(args) => show(session, args).await,
        ChannelsCommand::Add(args) => add(session, args).await,
        ChannelsCommand::Edit(args) => edit(session, args).await,
        ChannelsCommand::Remove(args) => remove(session, args).await,
        ChannelsCommand::Test(args) => test(session, args).await,
        ChannelsCommand::Enable(args) => switch(session, &args.id, true).await,
        ChannelsCommand::Disable(args) => switch(session, &args.id, false).await,
    }
}

async fn list(session: &Session) -> anyhow::Result<Outcome> {
    let page: Page<Channel> = session.client()?.channels().await?;
    let nothing = format!(
        "no channels: nobody is told of anything; make one with: {}",
        command("refire channels add -f FILE")
    );
    session.list(&page, &COLUMNS, async || Ok(nothing)).await
}

async fn show(session: &Session, args: &IdArgs) -> anyhow::Result<Outcome> {
    let channel = session.client()?.channel(ids::channel(&args.id)?).await?;
    session.answer(&channel, || screen(session, &channel))
}

fn screen(session: &Session, channel: &Channel) -> String {
    let workflows = match channel.workflows.is_empty() {
        true => "all".to_owned(),
        false => channel.workflows.join(", "),
    };
    let broken = channel.broken.as_ref();
    let facts = [
        ("name", Some(clean(&channel.name).into_owned())),
        ("type", Some(channel.channel_type.to_string())),
        ("language", Some(channel.language.to_string())),
        ("told of", Some(told_of(channel))),
        ("workflows", Some(workflows)),
        (
            "broken",
            broken.map(|broken| clean(&broken.error).into_owned()),
        ),
        (
            "since",
            broken.map(|broken| both(&broken.since, session.now())),
        ),
        ("version", Some(channel.version.to_string())),
        ("made", Some(both(&channel.created_at, session.now()))),
    ];
    let config = serde_json::value::to_raw_value(&channel.config).ok();
    Screen::of(&channel.id, state(channel))
        .facts(10, facts)
        .json("Settings", config.as_deref())
        .next(&[
            format!("refire channels test {}", channel.id),
            format!("refire notifications list --channel {}", channel.id),
        ])
}

async fn add(session: &Session, args: &AddArgs) -> anyhow::Result<Outcome> {
    let source = read(&args.file)?;
    let made = match session.client()?.create_channel(&source.text).await {
        Ok(made) => made,
        Err(error) => return refused(session, &source.file, error),
    };
    if session.is_json() {
        return print_json(&made);
    }
    print(&made.id)?;
    if let Some(secret) = &made.secret {
        say!("messages are signed with {secret}");
        say!("{} it is not shown again", warning("warning:"));
    }
    let test = command(&format!("refire channels test {}", made.id));
    say!("try it with: {test}");
    Ok(Outcome::Done)
}

async fn edit(session: &Session, args: &EditArgs) -> anyhow::Result<Outcome> {
    let id = ids::channel(&args.id)?;
    let client = session.client()?;
    let (patch, file, version) = match &args.file {
        Some(file) => {
            let source = read(file)?;
            (source.text, source.file, None)
        }
        None => {
            let channel = client.channel(id).await?;
            let written = serde_json::json!({
                "name": channel.name, "language": channel.language, "kinds": channel.kinds,
                "workflows": channel.workflows, "config": without_host(&channel),
            });
            match editor::edit("channel", &written.to_string())? {
                None => {
                    say!("nothing was changed");
                    return Ok(Outcome::Done);
                }
                Some(json) => (
                    json.as_str().to_owned(),
                    "your text".to_owned(),
                    Some(channel.version),
                ),
            }
        }
    };
    match client.change_channel(id, &patch, version).await {
        Ok(channel) => session.answer(&channel, || format!("{id} v{} saved", channel.version)),
        Err(error) => refused(session, &file, error),
    }
}

/// The host of a secret address is shown, and is not written.
fn without_host(channel: &Channel) -> serde_json::Value {
    let mut config = channel.config.clone();
    if let Some(members) = config.as_object_mut()
        && members.get("url").is_some_and(|url| url == "***")
    {
        members.remove("host");
    }
    config
}

async fn remove(session: &Session, args: &RemoveArgs) -> anyhow::Result<Outcome> {
    let id = ids::channel(&args.id)?;
    let client = session.client()?;
    let channel = client.channel(id).await?;
    let name = clean(&channel.name);
    if !confirm(&format!("Remove the channel {name} ({id})?"), args.yes)? {
        return Ok(Outcome::Refused);
    }
    client.delete_channel(id).await?;
    session.deleted(id, "what it has sent stays in the list of notifications")
}

async fn test(session: &Session, args: &TestArgs) -> anyhow::Result<Outcome> {
    let id = ids::channel(&args.id)?;
    let started = session.client()?.test_channel(id).await?;
    if session.is_json() {
        return print_json(&started);
    }
    print(&started.id)?;
    let show = command(&format!("refire notifications show {}", started.id));
    say!("look whether the message is there; what became of it: {show}");
    Ok(Outcome::Done)
}

async fn switch(session: &Session, id: &str, enabled: bool) -> anyhow::Result<Outcome> {
    let id = ids::channel(id)?;
    let patch = serde_json::json!({ "enabled": enabled }).to_string();
    let channel = session.client()?.change_channel(id, &patch, None).await?;
    session.answer(&channel, || format!("{id} is {}", state(&channel)))
}

/// Says what the server does not take.
fn refused(session: &Session, file: &str, error: refire_client::Error) -> anyhow::Result<Outcome> {
    let problem = match error {
        refire_client::Error::Problem(problem)
            if problem.code == codes::INVALID_CHANNEL.code && !session.is_json() =>
        {
            problem
        }
        other => return Err(other.into()),
    };
    for field in &problem.errors {
        say!("{} {file}: {}", bad("error:"), field_line(field));
    }
    let page = command(&format!("refire explain {}", codes::INVALID_CHANNEL.code));
    say!("nothing was saved; for help run '{page}'");
    Ok(Outcome::Refused)
}
