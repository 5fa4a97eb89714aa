//! `refire demo`: a throw-away server with something to look at, so that retries and dead letters
//! are seen at once. It uses nothing but what every user has: the server, the API, definitions.

mod story;
mod target;

use std::net::SocketAddr;

use anyhow::Context;
use clap::Args;
use refire_client::Client;
use refire_engine::target::Allow;

use crate::config::{DATABASE, Database, ServeArgs, refuse_exposure};

/// Options of `refire demo`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DemoArgs {
    /// Where the demo's server listens
    #[arg(long, default_value = "127.0.0.1:7373", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// How many rounds of executions to start, one every three seconds
    #[arg(long, default_value_t = 10, value_name = "N")]
    rounds: u32,
}

/// Runs until it is stopped; the data directory goes with it.
pub(crate) async fn run(args: DemoArgs) -> anyhow::Result<()> {
    refuse_exposure(args.listen, false)?;
    // It goes when it is dropped. Nobody can know its name before, and nobody else can enter it: the
    // temporary directory belongs to everybody on the machine.
    let throwaway = tempfile::Builder::new()
        .prefix("refire-demo-")
        .rand_bytes(16)
        .tempdir()
        .context("no temporary directory can be created")?;
    let directory = throwaway.path();
    let target = target::start()
        .await
        .context("the demo's target cannot listen")?;
    let mut config = ServeArgs::default().resolve()?;
    config.listen = args.listen;
    directory.clone_into(&mut config.data_dir);
    config.backup_dir = directory.join("backups");
    config.database = Database::Sqlite(directory.join(DATABASE));
    config.allow = Allow::All;
    config.admin_key = None;
    config.greet = false;
    "warn".clone_into(&mut config.log_level);
    let key = config.data_dir.join("admin.key");
    let url = format!("http://{}", args.listen);
    let telling = tokio::spawn(async move {
        if let Err(error) = story::tell(&url, &key, target, args.rounds).await {
            eprintln!("demo: {error:#}");
        }
    });
    let served = crate::serve::run(config).await;
    telling.abort();
    served
}

/// A client of the demo's server, once it answers.
async fn client(url: &str, key: &std::path::Path) -> anyhow::Result<Client> {
    const TRIES: u32 = 200;
    const BETWEEN: std::time::Duration = std::time::Duration::from_millis(50);
    for _ in 0..TRIES {
        if let Ok(key) = std::fs::read_to_string(key) {
            let client = Client::builder(url).key(key.trim()).build()?;
            if client.version().await.is_ok() {
                return Ok(client);
            }
        }
        tokio::time::sleep(BETWEEN).await;
    }
    anyhow::bail!("the server did not start in time")
}
