//! What the disk can do at most: one small append and one fdatasync at a time.

use std::io::Write;
use std::time::{Duration, Instant};

/// How long to measure.
const FOR: Duration = Duration::from_secs(2);
/// One append: about what one small commit writes.
const APPEND_BYTES: usize = 4096;

/// Prints `disk` with appends made durable one by one.
pub(crate) fn report(when: &str) -> anyhow::Result<()> {
    let mut file = tempfile::tempfile_in(".")?;
    let page = [0x5a; APPEND_BYTES];
    let mut waits = Vec::new();
    let began = Instant::now();
    while began.elapsed() < FOR {
        let one = Instant::now();
        file.write_all(&page)?;
        file.sync_data()?;
        waits.push(one.elapsed());
    }
    let took = began.elapsed();
    println!(
        "disk when={when} fdatasync_s={:.0} {}",
        waits.len() as f64 / took.as_secs_f64(),
        percentiles(&mut waits)
    );
    Ok(())
}

/// `p50_ms=… p99_ms=…` of some durations.
pub(crate) fn percentiles(waits: &mut [Duration]) -> String {
    waits.sort_unstable();
    let at = |share: f64| {
        let index = ((waits.len() as f64 * share) as usize).min(waits.len().saturating_sub(1));
        waits
            .get(index)
            .map_or(0.0, |wait| wait.as_secs_f64() * 1_000.0)
    };
    format!("p50_ms={:.2} p99_ms={:.2}", at(0.5), at(0.99))
}
