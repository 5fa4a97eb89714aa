//! `refire trigger create` and `update`: from a file, or from options.

use std::path::PathBuf;

use refire_client::model::Trigger;

use super::fields::Fields;
use super::introduce::{Secret, introduce, tell_secret};
use super::wish::Wish;
use crate::cli::prelude::*;

/// Options of `trigger create`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger create report --cron \"0 9 * * MON\" --tz Asia/Taipei
  refire trigger create report --every 13h --overlap skip --misfire fire_all
  refire trigger create report --daily 09:00,17:30 --tz Europe/Berlin --grace 15m
  refire trigger create report --monthly \"last 18:00\" --input '{\"kind\": \"month\"}'
  refire trigger create incident --webhook --auth hmac --header X-ServiceNow-Signature \\
      --filter '$.event_type equals incident.created'
  refire trigger create report -f trigger.yaml

`refire cron next \"<expression>\"` shows when an expression fires, without a server.
A file has the fields of the API:
  trigger_type: cron
  cron_expression: \"0 9 * * MON\"
  timezone: Asia/Taipei
  overlap: skip")]
pub(crate) struct CreateArgs {
    /// The workflow's id
    workflow: String,
    /// Read the settings from a file in YAML or JSON, or - for standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Fire when a request arrives at its own address
    #[arg(long, help_heading = "When", conflicts_with_all = ["cron", "every", "at", "daily", "weekly", "monthly"])]
    webhook: bool,
    #[command(flatten)]
    fields: Fields,
    /// Create it paused
    #[arg(long)]
    disabled: bool,
}

/// Options of `trigger update`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger update trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --cron \"0 10 * * MON\"
  refire trigger update trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --overlap buffer_one --unset jitter
  refire trigger update trg_01j9x8w7v6t5s4r3q2p1n0m9k8 -f change.yaml
  refire trigger update trg_01j9x8w7v6t5s4r3q2p1n0m9k8 -f trigger.yaml --replace

To change the secret while the old one stays valid for a time: refire trigger rotate-secret --help",
    // What is not named stays: the defaults of a new trigger play no part.
    mut_arg("timezone", |arg| arg.help("The time zone, an IANA name")),
    mut_arg("misfire_max", |arg| arg.help("How many missed times fire_all starts at most")),
    mut_arg("misfire_window", |arg| arg.help("Do not start missed times older than this")),
    mut_arg("input", |arg| {
        arg.help("The input of its executions: JSON, @file, or - for standard input")
    }),
    mut_arg("secret", |arg| {
        arg.help("Replace the secret; the old one stops working at once. Safer as @file or - for standard input")
    }),
    mut_arg("filter", |arg| {
        arg.help("Accept only requests whose body matches; replaces all filters; can be repeated")
    }),
)]
pub(crate) struct UpdateArgs {
    /// The trigger (trg_…)
    id: String,
    /// A file with the fields to change, or - for standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Replace all settings with the file: fields it does not name are reset to their defaults
    #[arg(long, requires = "file")]
    replace: bool,
    #[command(flatten)]
    fields: Fields,
    /// Reset this field or option to its default, e.g. jitter or ip-allow; can be repeated
    #[arg(long, value_name = "FIELD")]
    unset: Vec<String>,
}

/// Makes a trigger.
pub(super) async fn create(session: &Session, args: &CreateArgs) -> anyhow::Result<Outcome> {
    let mut document = args.fields.document()?;
    let kind = match args.webhook {
        true => Some("webhook"),
        false => args.fields.kind(),
    };
    args.fields.fit(kind)?;
    if let Some(kind) = kind {
        document.set("trigger_type", kind)?;
    } else if args.file.is_none() {
        let message = "say when it fires: use --cron, --every, --at, --daily, --weekly, \
                       --monthly, --webhook, or a file with -f";
        return Err(Usage(message.to_owned()).into());
    }
    if args.disabled {
        document.set("enabled", &false)?;
    }
    let wish = Wish::of(args.file.as_ref(), document.unless_empty())?;
    let client = session.client()?;
    let created = client.create_trigger(&args.workflow, &wish.text).await;
    saved(
        session,
        &wish,
        created,
        &args.fields,
        Secret::Given,
        |trigger| trigger.about.id.clone(),
    )
}

/// Changes a trigger.
pub(super) async fn update(session: &Session, args: &UpdateArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let mut document = args.fields.document()?;
    document.unset(&args.unset)?;
    let document = document.unless_empty();
    if document.is_none() && args.file.is_none() {
        let message = "nothing to change: give an option, or a file with -f";
        return Err(Usage(message.to_owned()).into());
    }
    let wish = Wish::of(args.file.as_ref(), document)?;
    let client = session.client()?;
    let changed = match args.replace {
        true => client.replace_trigger(id, &wish.text).await,
        false => client.change_trigger(id, &wish.text, false).await,
    };
    saved(
        session,
        &wish,
        changed,
        &args.fields,
        Secret::Replaced,
        |trigger| {
            let version = trigger.about.version;
            match trigger.about.unchanged {
                true => format!("{id} v{version} unchanged"),
                false => format!("{id} v{version} saved"),
            }
        },
    )
}

/// Says what was made or changed, or what the server does not take.
fn saved(
    session: &Session,
    wish: &Wish,
    answer: Result<Trigger, refire_client::Error>,
    fields: &Fields,
    given: Secret,
    line: impl FnOnce(&Trigger) -> String,
) -> anyhow::Result<Outcome> {
    let mut trigger = match answer {
        Ok(trigger) => trigger,
        Err(error) => return wish.refused(session, error),
    };
    let secret = match wish.gives_secret() {
        true => given,
        false => Secret::Made,
    };
    if secret == given {
        trigger.about.secret = None;
    }
    if session.is_json() {
        return print_json(&trigger);
    }
    print(&line(&trigger))?;
    introduce(session, &trigger);
    tell_secret(&trigger, secret);
    fields.notes().iter().for_each(|note| say(note));
    Ok(Outcome::Done)
}
