//! The command line: reads the arguments, runs the command, says how it ended.
//!
//! Commands talk to a server only through `refire-client`, so they can do nothing that the API
//! cannot. Data goes to the standard output, everything else to the standard error.

mod admin_key;
mod alert_rules;
mod alerts;
mod archive;
mod backup;
mod bench;
mod bulk;
mod channels;
mod console;
mod cron;
mod definitions;
mod dlq;
mod editor;
mod excerpt;
mod execute;
mod executions;
mod explain;
mod globals;
mod ids;
mod input;
mod migrate;
mod moment;
mod nodes;
mod notifications;
mod outcome;
mod output;
mod overview;
mod paint;
mod prelude;
mod pretty;
mod progress;
mod report;
mod restore;
mod retries;
mod scheduled;
mod screen;
mod session;
mod silences;
mod simulate;
mod slip;
mod stats;
mod table;
mod targets;
mod tasks;
mod trigger;
mod version;
mod wait;
mod when;
mod worker;
mod workers;
mod workflow;

use std::process::ExitCode;

use anstream::ColorChoice;
use clap::error::ContextKind;
use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use refire_core::definition::json_schema;
use tokio::runtime;

use crate::config::ServeArgs;
use crate::demo::DemoArgs;
use globals::Globals;
use outcome::{EXIT_CODES, Outcome};
use session::Session;

/// Threads that send a load: each can keep several cores of a server busy.
const BENCH_THREADS_MAX: usize = 8;

/// Durable workflows, retries and dead letters in one binary.
///
/// Start a server with `refire serve`, save a workflow with `refire workflow apply`, and run it
/// with `refire execute`. Every command has examples: `refire execute --help`.
#[derive(Debug, Parser)]
#[command(name = "refire", version = version::VERSION, after_help = EXIT_CODES)]
#[command(
    propagate_version = false,
    subcommand_required = true,
    arg_required_else_help = true
)]
struct Cli {
    #[command(flatten)]
    globals: Globals,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the server
    ///
    /// All data is kept in the data directory, or in a PostgreSQL database that several servers share.
    /// The first start creates the admin key and saves it as `admin.key` in the data directory, where
    /// the other commands find it.
    #[command(after_help = "\
Examples:
  refire serve
  refire serve --listen 0.0.0.0:7373 --behind-proxy --data-dir /var/lib/refire
  refire serve --database postgres://refire@db.example.com/refire --node-name rack-7
  refire serve --dev        may call targets on this machine, for trying things out

Put a PostgreSQL password in REFIRE_DATABASE_URL rather than in --database: command lines are
visible to every user of the machine.")]
    Serve(Box<ServeArgs>),
    /// Run a throwaway server with example workflows and flaky services
    ///
    /// Shows retries and dead letters right away. All of its data is deleted when it stops.
    #[command(after_help = "\
Examples:
  refire demo
  refire demo --listen 127.0.0.1:8080 --rounds 3")]
    Demo(DemoArgs),
    /// Show how much happened, what is open, what is wrong and what fires next
    Overview(overview::OverviewArgs),
    /// Save, check, compare and list workflow definitions
    ///
    /// A definition is YAML or JSON. `refire schema` prints the JSON Schema for editors.
    #[command(after_help = "\
Examples:
  refire workflow validate -f customer_360_view.yaml
  refire workflow apply -f customer_360_view.yaml
  refire workflow diff customer_360_view --from 1 --to 2")]
    #[command(subcommand, visible_alias = "workflows")]
    Workflow(workflow::WorkflowCommand),
    /// Create, list, pause, run and delete triggers: what starts workflows automatically
    ///
    /// A trigger fires on a cron expression, on a schedule (an interval, fixed moments, times of day),
    /// or when a request arrives at its webhook. Its ledger records what happened at every planned time.
    #[command(after_help = "\
Examples:
  refire trigger create report --cron \"0 9 * * MON\" --tz Asia/Taipei
  refire trigger create report --every 13h --overlap skip
  refire trigger slots trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --status skipped
  refire trigger disable trg_01j9x8w7v6t5s4r3q2p1n0m9k8")]
    #[command(subcommand, visible_alias = "triggers")]
    Trigger(Box<trigger::TriggerCommand>),
    /// Schedule calls of a service: now, once, daily, weekly, monthly or by cron
    ///
    /// Prints the task's id. The file has the fields of `POST /schedule-task`, in JSON or YAML.
    ScheduleTask(scheduled::ScheduleArgs),
    /// List, show, pause, resume, cancel and run scheduled tasks, and see how each attempt went
    #[command(after_help = "\
Examples:
  refire scheduled list --active true
  refire scheduled history task-01j9x8w7v6t5s4r3q2p1n0m9k8
  refire scheduled run task-01j9x8w7v6t5s4r3q2p1n0m9k8")]
    #[command(subcommand)]
    Scheduled(scheduled::ScheduledCommand),
    /// Add, change, test and remove channels: who is told of what, and where
    #[command(after_help = "\
Examples:
  refire channels add -f ops.yaml
  refire channels list
  refire channels test chn_01j9x8w7v6t5s4r3q2p1n0m9k8")]
    #[command(subcommand, visible_alias = "channel")]
    Channels(channels::ChannelsCommand),
    /// List messages to people and whether they got through, and send one again
    #[command(after_help = "\
Examples:
  refire notifications list --status failed
  refire notifications show ntf_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire notifications resend ntf_01j9x8w7v6t5s4r3q2p1n0m9k8")]
    #[command(subcommand, visible_alias = "notification")]
    Notifications(notifications::NotificationsCommand),
    /// Start an execution of a workflow
    ///
    /// Prints the execution's id, or its output with --wait. Interrupting the wait does not stop the
    /// execution.
    Execute(execute::ExecuteArgs),
    /// List, show, replay, cancel, pause and resume executions
    #[command(after_help = "\
Examples:
  refire executions list --status retrying
  refire executions show exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --watch
  refire executions replay exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --definition changed.yaml")]
    #[command(subcommand, visible_alias = "execution")]
    Executions(executions::ExecutionsCommand),
    /// List executions that were retried
    #[command(after_help = "\
Examples:
  refire retries list
  refire retries list --workflow ship_order")]
    #[command(subcommand)]
    Retries(retries::RetriesCommand),
    /// List, show, retry, delete and purge dead letters: executions that failed permanently
    #[command(after_help = "\
Examples:
  refire dlq list --from 24h
  refire dlq show dlq_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire dlq retry dlq_01j9x8w7v6t5s4r3q2p1n0m9k8 --edit --wait 30s")]
    #[command(subcommand)]
    Dlq(dlq::DlqCommand),
    /// List, show, pause, resume and cancel bulk jobs
    ///
    /// A bulk job does something with many dead letters or executions. It is made by commands such as
    /// `refire dlq retry --workflow ship_order`, and goes on in the server.
    #[command(after_help = "\
Examples:
  refire bulk list --state running,paused
  refire bulk show bulk_01j9x8w7v6t5s4r3q2p1n0m9k8 --outcome failed
  refire bulk pause bulk_01j9x8w7v6t5s4r3q2p1n0m9k8")]
    #[command(subcommand)]
    Bulk(bulk::BulkCommand),
    /// List and show tasks for workers, and step in by hand
    ///
    /// A step of type external_task is done by a worker outside, which fetches it as a task.
    #[command(after_help = "\
Examples:
  refire tasks list --status pending,locked
  refire tasks show xt_01j9x8w7v6t5s4r3q2p1n0m9k8001
  refire tasks unlock xt_01j9x8w7v6t5s4r3q2p1n0m9k8001")]
    #[command(subcommand, visible_alias = "task")]
    Tasks(tasks::TasksCommand),
    /// List the workers that do tasks, and remove those that are gone
    #[command(after_help = "\
Examples:
  refire workers list
  refire workers list --status dead
  refire workers remove n8n-worker-1")]
    #[command(subcommand)]
    Workers(workers::WorkersCommand),
    /// List the services that are called, and stop or allow calls to them
    ///
    /// A target that fails again and again is left alone for a while by its circuit breaker: what is due waits.
    #[command(after_help = "\
Examples:
  refire targets list --state open,half_open,closing
  refire targets show api.example.com
  refire targets open api.example.com        before its maintenance")]
    #[command(subcommand, visible_alias = "target")]
    Targets(targets::TargetsCommand),
    /// List what alert rules have found, and acknowledge it
    #[command(after_help = "\
Examples:
  refire alerts list
  refire alerts list --phase resolved
  refire alerts ack alert_01j9x8w7v6t5s4r3q2p1n0m9k8")]
    #[command(subcommand)]
    Alerts(alerts::AlertsCommand),
    /// List, show, add, edit, remove and try out the rules by which people are alerted
    #[command(after_help = "\
Examples:
  refire alert-rules list
  refire alert-rules preview -f orders-fail.yaml
  refire alert-rules add -f orders-fail.yaml
  refire alert-rules edit rule_01j9x8w7v6t5s4r3q2p1n0m9k8 --disable")]
    #[command(subcommand)]
    AlertRules(alert_rules::AlertRulesCommand),
    /// List, add and remove silences: times in which nobody is told of alerts
    #[command(after_help = "\
Examples:
  refire silences list
  refire silences add --for 2h --subject ship_order --comment \"partner maintenance\"
  refire silences remove sil_01j9x8w7v6t5s4r3q2p1n0m9k8")]
    #[command(subcommand)]
    Silences(silences::SilencesCommand),
    /// Show how many executions started, ended, failed and were retried, step by step
    Stats(stats::StatsArgs),
    /// Show when the retries of a policy would happen
    ///
    /// Needs no server. The numbers are the same as those of `POST /api/retry/simulate`.
    Simulate(simulate::SimulateArgs),
    /// Show what a cron expression means and when it fires
    ///
    /// Needs no server.
    #[command(after_help = "\
Examples:
  refire cron next \"*/15 9-17 * * MON-FRI\" --tz Europe/Berlin
  refire cron explain \"0 9 * * MON#1\"")]
    #[command(subcommand)]
    Cron(cron::CronCommand),
    /// Do tasks of `external_task` steps with a program, which is run once for each task
    ///
    /// The worker fetches tasks from the server, holds them while the program runs, and reports what came of it.
    Worker(Box<worker::WorkerArgs>),
    /// Log in to the web console with a link that works once
    Console(console::ConsoleArgs),
    /// List the servers that share the database, with their state
    Nodes(nodes::NodesArgs),
    /// Update the tables of a PostgreSQL database, or move an SQLite database to it
    Migrate(migrate::MigrateArgs),
    /// Write finished executions to files before the server removes them
    ///
    /// One line of JSON for each, with its input, output, steps and log. Run it regularly: each run begins where the last
    /// one ended.
    Archive(archive::ArchiveArgs),
    /// Back up all data to an SQLite file, while the server runs
    ///
    /// The server writes the copy. If no server runs on this machine, the database in the data
    /// directory or the configured PostgreSQL database is copied.
    Backup(backup::BackupArgs),
    /// Replace the SQLite database of a stopped server with a backup
    Restore(restore::RestoreArgs),
    /// Change the admin key
    #[command(after_help = "\
Examples:
  refire admin-key rotate --data-dir /var/lib/refire
  refire admin-key rotate --database postgres://refire@db.example.com/refire")]
    #[command(subcommand)]
    AdminKey(admin_key::AdminKeyCommand),
    /// Load-test a server: requests/s, latencies, and whether every accepted execution is there
    Bench(Box<bench::BenchArgs>),
    /// Explain an error code
    Explain(explain::ExplainArgs),
    /// Print a completion script for your shell
    #[command(after_help = "\
Examples:
  refire completions bash > /etc/bash_completion.d/refire
  refire completions zsh > ~/.zfunc/_refire
  refire completions fish > ~/.config/fish/completions/refire.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the JSON Schema of workflow definitions, for editors
    #[command(after_help = "\
Examples:
  refire schema > workflow.schema.json
  # yaml-language-server: $schema=./workflow.schema.json      first line of a definition")]
    Schema,
    /// Print the version of this program, and of the server if one answers
    #[command(after_help = "\
Examples:
  refire version
  refire version --format json --url https://refire.example.com")]
    Version,
}

/// Reads the arguments and does what they ask.
pub(crate) fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| misread(as_written(error)));
    if cli.globals.no_color {
        ColorChoice::Never.write_global();
    }
    let session = Session::new(cli.globals);
    match run(&session, cli.command) {
        Ok(outcome) => outcome.code(),
        // Who closed the pipe has read enough: that is no failure.
        Err(error) if report::is_broken_pipe(&error) => Outcome::Done.code(),
        Err(error) => {
            report::report(&error, &session);
            report::outcome(&error).code()
        }
    }
}

/// The same error of the arguments alone. With the environment, the usage line shows options that nobody
/// has written, as if they were needed.
fn as_written(error: clap::Error) -> clap::Error {
    fn without_environment(command: clap::Command) -> clap::Command {
        command
            .mut_args(|argument| argument.env(None::<&'static str>))
            .mut_subcommands(without_environment)
    }
    match without_environment(Cli::command()).try_get_matches() {
        Err(alone) if error.use_stderr() && alone.kind() == error.kind() => alone,
        _ => error,
    }
}

/// Shows the help that was asked for, or what is wrong, and ends.
fn misread(mut error: clap::Error) -> ! {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let tip = slip::tip(error.kind(), &arguments);
    if tip.is_some() {
        // What only looks alike is in the way of what is meant.
        for kind in [
            ContextKind::Suggested,
            ContextKind::SuggestedArg,
            ContextKind::SuggestedSubcommand,
        ] {
            error.remove(kind);
        }
    }
    let _ = error.print();
    if let Some(tip) = tip {
        output::say(&format!("\n  tip: {tip}"));
    }
    std::process::exit(error.exit_code())
}

fn run(session: &Session, command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Serve(args) => serve(*args),
        Command::Demo(args) => demo(args),
        Command::Bench(args) => bench(session, &args),
        Command::Simulate(args) => simulate::run(session, &args),
        Command::Cron(command) => cron::run(session, &command),
        Command::Explain(args) => explain::run(session, &args),
        Command::Completions { shell } => completions(shell),
        Command::Restore(args) => restore::run(session, &args),
        Command::Schema => {
            output::print_raw(json_schema().as_bytes())?;
            Ok(Outcome::Done)
        }
        online => {
            use_tls();
            let runtime = runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(Box::pin(ask(session, online)))
        }
    }
}

/// The commands that may talk to a server.
async fn ask(session: &Session, command: Command) -> anyhow::Result<Outcome> {
    match command {
        Command::Workflow(command) => workflow::run(session, &command).await,
        Command::Trigger(command) => trigger::run(session, &command).await,
        Command::ScheduleTask(args) => scheduled::schedule(session, &args).await,
        Command::Scheduled(command) => scheduled::run(session, &command).await,
        Command::Channels(command) => channels::run(session, &command).await,
        Command::Notifications(command) => notifications::run(session, &command).await,
        Command::Execute(args) => execute::run(session, &args).await,
        Command::Executions(command) => executions::run(session, &command).await,
        Command::Retries(command) => retries::run(session, &command).await,
        Command::Dlq(command) => dlq::run(session, &command).await,
        Command::Bulk(command) => bulk::run(session, &command).await,
        Command::Worker(args) => worker::run(session, &args).await,
        Command::Tasks(command) => tasks::run(session, &command).await,
        Command::Workers(command) => workers::run(session, &command).await,
        Command::Targets(command) => targets::run(session, &command).await,
        Command::Alerts(command) => alerts::run(session, &command).await,
        Command::AlertRules(command) => alert_rules::run(session, &command).await,
        Command::Silences(command) => silences::run(session, &command).await,
        Command::Stats(args) => stats::run(session, &args).await,
        Command::Console(args) => console::run(session, &args).await,
        Command::Overview(args) => overview::run(session, &args).await,
        Command::Nodes(_) => nodes::run(session).await,
        Command::Migrate(args) => migrate::run(session, &args).await,
        Command::Archive(args) => archive::run(session, &args).await,
        Command::Backup(args) => backup::run(session, &args).await,
        Command::AdminKey(command) => admin_key::run(session, &command).await,
        _ => version::run(session).await,
    }
}

fn serve(args: ServeArgs) -> anyhow::Result<Outcome> {
    use_tls();
    let config = args.resolve()?;
    on_all_cores(crate::serve::run(config))
}

fn demo(args: DemoArgs) -> anyhow::Result<Outcome> {
    use_tls();
    on_all_cores(Box::pin(crate::demo::run(args)))
}

fn on_all_cores(server: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<Outcome> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(server);
    // What still blocks, such as the lookup of a name, is not waited for.
    runtime.shutdown_background();
    served?;
    Ok(Outcome::Done)
}

/// A runtime of its own: the load needs threads, but must leave most of the machine to a server
/// that runs beside it.
fn bench(session: &Session, args: &bench::BenchArgs) -> anyhow::Result<Outcome> {
    use_tls();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads((cores / 2).clamp(1, BENCH_THREADS_MAX))
        .enable_all()
        .build()?;
    runtime.block_on(Box::pin(bench::run(session, args)))
}

/// Chooses the implementation of TLS for the whole process.
fn use_tls() {
    // It fails only when the choice was made before, and then it is the same one.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
}

fn completions(shell: Shell) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "refire", &mut script);
    output::print_raw(&script)?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_of_the_command_line_is_sound() {
        Cli::command().debug_assert();
    }

    /// Every command says what it does, and those that do something show how.
    #[test]
    fn every_command_teaches() {
        fn visit(command: &clap::Command, path: &str) {
            let path = format!("{path} {}", command.get_name());
            assert!(command.get_about().is_some(), "{path} has a summary");
            let has_examples = command
                .get_after_help()
                .is_some_and(|help| help.to_string().contains("Examples:"));
            let bare = [" refire", " refire workflow list"];
            assert!(
                has_examples || bare.contains(&path.as_str()),
                "{path} has examples"
            );
            command
                .get_subcommands()
                .for_each(|below| visit(below, &path));
        }
        visit(&Cli::command(), "");
    }
}
