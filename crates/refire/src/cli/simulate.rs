//! `refire simulate`: when the retries of a policy would happen. Needs no server.
//!
//! The options become a policy text that is read like one in a definition, so the numbers and the
//! limits are the server's own.

use std::path::PathBuf;
use std::time::Duration;

use refire_client::model::{FieldProblem, PlannedRetry, RetryTimeline};
use refire_core::definition::source::{Content, Node};
use refire_core::definition::{JitterSetting, ParseOptions, Problems, RetrySettings, Workflow};
use refire_core::duration;
use refire_retry::{Ending, Planned, Policy, Timeline};
use serde_json::{Value, json};

use super::definitions;
use super::excerpt::{excerpt, field_problem};
use super::report::say_option;
use crate::cli::prelude::*;

/// The width of the time line in characters.
const BAR_CHARS: u64 = 40;

/// Times below this are told in seconds.
const SECONDS_BELOW_MS: u64 = 120_000;

const STRATEGIES: [&str; 3] = ["exponential", "linear", "fixed"];
const JITTERS: [&str; 6] = [
    "none",
    "proportional",
    "additive",
    "full",
    "equal",
    "decorrelated",
];

/// Options of `refire simulate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire simulate
  refire simulate --max-retries 8 --initial-delay 500ms --max-delay 30s
  refire simulate --strategy linear --initial-delay 10s --jitter none
  refire simulate -f ship_order.yaml --step pay
  refire simulate -f policy.yaml --format json")]
pub(crate) struct SimulateArgs {
    /// Retries after the first attempt, 1 to 10 [default: 5]
    #[arg(long, value_name = "N")]
    max_retries: Option<u32>,
    /// The wait before the first retry [default: 2s]
    #[arg(long, value_name = "DURATION")]
    initial_delay: Option<String>,
    /// How the wait grows [default: exponential]
    #[arg(long, value_parser = STRATEGIES)]
    strategy: Option<String>,
    /// The factor by which waits grow with the exponential strategy [default: 2]
    #[arg(long, value_name = "FACTOR")]
    multiplier: Option<f64>,
    /// The longest wait, before jitter is added
    #[arg(long, value_name = "DURATION")]
    max_delay: Option<String>,
    /// Do not retry later than this after the first attempt
    #[arg(long, value_name = "DURATION")]
    max_elapsed: Option<String>,
    /// How waits are randomised [default: proportional, ±20 %]
    #[arg(long, value_parser = JITTERS)]
    jitter: Option<String>,
    /// Read the policy from a file instead, YAML or JSON: a workflow's definition, or only what is
    /// under `retry:` in it (- for standard input)
    #[arg(long, short = 'f', value_name = "FILE", conflicts_with_all = [
        "max_retries", "initial_delay", "strategy", "multiplier", "max_delay", "max_elapsed",
        "jitter",
    ])]
    file: Option<PathBuf>,
    /// Show the policy of this step of the definition [default: the policy of the workflow]
    #[arg(long, value_name = "ID", requires = "file")]
    step: Option<String>,
}

/// Shows the time line.
pub(crate) fn run(session: &Session, args: &SimulateArgs) -> anyhow::Result<Outcome> {
    let Some(settings) = settings(args)? else {
        return Ok(match args.file {
            Some(_) => Outcome::Refused,
            None => Outcome::Misused,
        });
    };
    let policy = settings.rules().policy;
    let timeline = policy.timeline();
    session.answer(&document(&timeline), || {
        draw(&policy, settings.jitter, &timeline)
    })
}

/// The settings, or `None` when what is wrong with them has been said.
fn settings(args: &SimulateArgs) -> anyhow::Result<Option<RetrySettings>> {
    if let Some(file) = &args.file {
        let source = definitions::read(file)?;
        let read = Node::parse(&source.text).map(|node| in_file(&node, args.step.as_deref()));
        let read = match read {
            Ok(read) => read?,
            Err(problem) => Err(problem.into()),
        };
        return Ok(read
            .inspect_err(|problems| {
                for problem in problems {
                    let text = excerpt(&source.file, &source.text, &field_problem(problem));
                    say(text.trim_end());
                }
            })
            .ok());
    }
    let text = serde_json::to_string(&policy_of(args))?;
    Ok(RetrySettings::parse(&text).inspect_err(say_options).ok())
}

/// The policy in a file: of a workflow or one of its steps, or the policy alone.
fn in_file(node: &Node, step: Option<&str>) -> Result<Result<RetrySettings, Problems>, Usage> {
    let member = |name: &str| {
        let Content::Mapping(members) = &node.content else {
            return None;
        };
        let found = members.iter().find(|(key, _)| &*key.text == name);
        found.map(|(_, node)| node)
    };
    if member("steps").is_some() {
        return match Workflow::from_node(node, &ParseOptions::default()) {
            Ok(workflow) => of_workflow(&workflow, step).map(Ok),
            Err(problems) => Ok(Err(problems)),
        };
    }
    if let Some(step) = step {
        return Err(Usage(format!(
            "--step {step}: the file has no steps; give the definition of a workflow"
        )));
    }
    Ok(match member("retry") {
        Some(retry) => RetrySettings::from_node(retry, "retry"),
        None => RetrySettings::from_node(node, ""),
    })
}

fn of_workflow(workflow: &Workflow, step: Option<&str>) -> Result<RetrySettings, Usage> {
    let Some(id) = step else {
        let own = workflow.steps.iter().filter(|step| step.retry.is_some());
        let own: Vec<&str> = own.map(|step| step.id.as_str()).collect();
        if !own.is_empty() {
            let own = own.join(", ");
            say!("this is the workflow's policy; these steps have their own (--step): {own}");
        }
        return Ok(workflow.retry.clone());
    };
    let steps = workflow.steps.iter();
    let Some(found) = steps.clone().find(|step| step.id.as_str() == id) else {
        let near = refire_schedule::nearest(id, steps.map(|step| step.id.as_str()));
        let tip = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(Usage(format!("--step: there is no step `{id}`{tip}")));
    };
    Ok(match &found.retry {
        Some(own) => own.over(&workflow.retry),
        None => workflow.retry.clone(),
    })
}

/// The options that were given, in the words of a definition.
fn policy_of(args: &SimulateArgs) -> serde_json::Map<String, Value> {
    let all = [
        ("maxRetries", json!(args.max_retries)),
        ("initialDelay", json!(args.initial_delay)),
        ("strategy", json!(args.strategy)),
        ("multiplier", json!(args.multiplier)),
        ("maxDelay", json!(args.max_delay)),
        ("maxElapsed", json!(args.max_elapsed)),
        ("jitter", json!(args.jitter)),
    ];
    let given = all.into_iter().filter(|(_, value)| !value.is_null());
    given
        .map(|(name, value)| (name.to_owned(), value))
        .collect()
}

/// Problems of options have no line; they are named as they were typed.
fn say_options(problems: &Problems) {
    for problem in problems {
        say_option(FieldProblem {
            field: option_name(&problem.path),
            ..field_problem(problem)
        });
    }
}

/// `maxRetries` → `--max-retries`
fn option_name(path: &str) -> String {
    let mut name = String::from("--");
    for character in path.chars() {
        if character.is_ascii_uppercase() {
            name.push('-');
        }
        name.push(character.to_ascii_lowercase());
    }
    name
}

/// The API's answer to the same policy.
fn document(timeline: &Timeline) -> RetryTimeline {
    let planned = timeline.retries.iter().map(|planned| PlannedRetry {
        retry: planned.retry,
        delay_ms: millis(planned.delay),
        min_ms: millis(planned.min),
        max_ms: millis(planned.max),
        at_ms: millis(planned.at),
    });
    RetryTimeline {
        retries: planned.collect(),
        total_ms: millis(timeline.total),
        total_min_ms: millis(timeline.total_min),
        total_max_ms: millis(timeline.total_max),
    }
}

fn draw(policy: &Policy, jitter: Option<JitterSetting>, timeline: &Timeline) -> String {
    if timeline.retries.is_empty() {
        return "no retries: the first failure is final\n".to_owned();
    }
    let mut out = format!("{}\n", dim(&describe(policy, jitter)));
    let is_spread = timeline.retries.iter().any(|one| one.min != one.max);
    let rows = timeline.retries.iter();
    let rows: Vec<Row> = rows.map(|one| (*one, timeline.total, is_spread)).collect();
    out.push_str(&table(&COLUMNS, &rows, Timestamp::from_micros(0)).lines(0));
    let total = heading(&time(timeline.total));
    let (min, max) = (timeline.total_min, timeline.total_max);
    let between = if min == max {
        String::new()
    } else {
        format!(", between {} and {}", time(min), time(max))
    };
    let _ = writeln!(out, "\n{total} of waiting in total{between}");
    if !matches!(
        jitter,
        None | Some(JitterSetting::None | JitterSetting::Proportional(_))
    ) {
        out.push_str("WAIT and AT are without jitter; each real wait is within BETWEEN\n");
    }
    match timeline.ending {
        Ending::Attempts => {}
        Ending::Elapsed => out.push_str("the next retry would come after the time limit\n"),
        Ending::Truncated => out.push_str("not all retries are listed\n"),
    }
    out
}

/// A retry, all of the waiting, and whether waits differ: those that are always the same have no range.
type Row = (Planned, Duration, bool);

const COLUMNS: [Column<Row>; 5] = [
    number("RETRY", |(one, ..), _| Cell::new(one.retry)),
    text("WAIT", |(one, ..), _| cell(time(one.delay))),
    optional("BETWEEN", |(one, _, is_spread), _| {
        maybe(is_spread.then(|| range(one.min, one.max)))
    }),
    number("AT", |(one, ..), _| cell(time(one.at))),
    text("TIME LINE", |(one, total, _), _| {
        Cell::new(bar(one.at.saturating_sub(one.delay), one.at, *total))
    }),
];

fn describe(policy: &Policy, jitter: Option<JitterSetting>) -> String {
    let strategy = format!("{:?}", policy.strategy).to_lowercase();
    let spread = match jitter.unwrap_or(JitterSetting::Proportional(0.2)) {
        JitterSetting::None => "no jitter".to_owned(),
        JitterSetting::Proportional(ratio) => format!("±{} %", (ratio * 100.0).round()),
        other => format!("{other:?} jitter").to_lowercase(),
    };
    let retries = match policy.max_retries {
        1 => "1 retry".to_owned(),
        count => format!("{count} retries"),
    };
    format!(
        "{strategy} from {}, {retries}, {spread}",
        time(policy.initial)
    )
}

/// The wait as a bar that stands where it happens.
fn bar(from: Duration, to: Duration, total: Duration) -> String {
    let total = millis(total).max(1);
    let place = |at: Duration| {
        let scaled = u128::from(millis(at)) * u128::from(BAR_CHARS) / u128::from(total);
        usize::try_from(scaled).unwrap_or(0)
    };
    let (start, end) = (place(from), place(to));
    // A wait that is too short to see is still there.
    format!(
        "{}{}",
        " ".repeat(start),
        "█".repeat(end.saturating_sub(start).max(1))
    )
}

fn range(min: Duration, max: Duration) -> String {
    if min == max {
        time(min)
    } else {
        format!("{} – {}", time(min), time(max))
    }
}

/// Exact, and in seconds for as long as people still count in them, since these numbers are checked.
fn time(duration: Duration) -> String {
    let ms = millis(duration);
    match ms {
        _ if ms < 1_000 => format!("{ms}ms"),
        _ if ms < SECONDS_BELOW_MS => {
            let text = format!("{}.{:03}", ms / 1_000, ms % 1_000);
            format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
        }
        _ if ms.is_multiple_of(1_000) => span(ms),
        _ => duration::format(duration),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn the_default_policy_is_drawn() {
        let settings = RetrySettings::default();
        let policy = settings.rules().policy;
        let text = plain(&draw(&policy, None, &policy.timeline()));
        let expected = "\
exponential from 2s, 5 retries, ±20 %
RETRY  WAIT  BETWEEN         AT  TIME LINE
    1  2s    1.6s – 2.4s     2s  █
    2  4s    3.2s – 4.8s     6s   ██
    3  8s    6.4s – 9.6s    14s     ██████
    4  16s   12.8s – 19.2s  30s           ██████████
    5  32s   25.6s – 38.4s  62s                     █████████████████████

62s of waiting in total, between 49.6s and 74.4s
";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_words_fit_the_policy() {
        let text = |policy: &str| {
            let settings = RetrySettings::parse(policy).unwrap();
            let policy = settings.rules().policy;
            plain(&draw(&policy, settings.jitter, &policy.timeline()))
        };
        let fixed = text("{maxRetries: 1, strategy: fixed, jitter: none}");
        assert!(
            fixed.starts_with("fixed from 2s, 1 retry, no jitter\nRETRY  WAIT  AT  TIME LINE\n")
        );
        assert!(fixed.ends_with("\n2s of waiting in total\n"), "{fixed}");
        let full = text("{jitter: full}");
        assert!(
            full.ends_with("each real wait is within BETWEEN\n"),
            "{full}"
        );
    }

    #[test]
    fn bars_stand_where_they_happen() {
        let second = Duration::from_secs;
        assert_eq!(bar(second(0), second(20), second(40)), "█".repeat(20));
        assert_eq!(
            bar(second(20), second(40), second(40)),
            " ".repeat(20) + &"█".repeat(20)
        );
        assert_eq!(bar(second(0), Duration::from_millis(1), second(40)), "█");
        assert_eq!(bar(second(0), second(0), second(0)), "█");
    }

    #[test]
    fn options_are_named_as_typed() {
        assert_eq!(option_name("maxRetries"), "--max-retries");
        assert_eq!(option_name("jitter"), "--jitter");
    }
}
