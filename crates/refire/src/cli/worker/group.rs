//! A program with everything that it starts: one process group, which ends as a whole.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, ExitStatus};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// A running group. Whatever is left of it ends with this value.
pub(super) struct Group {
    pub(super) child: Child,
    id: Pid,
    is_over: bool,
}

impl Group {
    /// Starts a program at the head of a group of its own: Ctrl-C at the terminal is for the worker alone.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        let child = command.process_group(0).spawn()?;
        let id = Pid::from_child(&child);
        Ok(Self {
            child,
            id,
            is_over: false,
        })
    }

    /// Waits for the program's end, and leaves it to be asked how it ended: until then its number, which is the
    /// group's, is not given to anybody else.
    pub(super) fn ended(&self) -> impl Future<Output = io::Result<()>> + use<> {
        let id = self.id;
        let waiting = tokio::task::spawn_blocking(move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            loop {
                match waitid(WaitId::Pid(id), options) {
                    Err(Errno::INTR) => {}
                    ended => return ended.map(drop),
                }
            }
        });
        async move { Ok(waiting.await.map_err(io::Error::other)??) }
    }

    /// Asks all of it to end.
    pub(super) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Ends all of it, and says how the program ended.
    pub(super) fn end(&mut self) -> io::Result<ExitStatus> {
        if !self.is_over {
            self.signal(Signal::KILL);
            self.is_over = true;
        }
        self.child.wait()
    }

    fn signal(&self, signal: Signal) {
        // It can only fail because nobody is left.
        let _ = kill_process_group(self.id, signal);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}
