//! Measures Refire beside the raw limits of the machine, one line per result.
//!
//! Limits are measured in the same run, by turns with the product: figures of one run may be
//! compared with each other, figures of different runs only by their ratios. Each measurement
//! runs in a process of its own, so that the memory it reports is its own.

mod cron;
mod crowd;
mod embedded;
mod executions;
mod ingest;
mod jobs;
mod limit;
mod line;
mod load;
mod machine;
mod overhead;
mod payloads;
mod pickup;
mod place;
mod policy;
mod postgres;
mod process;
mod progress;
mod raw;
mod rows;
mod sample;
mod schedules;
mod series;
mod start;
pub mod success_path;
mod target;
mod timers;
mod watched;
mod webhooks;
mod wire;

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Context;
use progress::say;

/// The measurements: the name of each, the table it belongs to, and what it measures.
const ALL: [(&str, &str, &str); 21] = [
    ("raw", "B5", "what the disk and SQLite can do"),
    ("ingest", "B1", "requests over HTTP, answered when durable"),
    ("webhooks", "B1", "signed requests to a webhook"),
    (
        "jobs",
        "B2",
        "the engine inside a program: put in, worked off",
    ),
    (
        "executions",
        "B2",
        "the engine inside a program: both together",
    ),
    ("pickup", "B3", "from durable to called"),
    ("timers", "B4", "lateness, and what waiting costs"),
    ("schedules", "cron", "when a schedule is due next"),
    (
        "cron",
        "cron",
        "a hundred thousand triggers, and ten thousand of them at once",
    ),
    (
        "crowd",
        "cron",
        "making and firing very many triggers, without a server",
    ),
    ("start", "start", "starting with many unfinished executions"),
    (
        "overhead",
        "overhead",
        "what the engine adds to an execution",
    ),
    (
        "payloads",
        "payloads",
        "admissions beside executions that map large answers",
    ),
    (
        "pg-executions",
        "PG",
        "the engine on PostgreSQL: executions on one node and on three",
    ),
    (
        "pg-claims",
        "PG",
        "claims beside a million finished executions",
    ),
    (
        "pg-pickup",
        "PG",
        "from durable on a node to called by another",
    ),
    ("pg-timers", "PG", "lateness on PostgreSQL"),
    (
        "pg-webhooks",
        "PG",
        "signed requests to a webhook, on PostgreSQL",
    ),
    ("pg-cron", "PG", "a hundred thousand triggers on PostgreSQL"),
    ("pg-crowd", "PG", "making and firing them on PostgreSQL"),
    ("retry", "retry", "what a policy costs where nothing fails"),
];

/// Runs what the arguments name, or everything.
#[must_use]
pub fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("refire-bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> anyhow::Result<()> {
    match words {
        // Words that this program says to itself.
        ["inner:run", name] => measure(name),
        ["inner:limit", work, dir] => {
            runtime()?.block_on(limit::serve(work.parse()?, Path::new(dir).to_owned()))
        }
        ["inner:unfinished", dir, url] => {
            runtime()?.block_on(start::fill(Path::new(dir), url))?;
            // As a process ends that is killed: nothing is given back, nothing is finished.
            std::process::exit(0)
        }
        names => all(&chosen(names)?),
    }
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Runtime::new().context("no runtime")
}

/// The measurements of these names or tables, in the order of the list; without any, all.
fn chosen(names: &[&str]) -> anyhow::Result<Vec<&'static str>> {
    let is = |name: &str, one: &str| one.eq_ignore_ascii_case(name);
    for name in names {
        if !ALL
            .iter()
            .any(|(one, table, _)| is(name, one) || is(name, table))
        {
            let known: Vec<String> = ALL
                .iter()
                .map(|(one, table, what)| format!("\n  {one} ({table}): {what}"))
                .collect();
            anyhow::bail!("`{name}` is none of{}", known.concat());
        }
    }
    let wanted = ALL.iter().filter(|(one, table, _)| {
        names.is_empty() || names.iter().any(|name| is(name, one) || is(name, table))
    });
    Ok(wanted.map(|(one, _, _)| *one).collect())
}

/// Runs each in a process of its own; one that fails does not keep the others.
fn all(names: &[&str]) -> anyhow::Result<()> {
    let dir = place::fresh()?;
    println!(
        "machine cores={} processor={} file_system={} client={} load1={:.1}",
        std::thread::available_parallelism().map_or(0, usize::from),
        machine::processor(),
        machine::file_system(dir.path()),
        load::Client::best().name(),
        machine::load1(),
    );
    let mut failed = Vec::new();
    for name in names {
        say(format_args!("{name}"));
        let mut command = match *name {
            "retry" => Command::new(place::program("refire-bench-retry")?),
            _ => {
                let mut own = Command::new(std::env::current_exe()?);
                own.args(["inner:run", name]);
                own
            }
        };
        if !command.status()?.success() {
            failed.push(*name);
        }
    }
    anyhow::ensure!(
        failed.is_empty(),
        "could not be measured: {}",
        failed.join(", ")
    );
    Ok(())
}

fn measure(name: &str) -> anyhow::Result<()> {
    let runtime = runtime()?;
    match name {
        "raw" => raw::report(),
        "ingest" => runtime.block_on(ingest::report()),
        "webhooks" => runtime.block_on(webhooks::report()),
        "jobs" => runtime.block_on(jobs::report()),
        "executions" => runtime.block_on(executions::report()),
        "pickup" => runtime.block_on(pickup::report()),
        "timers" => runtime.block_on(timers::report()),
        "schedules" => schedules::report(),
        "cron" => runtime.block_on(cron::report()),
        "crowd" => runtime.block_on(crowd::report()),
        "start" => runtime.block_on(start::report()),
        "pg-executions" => runtime.block_on(postgres::executions()),
        "pg-claims" => runtime.block_on(postgres::claims()),
        "pg-pickup" => runtime.block_on(postgres::pick_up()),
        "pg-timers" => runtime.block_on(postgres::timers()),
        "pg-webhooks" => runtime.block_on(postgres::webhooks()),
        "pg-cron" => runtime.block_on(cron::on_postgres()),
        "pg-crowd" => runtime.block_on(crowd::on_postgres()),
        "payloads" => runtime.block_on(payloads::report()),
        "overhead" => runtime.block_on(overhead::report()),
        other => anyhow::bail!("`{other}` is no measurement"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measurements_are_chosen_by_name_or_table() {
        assert_eq!(chosen(&[]).unwrap().len(), ALL.len());
        assert_eq!(
            chosen(&["b1", "raw"]).unwrap(),
            ["raw", "ingest", "webhooks"]
        );
        let refused = chosen(&["ingest", "lunch"]).unwrap_err().to_string();
        assert!(refused.contains("`lunch` is none of"), "{refused}");
    }
}
