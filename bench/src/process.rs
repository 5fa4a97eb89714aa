//! Processes under test: the product's server and the limits, each on a directory of its own.
//! What is started here is ended here.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context;
use tempfile::TempDir;

use crate::limit::Work;
use crate::{machine, place};

/// What both say when they can be called.
const READY: &str = "is ready at http://";

/// A process that serves HTTP.
pub(crate) struct Process {
    child: Child,
    pub(crate) address: SocketAddr,
}

impl Process {
    fn start(mut command: Command, log: &Path) -> anyhow::Result<Self> {
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(File::create(log)?)
            .spawn()
            .context("a process under test did not start")?;
        let out = child.stdout.take().context("it has no output")?;
        let mut lines = BufReader::new(out).lines();
        let address = lines.by_ref().find_map(|line| {
            let line = line.ok()?;
            line.split_once(READY)
                .map(|(_, address)| address.trim().to_owned())
        });
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            let said = std::fs::read_to_string(log).unwrap_or_default();
            anyhow::bail!("a process under test ended at once: {said}");
        };
        // Somebody must read the rest, or it would find its output gone.
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Self {
            child,
            address: address.parse()?,
        })
    }

    /// The most memory it has held, in megabytes.
    pub(crate) fn rss_mb(&self) -> anyhow::Result<f64> {
        machine::rss_mb(self.child.id())
    }

    /// The memory it holds now, in megabytes.
    pub(crate) fn rss_now_mb(&self) -> anyhow::Result<f64> {
        machine::rss_now_mb(self.child.id())
    }

    /// Processor time it has used.
    pub(crate) fn cpu_time(&self) -> anyhow::Result<Duration> {
        machine::cpu_time(self.child.id())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts a limit on an empty directory.
pub(crate) fn limit(work: Work) -> anyhow::Result<(Process, TempDir)> {
    let dir = place::fresh()?;
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("inner:limit").arg(work.name()).arg(dir.path());
    let process = Process::start(command, &dir.path().join("limit.log"))?;
    Ok((process, dir))
}

/// The product's server, with the key that opens it.
pub(crate) struct Server {
    pub(crate) process: Process,
    pub(crate) key: String,
}

impl Server {
    /// Starts it on a data directory, or on a database: then only its keys are in the directory.
    pub(crate) fn start(data: &Path, database: Option<&str>) -> anyhow::Result<Self> {
        let process = Self::launch(data, database)?;
        let key = std::fs::read_to_string(data.join("admin.key")).context("no key was made")?;
        Ok(Self {
            process,
            key: key.trim().to_owned(),
        })
    }

    /// Another node on the same database: the keys are those of the first.
    pub(crate) fn beside(&self, data: &Path, database: Option<&str>) -> anyhow::Result<Self> {
        let process = Self::launch(data, database)?;
        let key = self.key.clone();
        Ok(Self { process, key })
    }

    fn launch(data: &Path, database: Option<&str>) -> anyhow::Result<Process> {
        let mut command = Command::new(place::program("refire")?);
        command.env_clear().current_dir(data).args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--dev",
            "--data-dir",
            ".",
            // Ten thousand polls that wait leave room for others.
            "--max-connections",
            "12000",
        ]);
        command.args(database.iter().flat_map(|url| ["--database", url]));
        Process::start(command, &data.join("server.log"))
    }

    /// A client for what is not measured.
    pub(crate) fn client(&self) -> anyhow::Result<refire_client::Client> {
        let url = format!("http://{}", self.process.address);
        Ok(refire_client::Client::builder(url).key(&self.key).build()?)
    }

    /// What every request of a load carries.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        vec![
            ("authorization".to_owned(), format!("Bearer {}", self.key)),
            ("content-type".to_owned(), "application/json".to_owned()),
        ]
    }
}
