//! `refire serve`: everything put together, from the data directory to the last answer.

mod banner;
mod data;
mod files;
mod key;
mod log;
mod stop;
#[cfg(debug_assertions)]
mod weaken;

use std::sync::Arc;

use anyhow::Context;
use refire_engine::Engine;
use refire_engine::clock::{Clock, SystemClock};
use refire_store::Store;
use refire_store::sqlite::{Options, Sqlite};
use tokio_util::sync::CancellationToken;

use self::stop::Signals;
use crate::api::{self, AdminKey, App};
use crate::config::ServeConfig;

/// Serves until told to stop.
pub(crate) async fn run(config: ServeConfig) -> anyhow::Result<()> {
    log::start(config.log_format, &config.log_level)?;
    let signals = Signals::new()?;
    // First, so that a second server on the same address changes nothing on disk.
    let listener = api::listen::bind(config.listen)?;
    let address = listener
        .local_addr()
        .context("the listener has no address")?;
    data::prepare(&config)?;
    let store = open(&config)?;
    let key = key::obtain(&config)?;
    let engine = Engine::builder(store)
        .allow_private_targets(config.allow.clone())
        .limits(config.limits.clone())
        .retention(config.retention)
        .start()
        .context("the engine did not start")?;
    let app = App::new(
        Arc::clone(&engine),
        AdminKey::new(&key.text),
        config.body_bytes_max,
    );
    let router = api::router(&app)?;
    let connections_max = files::connections_max(config.connections_max, config.limits.attempts);
    let closed = CancellationToken::new();
    let serving = tokio::spawn(api::listen::serve(
        listener,
        router,
        connections_max,
        closed.clone(),
    ));
    if config.greet {
        banner::print(&config, address, &key);
    }
    tracing::info!(%address, data = %config.data_dir.display(), node = %engine.node(), "serving");
    stop::wait_and_stop(signals, &engine, &app.gate, closed, serving).await
}

fn open(config: &ServeConfig) -> anyhow::Result<Arc<dyn Store>> {
    let options = Options::new(SystemClock::new().now());
    #[cfg(debug_assertions)]
    let options = weaken::weaken(options);
    let store = Sqlite::open(&config.database, &options).with_context(|| {
        format!(
            "the database {} cannot be opened",
            config.database.display()
        )
    })?;
    Ok(Arc::new(store))
}
