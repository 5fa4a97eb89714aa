//! Measures Refire beside the raw limits of the machine, one line per result.
//!
//! The disk's own limit is measured in the same run, before and after: figures of one run may be
//! compared with each other, figures of different runs only by their ratios.

mod disk;
mod executions;
mod policy;

fn main() -> anyhow::Result<()> {
    let runtime = tokio::runtime::Runtime::new()?;
    disk::report("before")?;
    for callers in [1, 16, 64] {
        runtime.block_on(executions::report(callers))?;
    }
    policy::report();
    disk::report("after")?;
    Ok(())
}
