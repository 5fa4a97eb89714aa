//! The log: to stderr, for people or for programs.

use std::io::IsTerminal;

use anyhow::anyhow;
use tracing_subscriber::EnvFilter;

use crate::config::LogFormat;

/// Libraries that write a line for every certificate that is wrong and every connection that
/// misbehaves or breaks: what strangers do must not fill the log, and what a database does is told
/// by who needed it. A level that names them is taken as it is.
const SILENT: [&str; 4] = [
    "rustls_platform_verifier",
    "h2",
    "tokio_postgres",
    "deadpool",
];

/// Starts the log, and sends panics there too.
pub(super) fn start(format: LogFormat, level: &str) -> anyhow::Result<()> {
    // What the filter says of it is less, and would be said twice.
    let mut filter = EnvFilter::try_new(level).map_err(|_| {
        anyhow!("--log-level: `{level}` is not a level such as info, debug or refire=debug")
    })?;
    for library in SILENT.iter().filter(|library| !level.contains(**library)) {
        filter = filter.add_directive(format!("{library}=off").parse()?);
    }
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let started = match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    if started.is_err() {
        // Somebody (a test) has started one before; that one goes on.
        return Ok(());
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map(ToString::to_string)
            .unwrap_or_default();
        let said = panic.payload_as_str().unwrap_or("no message");
        tracing::error!(place, said, "panicked");
    }));
    Ok(())
}
