//! B5, the raw limits: what the disk and SQLite can do at most, without any product.

use std::io::Write;
use std::path::Path;

use crate::prelude::*;

const REPEATS: usize = 3;
/// How long each measurement goes on.
const FOR: Duration = Duration::from_secs(1);
/// One append: about what one small commit writes.
const APPEND_BYTES: usize = 4_096;
/// Rows of one transaction in the second SQLite line.
const ROWS_TOGETHER: usize = 256;

/// Prints `B5 fdatasync` and `B5 sqlite`.
pub(crate) fn report() -> anyhow::Result<()> {
    let dir = place::fresh()?;
    let mut syncs = Repeats::default();
    let mut latency = Latency::default();
    let mut one = Repeats::default();
    let mut together = Repeats::default();
    for _ in 0..REPEATS {
        let waits = syncs_in(dir.path(), FOR)?;
        syncs.add(waits.len() as f64 / FOR.as_secs_f64());
        latency.add(&waits);
        one.add(transactions(dir.path(), 1)?);
        together.add(transactions(dir.path(), ROWS_TOGETHER)? * ROWS_TOGETHER as f64);
    }
    Line::new("B5", "fdatasync")
        .figure("sync_s", &syncs)
        .latency(&latency)
        .print();
    Line::new("B5", "sqlite")
        .word("rows_per_transaction", 1)
        .figure("row_s", &one)
        .print();
    Line::new("B5", "sqlite")
        .word("rows_per_transaction", ROWS_TOGETHER)
        .figure("row_s", &together)
        .print();
    Ok(())
}

/// Appends made durable one by one, on the disk that is measured.
pub(crate) fn syncs(wanted: Duration) -> anyhow::Result<Waits> {
    syncs_in(place::fresh()?.path(), wanted)
}

fn syncs_in(dir: &Path, wanted: Duration) -> anyhow::Result<Waits> {
    let mut file = tempfile::tempfile_in(dir)?;
    let page = [0x5a; APPEND_BYTES];
    let mut waits = Waits::default();
    let began = Instant::now();
    while began.elapsed() < wanted {
        let one = Instant::now();
        file.write_all(&page)?;
        file.sync_data()?;
        waits.add(one.elapsed());
    }
    Ok(waits)
}

/// Durable transactions per second of one thread, with so many rows in each.
fn transactions(dir: &Path, count: usize) -> anyhow::Result<f64> {
    let body = rows::body();
    rows::transactions_s(dir, FOR, |scribe| {
        (0..count).try_for_each(|_| scribe.insert(&body))
    })
}
