//! `refire worker`: does tasks with any program, which is run once for each task.
//!
//! The rules of a worker (polls, heartbeats, reports, stops) are those of `refire_client::worker`; here is only what a
//! program sees of it.

mod answer;
mod group;
mod program;

use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use refire_client::Worker;
use refire_client::worker::{Notice, Task};
use refire_core::duration;

use crate::cli::prelude::*;
use crate::config::machine;
use program::Program;

/// Programs at once: a thread waits for each.
const CONCURRENCY_MAX: u64 = 256;

/// Options of `worker`.
#[derive(Debug, Args)]
#[command(after_help = "\
What the program gets:
  standard input        the task's input, JSON
  REFIRE_TASK_ID        the same for all attempts: pass it on as an idempotency key
  REFIRE_TASK_TYPE, REFIRE_TASK_ATTEMPT (from 1), REFIRE_TASK_MAX_ATTEMPTS,
  REFIRE_TASK_EXECUTION_ID, REFIRE_TASK_WORKFLOW_ID, REFIRE_TASK_STEP_ID
  and the environment of this command

What the program says:
  standard output       the output: JSON; other text becomes a JSON string, nothing becomes null
  exit code 0           the task is done
  exit code 65          it failed, and no retry can help
  any other exit code   it failed, and may be retried
  standard error        shown here; if it fails, its last line is the message
  file descriptor 3     progress, a line each: `50 half done` (in a shell: echo '50 half done' >&3)

Heartbeats are sent while it runs. If the task is taken away, the program and everything that it has
started get SIGTERM, and SIGKILL after 5 s. Ctrl-C and SIGTERM let programs finish within --grace, and
then give their tasks back; a second one gives them back at once.

Examples:
  refire worker --type n8n-jira-create-ticket -- ./create-ticket.sh
  refire worker --type 'n8n-jira-*' --concurrency 4 -- ./script.sh
  refire worker --type resize,thumbnail --id images-1 --grace 2m -- python3 images.py --fast
  refire worker --type echo -- cat        the output is the input")]
pub(crate) struct WorkerArgs {
    /// Which tasks: a type, or several separated by commas. A `*` at the end stands for any rest
    #[arg(
        long = "type",
        value_name = "TYPE",
        value_delimiter = ',',
        required = true
    )]
    types: Vec<String>,
    /// How many tasks at once
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=CONCURRENCY_MAX))]
    concurrency: u64,
    /// The worker's name, shown with its tasks [default: the machine's name and the process id]
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// What kind of worker it is, shown in the list of workers
    #[arg(long, value_name = "KIND", default_value = "refire worker")]
    worker_type: String,
    /// How long programs may go on after a stop
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, default_value = "20s")]
    grace: Duration,
    /// The program and its arguments, run once for each task
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

/// Works until it is stopped.
pub(crate) async fn run(session: &Session, args: &WorkerArgs) -> anyhow::Result<Outcome> {
    let program = Arc::new(Program::find(&args.program)?);
    let name = format!("{}-{}", machine(), std::process::id());
    let mut worker = Worker::new(session.client()?)
        .id(args.id.clone().unwrap_or(name))
        .worker_type(&args.worker_type)
        .concurrency(usize::try_from(args.concurrency)?)
        .grace(args.grace)
        .lost_grace(program::END_GRACE * 2)
        .on_notice(tell);
    for task_type in &args.types {
        let program = Arc::clone(&program);
        let function = move |task: Task| {
            let program = Arc::clone(&program);
            async move { program.run(task).await }
        };
        worker = worker.task(task_type, function);
    }
    let tally = worker.run().await?;
    line(&format!("stopped: {tally}"));
    Ok(Outcome::Done)
}

fn tell(notice: &Notice) {
    let text = notice.to_string();
    let text = clean(&text);
    match notice.is_trouble() {
        true => line(&warning(&text)),
        false => line(&text),
    }
}

/// A line of what it does, with the time: nobody may be watching.
fn line(text: &str) {
    use refire_engine::clock::{Clock as _, SystemClock};
    let now = SystemClock::new().now().to_string();
    say!("{} {text}", dim(&exact(&now)));
}
