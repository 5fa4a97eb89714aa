//! `refire serve`: everything put together, from the data directory to the last answer.

mod banner;
pub(crate) mod data;
mod files;
pub(crate) mod key;
mod log;
mod master;
pub(crate) mod moved;
mod stop;
mod store;
#[cfg(debug_assertions)]
mod weaken;

use std::io::IsTerminal;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use anyhow::Context;
use refire_engine::Engine;
use refire_engine::secret::EnvironmentSecrets;
use tokio_util::sync::CancellationToken;

use self::banner::{Console, Greeting};
use self::stop::Signals;
use crate::api::{self, Api, App, Lock};
use crate::config::{LogFormat, ServeConfig};

/// In place of a greeting. Programs read this log and keep it: the key itself is only in the file.
fn log_new_key(key: &key::Obtained) {
    if let Some((_, file)) = &key.new {
        tracing::info!(file = %file.display(), "the admin key was created and saved");
    }
}

/// Where targets find this server when they call back.
fn own_address(config: &ServeConfig, listening: SocketAddr) -> String {
    let public = config.outside.public_url.clone();
    public.unwrap_or_else(|| {
        // Who listens everywhere is found on this machine at least.
        let ip = match listening.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        format!("http://{}", SocketAddr::new(ip, listening.port()))
    })
}

/// Serves until told to stop.
pub(crate) async fn run(config: ServeConfig) -> anyhow::Result<()> {
    log::start(config.log_format, &config.log_level)?;
    config.time_zones.choose()?;
    let mut signals = Signals::new()?;
    // First, so that a second server on the same address changes nothing on disk.
    let listener = api::listen::bind(config.listen)?;
    let address = listener
        .local_addr()
        .context("the listener has no address")?;
    data::prepare(&config)?;
    warn_of_short_secrets();
    let store = tokio::select! {
        opened = store::open(&config) => opened?,
        name = signals.next() => {
            tracing::info!(signal = name, "stopped before the database was available");
            return Ok(());
        }
    };
    key::refuse_unusable(&config)?;
    // Before the admin key: a node that is refused here must not choose one for the others.
    let vault = master::settle(&config, &store)
        .await
        .context("the master key")?;
    let change = master::Change::of(vault.as_ref(), &store);
    let mut builder = Engine::builder(store.shared());
    if let Some(vault) = vault {
        builder = builder.vault(vault);
    }
    let engine = builder
        .allow_private_targets(config.allow.clone())
        .limits(config.limits.clone())
        .retention(config.retention)
        .alerts_every(config.alerts_every)
        .node(config.node.at(address))
        .address(own_address(&config, address))
        .start()
        .await
        .context("the engine did not start")?;
    let key = match key::obtain(&config, &store).await {
        Ok(key) => key,
        Err(error) => {
            engine.stop().await;
            return Err(error);
        }
    };
    if let Some(change) = change {
        // Nobody waits for it: until it is done, both keys open what they sealed.
        tokio::spawn(change.carry_out(Arc::clone(&engine)));
    }
    let app = App::new(
        Arc::clone(&engine),
        Lock::new(key.hash.clone(), key::look(&config, &store, key.origin)),
        config.body_bytes_max,
        config.outside.clone(),
        config.backup_dir.clone(),
        config.dev,
    );
    tokio::spawn(Arc::clone(&app.lock).watch());
    let api = Api::new(&app)?;
    let connections_max = files::connections_max(config.connections_max, config.limits.attempts);
    let closed = CancellationToken::new();
    let serving = tokio::spawn(api::listen::serve(
        listener,
        api,
        connections_max,
        closed.clone(),
    ));
    greet(&config, address, &key, &engine).await;
    let node = engine.node();
    tracing::info!(
        %address, data = %config.data_dir.display(), name = config.node.name, %node, "serving"
    );
    stop::wait_and_stop(signals, &engine, &app.gate, closed, serving).await
}

/// Says where it is, to whoever started it.
async fn greet(config: &ServeConfig, address: SocketAddr, key: &key::Obtained, engine: &Engine) {
    if config.log_format == LogFormat::Json {
        log_new_key(key);
    } else if config.greet {
        let nodes = engine.nodes().await.unwrap_or_default();
        let workflows = engine.store().workflows(None, 1).await.unwrap_or_default();
        let console = Console {
            address: own_address(config, address),
            link: login_link(key, engine).await,
        };
        let has_workflows = !workflows.is_empty();
        let nodes = (nodes.as_slice(), engine.node());
        Greeting::new(config, address, key, nodes, has_workflows, console).print();
    }
}

/// A link that logs in to the console, for the person in front of the terminal. It goes into no file that
/// the output is written to.
async fn login_link(key: &key::Obtained, engine: &Engine) -> Option<String> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    api::login_path(engine, &key.hash).await
}

fn warn_of_short_secrets() {
    for name in EnvironmentSecrets::too_short() {
        tracing::warn!(
            name,
            "this secret is too short to be cut out of what is recorded; steps that use it fail"
        );
    }
}
