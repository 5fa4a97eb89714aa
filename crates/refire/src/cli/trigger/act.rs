//! What can be done to a trigger: pause, go on, run, remove, a new secret.

use std::time::Duration;

use refire_client::model::{Pause, RotateSecret, Trigger, TriggerType};
use refire_core::duration;

use super::fields::has_unit;
use super::filter;
use super::introduce::{introduce, issuer, secret_word};
use super::local::clock;
use crate::cli::execute::{StartArgs, started};
use crate::cli::prelude::*;

/// Options of `trigger delete`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger delete trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger delete trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --yes")]
pub(crate) struct DeleteArgs {
    /// The trigger (trg_…)
    id: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Options of `trigger enable`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger enable trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger enable trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --catch-up")]
pub(crate) struct EnableArgs {
    /// The trigger (trg_…)
    id: String,
    /// Treat the times planned during the pause as missed, so that --misfire decides which of them
    /// are started; otherwise they are skipped
    #[arg(long)]
    catch_up: bool,
}

/// Options of `trigger disable`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger disable trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger list --enabled --format json | jq -r '.items[].id' | xargs -n1 refire trigger disable")]
pub(crate) struct DisableArgs {
    /// The trigger (trg_…)
    id: String,
}

/// Options of `trigger run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger run trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger run trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --input '{\"customer_id\": 42}' --wait 30s
  refire trigger run trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --idempotency-key report-2026-11-16",
    mut_arg("input", |arg| {
        arg.help("Another input: JSON, @file, or - for standard input [default: the trigger's]")
    }),
)]
pub(crate) struct RunArgs {
    /// The trigger (trg_…)
    id: String,
    #[command(flatten)]
    start: StartArgs,
}

/// Options of `trigger rotate-secret`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger rotate-secret trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger rotate-secret trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --keep-previous-for 7d
  pass show partner/webhook | refire trigger rotate-secret trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --secret -")]
pub(crate) struct RotateArgs {
    /// The trigger (trg_…)
    id: String,
    /// The new secret; safer as @file or - for standard input [default: a new one is created]
    #[arg(long, value_name = "TEXT|@FILE|-")]
    secret: Option<String>,
    /// How long the old secret stays valid; 0s ends it and the one before it [default: 24h]
    #[arg(long, value_name = "DURATION")]
    keep_previous_for: Option<String>,
    /// End the secret before the old one now, if it is still valid
    #[arg(long)]
    end_previous: bool,
}

/// Removes a trigger.
pub(super) async fn delete(session: &Session, args: &DeleteArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let client = session.client()?;
    if !confirm(&format!("Delete the trigger {id}?"), args.yes)? {
        return Ok(Outcome::Refused);
    }
    client.delete_trigger(id).await?;
    session.deleted(id, "its executions are kept")
}

/// Enables a trigger.
pub(super) async fn enable(session: &Session, args: &EnableArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let trigger = session.client()?.enable_trigger(id, args.catch_up).await?;
    if session.is_json() {
        return print_json(&trigger);
    }
    print(&format!("{id} is enabled"))?;
    if let Some(pause) = trigger.about.pause.as_ref().filter(|pause| pause.slots > 0) {
        say(&told(&trigger, pause));
    }
    introduce(session, &trigger);
    Ok(Outcome::Done)
}

/// What became of a pause.
fn told(trigger: &Trigger, pause: &Pause) -> String {
    let times = |count: u64| counted(count, "planned time");
    let range = match (&pause.from, &pause.to) {
        (Some(from), Some(to)) if from != to => format!(" ({} to {})", clock(from), clock(to)),
        (Some(from), _) => format!(" ({})", clock(from)),
        _ => String::new(),
    };
    let passed = format!("{} passed while it was paused{range}", times(pause.slots));
    match pause.caught_up {
        0 => format!(
            "{passed}; to run {} after all: {}",
            if pause.slots == 1 { "it" } else { "them" },
            command(&format!(
                "refire trigger backfill {} --from {}",
                trigger.about.id,
                pause.from.as_deref().unwrap_or("TIME")
            ))
        ),
        1 => format!("{passed}; {} is started now", times(1)),
        caught_up => format!("{passed}; {} are started now", times(caught_up)),
    }
}

/// Disables a trigger.
pub(super) async fn disable(session: &Session, args: &DisableArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let trigger = session.client()?.disable_trigger(id).await?;
    if session.is_json() {
        return print_json(&trigger);
    }
    print(&format!("{id} is paused"))?;
    let enable = command(&format!("refire trigger enable {id}"));
    say!("running executions continue; resume it with: {enable}");
    if trigger.about.trigger_type == TriggerType::Webhook {
        let recheck = format!("refire trigger recheck {id} --all --status disabled");
        let recheck = command(&recheck);
        say!("requests of its sender now get 404 and are kept; run them later with: {recheck}");
    }
    Ok(Outcome::Done)
}

/// Starts an execution.
pub(super) async fn run(session: &Session, args: &RunArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let input = args.start.input()?;
    let client = session.client()?;
    let key = args.start.idempotency_key.as_deref();
    let accepted = client.run_trigger(id, input.as_deref(), key).await?;
    started(session, &client, &accepted, args.start.wait, || {}).await
}

/// Gives a webhook a new secret.
pub(super) async fn rotate(session: &Session, args: &RotateArgs) -> anyhow::Result<Outcome> {
    has_unit("--keep-previous-for", args.keep_previous_for.as_deref())?;
    let id = ids::trigger(&args.id)?;
    let rotate = RotateSecret {
        secret: args.secret.as_deref().map(filter::secret).transpose()?,
        keep_previous_for: args.keep_previous_for.clone(),
        end_previous: args.end_previous,
    };
    let client = session.client()?;
    if rotate.secret.is_none()
        && let Some(name) = issuer(&client.trigger(id).await?)
    {
        // A secret that is made here would lock that sender out.
        let message = format!(
            "{name} creates the secret itself: copy the new one from there, and pass it with --secret @FILE"
        );
        return Err(Usage(message).into());
    }
    let mut trigger = client.rotate_secret(id, &rotate).await?;
    if rotate.secret.is_some() {
        // Whoever gave it has it; a terminal and its log need not.
        trigger.about.secret = None;
    }
    if session.is_json() {
        return print_json(&trigger);
    }
    let old = old_secret(rotate.keep_previous_for.as_deref());
    if rotate.secret.is_some() {
        let word = secret_word(&trigger);
        say!("{id} now uses the {word} you gave. {old}");
    } else {
        print(trigger.about.secret.as_deref().unwrap_or_default())?;
        say!("save it now: it is not shown again. {old}");
    }
    Ok(Outcome::Done)
}

/// What becomes of the secret before.
fn old_secret(kept_for: Option<&str>) -> String {
    let kept_for = kept_for.unwrap_or("24h");
    match duration::parse(kept_for) {
        Ok(Duration::ZERO) => "The old one no longer works.".to_owned(),
        _ => format!("The old one stays valid for {kept_for}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_is_kept_for_no_time_has_ended() {
        for (kept_for, expected) in [
            (Some("0s"), "The old one no longer works."),
            (Some("0"), "The old one no longer works."),
            (Some("7d"), "The old one stays valid for 7d."),
            (None, "The old one stays valid for 24h."),
        ] {
            assert_eq!(old_secret(kept_for), expected);
        }
    }
}
