//! A program, run for a task: what it is given, what is read from it, and when it is ended.

use std::ffi::OsString;
use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt as _, FdMapping};
use refire_client::Failure;
use refire_client::model::Raw;
use refire_client::worker::Task;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe;
use tokio::time::{Instant, sleep_until, timeout};

use super::group::Group;
use super::{answer, line};
use crate::cli::prelude::*;

/// How long a program has between SIGTERM and SIGKILL.
pub(super) const END_GRACE: Duration = Duration::from_secs(5);
/// How long its output is read on when it has ended: something that has left its group may still hold the pipe.
const DRAIN: Duration = Duration::from_secs(1);
/// Bytes of an output; no server takes more.
const OUTPUT_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bytes of the standard error that are kept: the last ones.
const STDERR_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a line that is shown, or that tells of progress.
const LINE_BYTES_MAX: u64 = 4 * 1024;
/// Where a program writes its progress.
const PROGRESS_FD: i32 = 3;

/// What is run for each task.
pub(super) struct Program {
    path: PathBuf,
    arguments: Vec<OsString>,
}

/// What a run has said so far.
#[derive(Default)]
struct Said {
    output: Vec<u8>,
    stderr: Vec<u8>,
}

impl Program {
    /// The program of a command line, which must be there: tasks are not fetched for one that is not.
    pub(super) fn find(words: &[OsString]) -> anyhow::Result<Self> {
        let (name, arguments) = words
            .split_first()
            .ok_or_else(|| Usage("no program".to_owned()))?;
        let name = Path::new(name);
        let path = match name.components().count() {
            1 if !name.to_string_lossy().contains('/') => {
                let path = std::env::var_os("PATH").unwrap_or_default();
                let mut places = std::env::split_paths(&path).map(|place| place.join(name));
                places.find(|path| is_program(path))
            }
            _ => Some(name.to_owned()).filter(|path| is_program(path)),
        };
        let missing = || {
            let name = name.display();
            Usage(format!(
                "there is no program {name}, or it cannot be executed"
            ))
        };
        Ok(Self {
            path: path.ok_or_else(missing)?,
            arguments: arguments.to_vec(),
        })
    }

    /// Runs it for a task.
    pub(super) async fn run(&self, task: Task) -> Result<Raw, Failure> {
        let (mut group, progress) = self.start(&task).map_err(|error| {
            let path = self.path.display();
            Failure::new(format!("{path} cannot be started: {error}"))
        })?;
        let mut said = Said::default();
        let (status, is_too_long) = attend(&mut group, progress, &task, &mut said).await?;
        match status.success() {
            _ if is_too_long => {
                let most = OUTPUT_BYTES_MAX / (1024 * 1024);
                Err(Failure::permanent(format!(
                    "the program wrote more than {most} MiB"
                )))
            }
            true => answer::output(said.output),
            false => Err(answer::failure(status, &said.stderr)),
        }
    }

    fn start(&self, task: &Task) -> io::Result<(Group, PipeReader)> {
        let (reader, writer) = io::pipe()?;
        let mut command = Command::new(&self.path);
        command
            .args(&self.arguments)
            .env("REFIRE_TASK_ID", &task.id)
            .env("REFIRE_TASK_TYPE", &task.task_type)
            .env("REFIRE_TASK_ATTEMPT", task.attempt.to_string())
            .env("REFIRE_TASK_MAX_ATTEMPTS", task.attempts_max.to_string())
            .env("REFIRE_TASK_EXECUTION_ID", &task.execution_id)
            .env("REFIRE_TASK_WORKFLOW_ID", &task.workflow_id)
            .env("REFIRE_TASK_STEP_ID", &task.step_id)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mapping = FdMapping {
            parent_fd: writer.into(),
            child_fd: PROGRESS_FD,
        };
        command
            .fd_mappings(vec![mapping])
            .map_err(io::Error::other)?;
        Ok((Group::start(&mut command)?, reader))
    }
}

/// Feeds it and hears it until it has ended; ends it when its task is lost, or when it says too much.
async fn attend(
    group: &mut Group,
    progress: PipeReader,
    task: &Task,
    said: &mut Said,
) -> io::Result<(ExitStatus, bool)> {
    let (input, output, stderr) = pipes(group)?;
    let progress = pipe::Receiver::from_owned_fd(OwnedFd::from(progress))?;
    let mut talking = std::pin::pin!(async {
        let ((), is_too_long, (), ()) = tokio::join!(
            give(input, task),
            read(output, &mut said.output),
            echo(stderr, task, &mut said.stderr),
            follow(progress, task),
        );
        is_too_long
    });
    let mut ended = std::pin::pin!(group.ended());
    let mut is_too_long = None;
    let mut end_at = None;
    loop {
        let deadline = end_at.unwrap_or_else(Instant::now);
        tokio::select! {
            biased;
            () = task.lost(), if end_at.is_none() => {
                group.terminate();
                end_at = Some(Instant::now() + END_GRACE);
            }
            () = sleep_until(deadline), if end_at.is_some() => break,
            long = &mut talking, if is_too_long.is_none() => {
                is_too_long = Some(long);
                if long {
                    break;
                }
            }
            ended = &mut ended => {
                ended?;
                break;
            }
        }
    }
    // What it has left running would work on without a lock: that is ended, too.
    let status = group.end()?;
    if is_too_long.is_none() {
        is_too_long = timeout(DRAIN, talking).await.ok();
    }
    Ok((status, is_too_long == Some(true)))
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path)
        .is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn pipes(group: &mut Group) -> io::Result<(pipe::Sender, pipe::Receiver, pipe::Receiver)> {
    let missing = || io::Error::other("a pipe to the program is missing");
    let input = group.child.stdin.take().ok_or_else(missing)?;
    let output = group.child.stdout.take().ok_or_else(missing)?;
    let stderr = group.child.stderr.take().ok_or_else(missing)?;
    Ok((
        pipe::Sender::from_owned_fd(input.into())?,
        pipe::Receiver::from_owned_fd(output.into())?,
        pipe::Receiver::from_owned_fd(stderr.into())?,
    ))
}

/// Gives it the input. A program that does not read it has closed the pipe, which is its right.
async fn give(mut to: pipe::Sender, task: &Task) {
    let _ = to.write_all(task.raw_input.get().as_bytes()).await;
}

/// Reads the output; true if it is too long.
async fn read(from: pipe::Receiver, into: &mut Vec<u8>) -> bool {
    let mut from = from.take(OUTPUT_BYTES_MAX as u64 + 1);
    let _ = from.read_to_end(into).await;
    into.len() > OUTPUT_BYTES_MAX
}

/// Shows what it says on its standard error, and keeps the end of it.
async fn echo(from: pipe::Receiver, task: &Task, into: &mut Vec<u8>) {
    let mut from = BufReader::new(from);
    let mut text = Vec::new();
    while let Ok(1..) = (&mut from)
        .take(LINE_BYTES_MAX)
        .read_until(b'\n', &mut text)
        .await
    {
        let shown = String::from_utf8_lossy(&text);
        line(&format!("{} | {}", task.id, clean(shown.trim_end())));
        into.extend_from_slice(&text);
        if into.len() > STDERR_BYTES_MAX {
            into.drain(..into.len() - STDERR_BYTES_MAX);
        }
        text.clear();
    }
}

/// Passes its progress on.
async fn follow(from: pipe::Receiver, task: &Task) {
    let mut from = BufReader::new(from);
    let mut text = Vec::new();
    while let Ok(1..) = (&mut from)
        .take(LINE_BYTES_MAX)
        .read_until(b'\n', &mut text)
        .await
    {
        let said = String::from_utf8_lossy(&text);
        match answer::progress(&said) {
            Some((percent, words)) => task.progress(percent, words),
            None => {
                let said = clean(said.trim_end()).into_owned();
                line(&format!(
                    "{}: not progress, such as `50 half done`: {said}",
                    task.id
                ));
            }
        }
        text.clear();
    }
}
