//! `refire trigger create` and `update`: from a file, or from options.

use std::path::PathBuf;

use clap::Args;
use refire_client::model::{FieldProblem, Trigger};

use super::fields::{Document, Fields, by_option};
use super::local::{clock_and_distance, summary};
use crate::cli::definitions::read;
use crate::cli::ids;
use crate::cli::outcome::{Outcome, Usage};
use crate::cli::output::{print, print_json, say};
use crate::cli::paint::{bad, command, warning};
use crate::cli::report::field_line;
use crate::cli::session::Session;
use crate::codes;

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
    /// A file in YAML or JSON, or - for the standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// It starts when a request comes to an address of its own
    #[arg(long, help_heading = "When", conflicts_with_all = ["cron", "every", "at", "daily", "weekly", "monthly"])]
    webhook: bool,
    #[command(flatten)]
    fields: Fields,
    /// Make it paused
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
  refire trigger update trg_01j9x8w7v6t5s4r3q2p1n0m9k8 -f trigger.yaml --replace")]
pub(crate) struct UpdateArgs {
    /// The trigger (trg_…)
    id: String,
    /// A file with the fields that are to be different, or - for the standard input
    #[arg(long, short, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The file is all that the trigger is told: what it does not name goes back to the default
    #[arg(long, requires = "file")]
    replace: bool,
    #[command(flatten)]
    fields: Fields,
    /// Go back to the default of this field of the API, e.g. jitter; repeat it
    #[arg(long, value_name = "FIELD")]
    unset: Vec<String>,
}

/// What is sent, and where it comes from.
struct Wish {
    text: String,
    file: Option<String>,
}

/// A file as it is, or a document made of options; not both.
fn wish(file: Option<&PathBuf>, options: Option<Document>) -> anyhow::Result<Wish> {
    match (file, options) {
        (Some(_), Some(_)) => {
            let message = "with -f, everything is in the file: leave the other options out";
            Err(Usage(message.to_owned()).into())
        }
        (Some(path), None) => {
            let source = read(path)?;
            Ok(Wish {
                text: source.text,
                file: Some(source.file),
            })
        }
        (None, options) => Ok(Wish {
            text: options.unwrap_or_default().build().as_str().to_owned(),
            file: None,
        }),
    }
}

/// Makes a trigger.
pub(super) async fn create(session: &Session, args: &CreateArgs) -> anyhow::Result<Outcome> {
    let mut document = args.fields.document()?;
    let kind = match args.webhook {
        true => Some("webhook"),
        false => args.fields.kind(),
    };
    if let Some(kind) = kind {
        document.set("trigger_type", kind)?;
    } else if args.file.is_none() {
        let message = "nothing says what starts it: give --cron, --every, --at, --daily, --weekly, \
                       --monthly, --webhook, or a file with -f";
        return Err(Usage(message.to_owned()).into());
    }
    if args.disabled {
        document.set("enabled", &false)?;
    }
    let wish = wish(args.file.as_ref(), document.unless_empty())?;
    let client = session.client()?;
    let created = client.create_trigger(&args.workflow, &wish.text).await;
    let trigger = match created {
        Ok(trigger) => trigger,
        Err(error) => return refused(session, &wish, error),
    };
    if session.is_json() {
        print_json(&trigger)?;
        return Ok(Outcome::Done);
    }
    print(&trigger.about.id)?;
    introduce(session, &trigger);
    Ok(Outcome::Done)
}

/// Changes a trigger.
pub(super) async fn update(session: &Session, args: &UpdateArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let mut document = args.fields.document()?;
    for field in &args.unset {
        document.set(field, &serde_json::Value::Null)?;
    }
    let document = document.unless_empty();
    if document.is_none() && args.file.is_none() {
        let message = "nothing is to be different: name a field, or a file with -f";
        return Err(Usage(message.to_owned()).into());
    }
    let wish = wish(args.file.as_ref(), document)?;
    let client = session.client()?;
    let changed = match args.replace {
        true => client.replace_trigger(id, &wish.text).await,
        false => client.change_trigger(id, &wish.text, false).await,
    };
    let trigger = match changed {
        Ok(trigger) => trigger,
        Err(error) => return refused(session, &wish, error),
    };
    if session.is_json() {
        print_json(&trigger)?;
        return Ok(Outcome::Done);
    }
    print(&format!("{id} v{} saved", trigger.about.version))?;
    introduce(session, &trigger);
    Ok(Outcome::Done)
}

/// What a server does not take is told by the option that said it, or in the file.
fn refused(session: &Session, wish: &Wish, error: refire_client::Error) -> anyhow::Result<Outcome> {
    let problem = match error {
        refire_client::Error::Problem(problem)
            if problem.code == codes::INVALID_TRIGGER.code && !session.is_json() =>
        {
            problem
        }
        other => return Err(other.into()),
    };
    for field in &problem.errors {
        say(&format!("{} {}", bad("error:"), told(wish, field)));
    }
    let page = command(&format!("refire explain {}", codes::INVALID_TRIGGER.code));
    say(&format!("nothing was saved — run '{page}'"));
    Ok(match wish.file {
        Some(_) => Outcome::Refused,
        None => Outcome::Misused,
    })
}

fn told(wish: &Wish, field: &FieldProblem) -> String {
    match &wish.file {
        Some(file) => format!("{file}: {}", field_line(field)),
        // The options were put together here: a place in that text says nothing.
        None => field_line(&FieldProblem {
            line: None,
            column: None,
            ..by_option(field)
        }),
    }
}

/// What a trigger will do, for who has just made or changed it.
pub(super) fn introduce(session: &Session, trigger: &Trigger) {
    let about = &trigger.about;
    let now = session.now();
    let what = summary(trigger);
    if !what.is_empty() {
        say(&what);
    }
    for (place, at) in about.next_executions.iter().enumerate() {
        let name = if place == 0 { "next" } else { "then" };
        say(&format!("{name}  {}", clock_and_distance(at, now)));
    }
    if !about.enabled {
        let enable = command(&format!("refire trigger enable {}", about.id));
        say(&format!("it is paused; start it with: {enable}"));
    }
    if let Some(secret) = &about.secret {
        say(&format!("secret {secret}"));
        say(&warning("keep it now: it is not shown again"));
    }
}
