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
mod lists;
mod load;
mod machine;
mod notices;
mod overhead;
mod payloads;
mod pickup;
mod place;
mod policy;
mod postgres;
mod prelude;
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
mod tasks;
mod timers;
mod watched;
mod webhooks;
mod wire;

use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::Context;
use progress::say;

/// A measurement: its name, the table it belongs to, what it measures, and how.
type Measurement = (
    &'static str,
    &'static str,
    &'static str,
    fn() -> anyhow::Result<()>,
);

macro_rules! measurements {
    ($($name:literal in $table:literal: $what:literal, $run:expr;)*) => {
        [$(($name, $table, $what, || $run)),*]
    };
}

const ALL: [Measurement; 32] = measurements! {
    "raw" in "B5": "what the disk and SQLite can do", raw::report();
    "ingest" in "B1": "requests over HTTP, answered when durable", wait(ingest::report());
    "webhooks" in "B1": "signed requests to a webhook", wait(webhooks::report());
    "jobs" in "B2": "the engine inside a program: put in, worked off", wait(jobs::report());
    "executions" in "B2": "the engine inside a program: both together", wait(executions::report());
    "pickup" in "B3": "from durable to called", wait(pickup::report());
    "timers" in "B4": "lateness, and what waiting costs", wait(timers::report());
    "schedules" in "cron": "when a schedule is due next", schedules::report();
    "cron" in "cron": "a hundred thousand triggers, and ten thousand of them at once", wait(cron::report());
    "crowd" in "cron": "making and firing very many triggers, without a server", wait(crowd::report());
    "start" in "start": "starting with many unfinished executions", wait(start::report());
    "overhead" in "overhead": "what the engine adds to an execution", wait(overhead::report());
    "payloads" in "payloads": "admissions beside executions that map large answers", wait(payloads::report());
    "sqlite-lists" in "LISTS": "lists and counts of a million executions and dead letters", wait(lists::report());
    "tasks" in "XT": "tasks for workers", wait(tasks::report());
    "tasks-many" in "XT": "very many polls, heartbeats, clocks and delayed tasks", wait(tasks::many());
    "callbacks" in "CB": "targets that call back, and the history of scheduled tasks", wait(tasks::callbacks());
    "notices" in "NOTE": "how soon people are told, and what a storm of dead letters costs", wait(notices::report());
    "bulk" in "BULK": "dead letters that are retried by one job", wait(tasks::bulk());
    "pg-executions" in "PG": "the engine on PostgreSQL: executions on one node and on three", wait(postgres::executions());
    "pg-claims" in "PG": "claims beside a million finished executions", wait(postgres::claims());
    "pg-pickup" in "PG": "from durable on a node to called by another", wait(pickup::on_postgres());
    "pg-timers" in "PG": "lateness on PostgreSQL", wait(postgres::timers());
    "pg-webhooks" in "PG": "signed requests to a webhook, on PostgreSQL", wait(postgres::webhooks());
    "pg-cron" in "PG": "a hundred thousand triggers on PostgreSQL", wait(cron::on_postgres());
    "pg-crowd" in "PG": "making and firing them on PostgreSQL", wait(crowd::on_postgres());
    "pg-lists" in "LISTS": "the same on PostgreSQL", wait(lists::on_postgres());
    "pg-tasks" in "XT": "tasks for workers on PostgreSQL", wait(tasks::on_postgres());
    "pg-tasks-many" in "XT": "very many of them on PostgreSQL", wait(tasks::many_on_postgres());
    "pg-callbacks" in "CB": "the same on PostgreSQL", wait(tasks::callbacks_on_postgres());
    "pg-bulk" in "BULK": "the same on PostgreSQL", wait(tasks::bulk_on_postgres());
    // Counting allocations takes an allocator of its own, and so a program of its own.
    "retry" in "retry": "what a policy costs where nothing fails", run_program("refire-bench-retry");
};

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
        ["inner:run", name] => match ALL.iter().find(|(one, ..)| one == name) {
            Some((.., measure)) => measure(),
            None => anyhow::bail!("`{name}` is no measurement"),
        },
        ["inner:limit", work, dir] => wait(limit::serve(work.parse()?, Path::new(dir).to_owned())),
        ["inner:unfinished", dir, url] => {
            wait(start::fill(Path::new(dir), url))?;
            // As a process ends that is killed: nothing is given back, nothing is finished.
            std::process::exit(0)
        }
        names => all(&chosen(names)?),
    }
}

fn wait(measuring: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new().context("no runtime")?;
    runtime.block_on(measuring)
}

fn run_program(name: &str) -> anyhow::Result<()> {
    let status = Command::new(place::program(name)?).status()?;
    anyhow::ensure!(status.success(), "{name} ended with {status}");
    Ok(())
}

/// The measurements of these names or tables, in the order of the list; without any, all.
fn chosen(names: &[&str]) -> anyhow::Result<Vec<&'static str>> {
    let is = |name: &str, one: &str| one.eq_ignore_ascii_case(name);
    for name in names {
        if !ALL
            .iter()
            .any(|(one, table, ..)| is(name, one) || is(name, table))
        {
            let known: Vec<String> = ALL
                .iter()
                .map(|(one, table, what, _)| format!("\n  {one} ({table}): {what}"))
                .collect();
            anyhow::bail!("`{name}` is none of{}", known.concat());
        }
    }
    let wanted = ALL.iter().filter(|(one, table, ..)| {
        names.is_empty() || names.iter().any(|name| is(name, one) || is(name, table))
    });
    Ok(wanted.map(|(one, ..)| *one).collect())
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
        let mut own = Command::new(std::env::current_exe()?);
        if !own.args(["inner:run", name]).status()?.success() {
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
