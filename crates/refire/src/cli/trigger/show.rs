//! `refire trigger show`: one trigger on one screen, and what to do next.

use std::fmt::Write as _;

use clap::Args;
use refire_client::model::{Trigger, TriggerType};
use refire_core::time::Timestamp;

use super::introduce::secret_word;
use super::local::{clock_and_distance, standing};
use crate::cli::ids;
use crate::cli::moment::both;
use crate::cli::outcome::Outcome;
use crate::cli::output::{print, print_json};
use crate::cli::paint::{bad, clean, command, dim, heading, status};
use crate::cli::pretty::indented;
use crate::cli::session::Session;

/// The column of names has at least this width.
const NAME_WIDTH_MIN: usize = 16;

/// Options of `trigger show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger show trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger show trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --lang zh-TW
  refire trigger show trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --format json | jq -r .next_execution")]
pub(crate) struct ShowArgs {
    /// The trigger (trg_…)
    id: String,
    /// The language of the description: en or zh-TW
    #[arg(long, value_name = "TAG", default_value = "en", value_parser = ["en", "zh-TW"])]
    lang: String,
}

/// Shows a trigger.
pub(super) async fn run(session: &Session, args: &ShowArgs) -> anyhow::Result<Outcome> {
    let trigger = session.client()?.trigger(ids::trigger(&args.id)?).await?;
    if session.is_json() {
        print_json(&trigger)?;
    } else {
        print(&screen(&trigger, &args.lang, session.now()))?;
    }
    Ok(Outcome::Done)
}

fn screen(trigger: &Trigger, language: &str, now: Timestamp) -> String {
    let about = &trigger.about;
    let stands = status(standing(trigger));
    let mut out = format!("{}  {stands}\n", heading(&about.id));
    if let Some(name) = trigger.settings.text("name") {
        let _ = writeln!(out, "{}", heading(&clean(&name)));
    }
    if let Some(words) = &about.description_in_words {
        let said = match language {
            "zh-TW" => &words.zh_tw,
            _ => &words.en,
        };
        let _ = writeln!(out, "{}", clean(said));
    }
    if let Some(problem) = &about.problem {
        let _ = writeln!(out, "{}", bad(&clean(problem)));
    }
    if about.workflow_deleted {
        let workflow = clean(&about.workflow_id);
        let _ = writeln!(
            out,
            "{}",
            bad(&format!(
                "its workflow {workflow} was deleted; save the workflow again and enable the trigger to use it"
            ))
        );
    }
    out.push('\n');
    // These two have places of their own.
    let others = |name: &str| name != "input" && name != "name";
    let facts = facts(trigger, now);
    let settings: Vec<_> = trigger
        .settings
        .iter()
        .filter(|(name, _)| others(name))
        .collect();
    let names = facts.iter().map(|(name, _)| *name);
    let names = names.chain(settings.iter().map(|(name, _)| *name));
    let width = names.map(str::len).max().unwrap_or(0).max(NAME_WIDTH_MIN);
    for (name, value) in facts {
        let _ = writeln!(out, "  {} {value}", dim(&format!("{name:<width$}")));
    }
    let _ = writeln!(out, "\n{}", heading("Settings"));
    for (name, value) in settings {
        let text: Option<String> = serde_json::from_str(value.get()).ok();
        let value = text.unwrap_or_else(|| value.get().to_owned());
        let name = clean(name);
        let _ = writeln!(
            out,
            "  {} {}",
            dim(&format!("{name:<width$}")),
            clean(&value)
        );
    }
    if let Some(input) = trigger.settings.get("input") {
        let _ = write!(
            out,
            "\n{}\n  {}\n",
            heading("Input"),
            indented(input.get(), 2)
        );
    }
    let _ = write!(out, "\n{}", next_commands(trigger));
    out
}

fn facts(trigger: &Trigger, now: Timestamp) -> Vec<(&'static str, String)> {
    let about = &trigger.about;
    let mut facts = vec![
        ("workflow", clean(&about.workflow_id).into_owned()),
        ("type", about.trigger_type.to_string()),
    ];
    let mut add = |name, value: Option<String>| {
        if let Some(value) = value {
            facts.push((name, value));
        }
    };
    add("address", about.webhook_url.clone());
    let mut next = about.next_executions.iter();
    add("next", next.next().map(|at| clock_and_distance(at, now)));
    add("then", next.next().map(|at| clock_and_distance(at, now)));
    add("runs", about.running_execution_id.clone());
    let moment = |at: &Option<String>| at.as_deref().map(|at| both(at, now));
    add("last success", moment(&about.last_success_at));
    add("overdue since", moment(&about.overdue_since));
    let previous = match secret_word(trigger) {
        "key" => "previous key",
        _ => "previous secret",
    };
    add(previous, previous_secret(trigger, now));
    add("created", Some(both(&about.created_at, now)));
    let changed = (about.version > 1)
        .then(|| format!("{}, v{}", both(&about.updated_at, now), about.version));
    add("changed", changed);
    facts
}

/// Until when the secret before the present one is good too.
fn previous_secret(trigger: &Trigger, now: Timestamp) -> Option<String> {
    let until = trigger.about.previous_secret_until.as_deref()?;
    Some(format!("valid until {}", both(until, now)))
}

fn next_commands(trigger: &Trigger) -> String {
    let id = &trigger.about.id;
    let mut commands = vec![match trigger.about.trigger_type {
        TriggerType::Webhook => format!("refire trigger requests {id}"),
        _ => format!("refire trigger slots {id}"),
    }];
    if trigger.about.problem.is_some() {
        let mend = format!("refire trigger update {id} -f trigger.yaml --replace");
        commands.insert(0, mend);
    } else if trigger.about.trigger_type == TriggerType::Webhook {
        commands.push(format!("refire trigger test {id}"));
    }
    commands.push(match trigger.about.enabled {
        true => format!("refire trigger disable {id}"),
        false if trigger.about.workflow_deleted => {
            "refire workflow apply -f WORKFLOW.yaml".to_owned()
        }
        false => format!("refire trigger enable {id}"),
    });
    let lines = commands.iter().map(|text| format!("  {}\n", command(text)));
    format!("{}\n{}", heading("Next"), lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_keep_the_column() {
        let trigger = serde_json::from_str(
            r#"{"id":"trg_1","workflow_id":"w","trigger_type":"webhook","enabled":true,"version":1,
            "created_at":"a","updated_at":"b","authentication":"hmac",
            "ignore_idempotency_header":true}"#,
        )
        .unwrap();
        let text = screen(&trigger, "en", "2026-11-15T09:30:00Z".parse().unwrap());
        let text = anstream::adapter::strip_str(&text).to_string();
        for line in [
            "  workflow                  w\n",
            "  authentication            hmac\n",
            "  ignore_idempotency_header true\n",
        ] {
            assert!(text.contains(line), "{text}");
        }
    }
}
