//! How a command ended, as an exit code that scripts can rely on.

use std::process::ExitCode;

use refire_client::model::ExecutionStatus;

/// The exit codes, as shown at the end of `refire --help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  success; with --wait, the execution completed
  1  an error, explained on standard error
  2  the command line is wrong
  3  the execution failed or became a dead letter; a replay differs; a load test had errors;
     a webhook test was refused; migrations are pending; a bulk job did not do everything
  4  the execution did not end within --wait; it is still running
  5  a webhook test was filtered: it was accepted, but nothing was started";

/// A command line that cannot be carried out, found out after the arguments were read.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// As asked.
    Done,
    /// Not as asked; the reason has been said already.
    Refused,
    /// The command line is wrong; what is wrong has been said already.
    Misused,
    /// The execution that was waited for failed, or what was checked is not as it should be.
    Failed,
    /// The execution that was waited for goes on.
    NotInTime,
    /// What was tried is as it should be, and nothing came of it.
    Filtered,
}

impl Outcome {
    /// What an execution's last status means to who waited for it.
    pub(crate) fn of_status(status: ExecutionStatus) -> Self {
        Self::Failed.unless(status == ExecutionStatus::Completed)
    }

    /// This, unless all is as it should be.
    pub(crate) fn unless(self, is_done: bool) -> Self {
        if is_done { Self::Done } else { self }
    }

    /// The exit code.
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Refused => 1,
            Self::Misused => 2,
            Self::Failed => 3,
            Self::NotInTime => 4,
            Self::Filtered => 5,
        })
    }
}
