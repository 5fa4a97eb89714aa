//! The store of the settings, opened.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, anyhow};
use refire_engine::clock::{Clock, SystemClock};
use refire_store::postgres::Postgres;
use refire_store::sqlite::{Options, Sqlite};
use refire_store::{ReadError, Store};

use super::moved;
#[cfg(debug_assertions)]
use super::weaken;
use crate::config::{Database, ServeConfig};

/// How long a database may take to be there: it is often started together with its nodes.
const DATABASE_WITHIN: Duration = Duration::from_secs(30);

/// A store, and what only its kind can do.
pub(super) enum Opened {
    /// In a file, for this server alone.
    Sqlite(Arc<Sqlite>),
    /// Shared with other nodes.
    Postgres(Arc<Postgres>),
}

impl Opened {
    /// What the engine uses.
    pub(super) fn shared(&self) -> Arc<dyn Store> {
        match self {
            Self::Sqlite(store) => Arc::<Sqlite>::clone(store),
            Self::Postgres(store) => Arc::<Postgres>::clone(store),
        }
    }
}

/// Opens it, with its tables up to date.
pub(super) async fn open(config: &ServeConfig) -> anyhow::Result<Opened> {
    match &config.database {
        Database::Sqlite(file) => {
            moved::refuse(file)?;
            let options = Options::new(SystemClock::new().now());
            #[cfg(debug_assertions)]
            let options = weaken::weaken(options);
            let store = Sqlite::open(file, &options)
                .with_context(|| format!("the database {} cannot be opened", file.display()))?;
            Ok(Opened::Sqlite(Arc::new(store)))
        }
        Database::Postgres(options) => {
            let opening = Postgres::open_within(options, DATABASE_WITHIN);
            let store = opening.await.map_err(|error| match error {
                // It says which database, and what is wrong.
                ReadError::Unavailable(source) => anyhow!(source),
                error => anyhow!(error).context(format!(
                    "the PostgreSQL database {} cannot be used",
                    options.place()
                )),
            })?;
            Ok(Opened::Postgres(Arc::new(store)))
        }
    }
}
