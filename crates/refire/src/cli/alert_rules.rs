//! `refire alert-rules`: the rules by which people are alerted.

use std::path::PathBuf;

use refire_client::model::{AlertRule, AlertRulePreview};

use super::definitions::read;
use super::report::field_line;
use crate::cli::prelude::*;
use crate::codes;

/// Commands about rules.
#[derive(Debug, Subcommand)]
pub(crate) enum AlertRulesCommand {
    /// List rules, those from the start first
    List(ListArgs),
    /// Show a rule
    Show(ShowArgs),
    /// Add a rule from a file
    Add(AddArgs),
    /// Change a rule; fields not named stay as they are
    Edit(EditArgs),
    /// Remove a rule
    #[command(visible_alias = "rm")]
    Remove(RemoveArgs),
    /// Show what a rule would say now, and would have said within the last day
    Preview(PreviewArgs),
}

/// Options of `alert-rules list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire alert-rules list
  refire alert-rules list --format json")]
pub(crate) struct ListArgs {}

/// Options of `alert-rules show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire alert-rules show rule_00000000000000000000000001")]
pub(crate) struct ShowArgs {
    /// The rule (rule_…)
    id: String,
}

/// Options of `alert-rules add`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire alert-rules add -f orders-fail.yaml
  echo '{\"name\": \"Orders fail\", \"kind\": \"failure_rate\", \"above\": 20}' | refire alert-rules add -f -

A file has the fields of the API:
  name: Orders fail
  kind: failure_rate      # dlq_growth, dead_workers, missed_slots, dead_man,
                          # scheduled_task_failed, long_processing, breaker_open
  workflow: ship_order    # all workflows, if it is left out
  window: 10m
  above: 20               # percent
  min_count: 10
  for: 1m
  channels: [ops]         # all, if it is left out
  repeat: 4h")]
pub(crate) struct AddArgs {
    /// The rule, in a file in JSON or YAML, or - for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// Options of `alert-rules edit`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire alert-rules edit rule_00000000000000000000000001 --disable
  echo '{\"above\": 30}' | refire alert-rules edit rule_00000000000000000000000001 -f -")]
pub(crate) struct EditArgs {
    /// The rule (rule_…)
    id: String,
    /// A file with the fields to change (null removes one), or - for standard input
    #[arg(long, short, value_name = "FILE", required_unless_present_any = ["enable", "disable"])]
    file: Option<PathBuf>,
    /// Look at it again
    #[arg(long, conflicts_with_all = ["file", "disable"])]
    enable: bool,
    /// Do not look at it any more
    #[arg(long, conflicts_with = "file")]
    disable: bool,
}

/// Options of `alert-rules remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire alert-rules remove rule_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire alert-rules remove rule_01j9x8w7v6t5s4r3q2p1n0m9k8 --yes")]
pub(crate) struct RemoveArgs {
    /// The rule (rule_…)
    id: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Options of `alert-rules preview`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire alert-rules preview -f orders-fail.yaml")]
pub(crate) struct PreviewArgs {
    /// The rule, in a file in JSON or YAML, or - for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &AlertRulesCommand) -> anyhow::Result<Outcome> {
    match command {
        AlertRulesCommand::List(_) => list(session).await,
        AlertRulesCommand::Show(args) => show(session, args).await,
        AlertRulesCommand::Add(args) => add(session, args).await,
        AlertRulesCommand::Edit(args) => edit(session, args).await,
        AlertRulesCommand::Remove(args) => remove(session, args).await,
        AlertRulesCommand::Preview(args) => preview(session, args).await,
    }
}

const COLUMNS: [Column<AlertRule>; 6] = [
    text("RULE", |rule, _| cell(&rule.id)),
    text("NAME", |rule, _| cell(&rule.name)),
    text("STATE", |rule, _| status_cell(state(rule))),
    text("WATCHES", |rule, _| cell(watches(rule))),
    number("FIRING", |rule, _| Cell::new(rule.firing)),
    text("TELLS", |rule, _| match rule.channels.is_empty() {
        true => cell("every channel"),
        false => cell(rule.channels.join(", ")),
    }),
];

fn state(rule: &AlertRule) -> &'static str {
    match rule.enabled {
        true => "enabled",
        false => "disabled",
    }
}

/// What a rule says, in a line.
fn watches(rule: &AlertRule) -> String {
    let mut said = rule.kind.name().to_owned();
    if let Some(workflow) = &rule.workflow {
        let _ = write!(said, " of {workflow}");
    }
    if let Some(above) = rule.above {
        let percent = if rule.min_count.is_some() { " %" } else { "" };
        let _ = write!(said, " above {above}{percent}");
    }
    if let Some(window) = &rule.window {
        let _ = write!(said, " within {window}");
    }
    if let Some(after) = &rule.after {
        let _ = write!(said, " longer than {after}");
    }
    if rule.hold != "0s" {
        let _ = write!(said, " for {}", rule.hold);
    }
    said
}

async fn list(session: &Session) -> anyhow::Result<Outcome> {
    let page = session.client()?.alert_rules().await?;
    let nothing = format!(
        "no rules; add one with: {}",
        command("refire alert-rules add -f FILE")
    );
    session.list(&page, &COLUMNS, async || Ok(nothing)).await
}

async fn show(session: &Session, args: &ShowArgs) -> anyhow::Result<Outcome> {
    let rule = session.client()?.alert_rule(&args.id).await?;
    session.answer(&rule, || screen(session, &rule))
}

fn screen(session: &Session, rule: &AlertRule) -> String {
    let time = |at: &Option<String>| at.as_ref().map(|at| both(at, session.now()));
    let channels = match rule.channels.is_empty() {
        true => "every channel that is enabled".to_owned(),
        false => clean(&rule.channels.join(", ")).into_owned(),
    };
    let facts = [
        ("name", Some(clean(&rule.name).into_owned())),
        ("watches", Some(watches(rule))),
        (
            "minimum",
            rule.min_count.map(|count| counted(count, "execution")),
        ),
        ("tells", Some(channels)),
        ("reminds", Some(format!("every {}", rule.repeat))),
        ("firing", Some(rule.firing.to_string())),
        ("built in", rule.built_in.then(|| "yes".to_owned())),
        ("version", Some(rule.version.to_string())),
        ("changed", time(&rule.updated_at)),
    ];
    let act = match rule.enabled {
        true => "--disable",
        false => "--enable",
    };
    Screen::of(&rule.id, state(rule)).facts(10, facts).next(&[
        format!("refire alerts list --rule {}", rule.id),
        format!("refire alert-rules edit {} {act}", rule.id),
    ])
}

async fn add(session: &Session, args: &AddArgs) -> anyhow::Result<Outcome> {
    let source = read(&args.file)?;
    let rule = match session.client()?.create_alert_rule(&source.text).await {
        Ok(rule) => rule,
        Err(error) => return refused(session, &source.file, error),
    };
    if session.is_json() {
        return print_json(&rule);
    }
    print(&rule.id)?;
    warn(&rule.warnings);
    say!(
        "{} is looked at; see what it finds with: {}",
        clean(&rule.name),
        command(&format!("refire alerts list --rule {}", rule.id))
    );
    Ok(Outcome::Done)
}

async fn edit(session: &Session, args: &EditArgs) -> anyhow::Result<Outcome> {
    let (file, text) = match &args.file {
        Some(file) => {
            let source = read(file)?;
            (source.file, source.text)
        }
        None => (args.id.clone(), format!("{{\"enabled\": {}}}", args.enable)),
    };
    let client = session.client()?;
    let rule = match client.change_alert_rule(&args.id, &text, None).await {
        Ok(rule) => rule,
        Err(error) => return refused(session, &file, error),
    };
    if !session.is_json() {
        warn(&rule.warnings);
    }
    session.answer(&rule, || format!("{} v{} saved", rule.id, rule.version))
}

async fn remove(session: &Session, args: &RemoveArgs) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    let rule = client.alert_rule(&args.id).await?;
    let question = format!("Remove the rule \"{}\"?", clean(&rule.name));
    if !confirm(&question, args.yes)? {
        return Ok(Outcome::Refused);
    }
    client.delete_alert_rule(&args.id).await?;
    session.deleted(&args.id, "what it alerts of is over with the next look")
}

async fn preview(session: &Session, args: &PreviewArgs) -> anyhow::Result<Outcome> {
    let source = read(&args.file)?;
    let previewed = match session.client()?.preview_alert_rule(&source.text).await {
        Ok(previewed) => previewed,
        Err(error) => return refused(session, &source.file, error),
    };
    if !session.is_json() {
        warn(&previewed.warnings);
    }
    session.answer(&previewed, || previewed_in_words(session, &previewed))
}

fn previewed_in_words(session: &Session, previewed: &AlertRulePreview) -> String {
    let now: String = previewed
        .now
        .iter()
        .map(|it| format!("  {}  {}\n", clean(&it.subject), it.value_text))
        .collect();
    let now = match now.is_empty() {
        true => format!("  {}\n", good("nothing")),
        false => now,
    };
    let time = |at: &str| both(at, session.now());
    let past = match &previewed.past {
        None => "  not known: this is not counted by the minute\n".to_owned(),
        Some(past) if past.is_empty() => format!("  {}\n", good("it would not have fired")),
        Some(past) => past
            .iter()
            .map(|it| {
                let until = match &it.to {
                    Some(to) => format!("until {}", time(to)),
                    None => "and still would".to_owned(),
                };
                format!(
                    "  {}  from {} {until}, at worst {}\n",
                    clean(&it.subject),
                    time(&it.from),
                    it.worst_text
                )
            })
            .collect(),
    };
    Screen::new(String::new())
        .section("Now", now)
        .section("The last day", past)
        .text()
        .trim_start()
        .to_owned()
}

fn warn(warnings: &[String]) {
    for said in warnings {
        say!("{} {said}", warning("warning:"));
    }
}

/// Says what the server does not take.
fn refused(session: &Session, file: &str, error: refire_client::Error) -> anyhow::Result<Outcome> {
    let problem = match error {
        refire_client::Error::Problem(problem)
            if problem.code == codes::INVALID_ALERT_RULE.code && !session.is_json() =>
        {
            problem
        }
        other => return Err(other.into()),
    };
    for field in &problem.errors {
        say!("{} {file}: {}", bad("error:"), field_line(field));
    }
    let page = command(&format!(
        "refire explain {}",
        codes::INVALID_ALERT_RULE.code
    ));
    say!("nothing was saved; for help run '{page}'");
    Ok(Outcome::Refused)
}
