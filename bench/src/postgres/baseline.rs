//! What the same cluster does by its own measure: pgbench's simple update.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;

/// Rows of pgbench's tables, in hundreds of thousands.
const SCALE: &str = "10";

/// pgbench on a database of its own.
pub(super) struct Baseline {
    program: PathBuf,
    url: String,
}

impl Baseline {
    /// Fills its tables.
    pub(super) fn prepare(url: &str) -> anyhow::Result<Self> {
        let program = find()?;
        let url = url.to_owned();
        let baseline = Self { program, url };
        baseline.run(&["--initialize", "--quiet", "--scale", SCALE])?;
        Ok(baseline)
    }

    /// Transactions per second of so many clients.
    pub(super) fn tps(&self, clients: usize, wanted: Duration) -> anyhow::Result<f64> {
        let (clients, seconds) = (clients.to_string(), wanted.as_secs().max(1).to_string());
        let said = self.run(&[
            "--skip-some-updates",
            "--no-vacuum",
            "--client",
            &clients,
            "--jobs",
            "2",
            "--time",
            &seconds,
        ])?;
        let tps = said.lines().find_map(|line| line.strip_prefix("tps = "));
        let tps = tps.and_then(|rest| rest.split(' ').next());
        tps.context("pgbench names no tps")?
            .parse()
            .context("pgbench names an odd tps")
    }

    fn run(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = Command::new(&self.program)
            .args(arguments)
            .arg(&self.url)
            .output()
            .context("pgbench did not start")?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "pgbench failed: {complaint}");
        Ok(said)
    }
}

/// Beside the newest server that is installed, or on the path.
fn find() -> anyhow::Result<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin/pgbench")))
        .filter(|path| path.exists())
        .collect();
    found.sort();
    Ok(found.pop().unwrap_or_else(|| PathBuf::from("pgbench")))
}
