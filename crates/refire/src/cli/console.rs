//! `refire console`: a link that logs in to the web console, so that nobody copies a key into a browser.

use std::process::{Command, Stdio};

use anyhow::Context as _;

use crate::cli::prelude::*;

/// What opens an address in the browser of the person in front of this machine.
const OPENER: &str = if cfg!(target_os = "macos") {
    "open"
} else {
    "xdg-open"
};

/// Options of `refire console`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire console
  refire console --open
  refire console --url https://refire.example.com

The link works once, for 15 minutes. It begins a session, which ends when you log out, after 12 hours without
use, after 7 days, and when the key is changed.")]
pub(crate) struct ConsoleArgs {
    /// Open it in the browser of this machine
    #[arg(long)]
    open: bool,
}

/// Makes a link, and opens it if that is wanted.
pub(crate) async fn run(session: &Session, args: &ConsoleArgs) -> anyhow::Result<Outcome> {
    let link = session.client()?.create_session_link().await?;
    if args.open {
        open(&link.url).with_context(|| {
            format!(
                "no browser was opened ({OPENER}); open this yourself: {}",
                link.url
            )
        })?;
    }
    if !session.is_json() {
        let until = relative(&link.expires_at, session.now());
        say!("The link logs you in once, and ends {until}.");
    }
    session.answer(&link, || format!("{}\n", link.url))
}

/// The opener leaves by itself, and what it says is for nobody.
fn open(url: &str) -> anyhow::Result<()> {
    let status = Command::new(OPENER)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    anyhow::ensure!(status.success(), "it ended with {status}");
    Ok(())
}
