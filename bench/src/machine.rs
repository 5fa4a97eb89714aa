//! What the system says about this machine and its processes.

use std::path::Path;
use std::time::Duration;

use anyhow::Context;

/// Ticks in which the kernel counts processor time, per second; the same on every Linux.
const TICKS_PER_SECOND: u64 = 100;

/// Processes that ran or wanted to, on average over the last minute.
pub(crate) fn load1() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split(' ').next().unwrap_or_default();
    first.parse().unwrap_or(f64::NAN)
}

/// The most memory that a process has held, in megabytes.
pub(crate) fn rss_mb(process: u32) -> anyhow::Result<f64> {
    memory_mb(process, "VmHWM:")
}

/// The memory that a process holds now, in megabytes.
pub(crate) fn rss_now_mb(process: u32) -> anyhow::Result<f64> {
    memory_mb(process, "VmRSS:")
}

fn memory_mb(process: u32, which: &str) -> anyhow::Result<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(which));
    let kib: f64 = line
        .and_then(|line| line.trim().strip_suffix(" kB"))
        .context("the process does not say how much memory it holds")?
        .parse()?;
    Ok(kib / 1_024.0)
}

/// Processor time that a process has used, in the kernel and outside.
pub(crate) fn cpu_time(process: u32) -> anyhow::Result<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The name may hold spaces; what comes after it is counted from its closing bracket.
    let (_, fields) = stat.rsplit_once(") ").context("an unknown form of stat")?;
    let mut fields = fields.split(' ').skip(11);
    let mut next = || -> anyhow::Result<u64> { Ok(fields.next().context("stat ends")?.parse()?) };
    let ticks = next()? + next()?;
    Ok(Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND))
}

/// The file system that a path is on, as `/proc/mounts` calls it.
pub(crate) fn file_system(path: &Path) -> String {
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    let mut best = (0, "unknown");
    for line in mounts.lines() {
        let mut words = line.split(' ').skip(1);
        if let (Some(at), Some(kind)) = (words.next(), words.next())
            && path.starts_with(at)
            && at.len() >= best.0
        {
            best = (at.len(), kind);
        }
    }
    best.1.to_owned()
}

/// The processor's name, with `_` for spaces.
pub(crate) fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then_some(value.trim())
    });
    name.unwrap_or("unknown").replace(' ', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_memory_and_time() {
        let own = std::process::id();
        assert!(rss_mb(own).unwrap() > 0.1);
        let before = cpu_time(own).unwrap();
        let until = std::time::Instant::now() + Duration::from_secs(30);
        // Busy until the kernel has noticed.
        while cpu_time(own).unwrap() == before {
            assert!(std::time::Instant::now() < until, "no time was counted");
        }
    }

    #[test]
    fn proc_is_its_own_file_system() {
        assert_eq!(file_system(Path::new("/proc/self/stat")), "proc");
        assert!(load1() >= 0.0);
    }
}
