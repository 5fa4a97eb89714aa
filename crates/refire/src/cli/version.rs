//! `refire version`: what this program is, and the server it talks to if one answers.

use std::time::Duration;

use super::outcome::Outcome;
use super::output::{print, print_json, say};
use super::session::Session;

/// This program's version.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A version is not worth a longer wait.
const PATIENCE: Duration = Duration::from_secs(2);

/// Says both versions.
pub(crate) async fn run(session: &Session) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    let server = match tokio::time::timeout(PATIENCE, client.version()).await {
        Ok(Ok(server)) => Some(server),
        _ => None,
    };
    if session.is_json() {
        print_json(&serde_json::json!({ "version": VERSION, "server": server }))?;
        return Ok(Outcome::Done);
    }
    print(&format!("refire {VERSION}"))?;
    match server {
        Some(server) => print(&format!(
            "server {} at {} ({}, {})",
            server.version,
            client.url(),
            server.store,
            server.node_id
        ))?,
        None => say(&format!("no server answers at {}", client.url())),
    }
    Ok(Outcome::Done)
}
