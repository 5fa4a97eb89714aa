//! `refire version`: what this program is, and the server it talks to if one answers.

use std::time::Duration;

use refire_client::model::Version;
use refire_schedule::built_in_zone_data_version;

use crate::cli::prelude::*;

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
        let time_zones = built_in_zone_data_version();
        print_json(
            &serde_json::json!({ "version": VERSION, "time_zones": time_zones, "server": server }),
        )?;
        return Ok(Outcome::Done);
    }
    print(&format!("refire {VERSION}"))?;
    print(&format!(
        "time zones {} built in",
        built_in_zone_data_version()
    ))?;
    match server {
        Some(server) => print(&format!(
            "server {} at {} ({}, {}{})",
            server.version,
            client.url(),
            server.store,
            server.node_id,
            time_zones(&server)
        ))?,
        None => say!("no server answers at {}", client.url()),
    }
    Ok(Outcome::Done)
}

/// Which time zones the server uses, if it says so.
fn time_zones(server: &Version) -> String {
    match server.time_zones.as_str() {
        "" => String::new(),
        version => format!(
            ", time zones {} {}",
            clean(version),
            clean(&server.time_zone_source)
        ),
    }
}
