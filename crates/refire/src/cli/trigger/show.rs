//! `refire trigger show`: one trigger on one screen, and what to do next.

use refire_client::model::{Trigger, TriggerType};

use super::introduce::secret_word;
use super::local::{clock_and_distance, standing};
use crate::cli::prelude::*;

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
    session.answer(&trigger, || screen(&trigger, &args.lang, session.now()))
}

fn screen(trigger: &Trigger, language: &str, now: Timestamp) -> String {
    let about = &trigger.about;
    let name = trigger.settings.text("name");
    let words = about.description_in_words.as_ref();
    let words = words.map(|words| match language {
        "zh-TW" => &words.zh_tw,
        _ => &words.en,
    });
    let deleted = about.workflow_deleted.then(|| {
        format!(
            "its workflow {} was deleted; save the workflow again and enable the trigger to use it",
            clean(&about.workflow_id)
        )
    });
    let head = [
        name.map(|name| heading(&clean(&name))),
        words.map(|said| clean(said).into_owned()),
        about.problem.as_ref().map(|problem| bad(&clean(problem))),
        deleted.map(|said| bad(&said)),
        Some(String::new()),
    ];
    let screen = Screen::of(&about.id, standing(trigger));
    let screen = head.into_iter().flatten().fold(screen, Screen::line);
    // These two have places of their own.
    let others = |name: &str| name != "input" && name != "name";
    let settings = trigger.settings.iter().filter(|(name, _)| others(name));
    let settings: Vec<(String, Option<String>)> = settings
        .map(|(name, value)| {
            let text: Option<String> = serde_json::from_str(value.get()).ok();
            let value = text.unwrap_or_else(|| value.get().to_owned());
            (clean(name).into_owned(), Some(clean(&value).into_owned()))
        })
        .collect();
    let settings = || {
        settings
            .iter()
            .map(|(name, value)| (name.as_str(), value.clone()))
    };
    let known = all_facts(trigger, now);
    let names = known.iter().filter(|(_, value)| value.is_some());
    let names = names
        .map(|(name, _)| *name)
        .chain(settings().map(|(name, _)| name));
    let width = names.map(str::len).max().unwrap_or(0).max(NAME_WIDTH_MIN);
    screen
        .facts(width, known)
        .line(format!("\n{}", heading("Settings")))
        .facts(width, settings())
        .json("Input", trigger.settings.get("input").map(|raw| &**raw))
        .next(&next_commands(trigger))
}

fn all_facts(trigger: &Trigger, now: Timestamp) -> [(&'static str, Option<String>); 11] {
    let about = &trigger.about;
    let at = |time: &Option<String>| time.as_deref().map(|at| both(at, now));
    let mut next = about.next_executions.iter();
    let mut next = || next.next().map(|at| clock_and_distance(at, now));
    let previous = match secret_word(trigger) {
        "key" => "previous key",
        _ => "previous secret",
    };
    let changed = (about.version > 1)
        .then(|| format!("{}, v{}", both(&about.updated_at, now), about.version));
    [
        ("workflow", Some(clean(&about.workflow_id).into_owned())),
        ("type", Some(about.trigger_type.to_string())),
        ("address", about.webhook_url.clone()),
        ("next", next()),
        ("then", next()),
        ("runs", about.running_execution_id.clone()),
        ("last success", at(&about.last_success_at)),
        ("overdue since", at(&about.overdue_since)),
        (previous, previous_secret(trigger, now)),
        ("created", Some(both(&about.created_at, now))),
        ("changed", changed),
    ]
}

/// Until when the secret before the present one is good too.
fn previous_secret(trigger: &Trigger, now: Timestamp) -> Option<String> {
    let until = trigger.about.previous_secret_until.as_deref()?;
    Some(format!("valid until {}", both(until, now)))
}

fn next_commands(trigger: &Trigger) -> Vec<String> {
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
    commands
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
