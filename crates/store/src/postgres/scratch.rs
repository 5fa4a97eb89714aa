//! Databases for tests: each test has one of its own, which goes when the test is over.
//!
//! Making the tables takes longer than most tests. So they are made once for each server and each set of
//! migrations, in a database that the others are copied from.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, NoTls};

use super::migrate;

/// Names the server of the tests, as a URL.
const VARIABLE: &str = "REFIRE_TEST_POSTGRES";
/// Held by the process that makes the tables which the others copy: "scratch" in ASCII.
const LOCK: i64 = 0x0073_6372_6174_6368;
/// How often a database that was just left is asked for, and how long it is left alone in between.
const RENAMES_MAX: u32 = 100;
const RENAME_PAUSE: Duration = Duration::from_millis(20);

/// A database that nobody else uses.
#[derive(Debug)]
pub struct Scratch {
    server: String,
    name: String,
}

impl Scratch {
    /// Makes a database with all tables.
    ///
    /// # Panics
    /// When there is no server for tests.
    #[must_use]
    pub fn new() -> Self {
        Self::made(None)
    }

    /// Makes an empty database.
    ///
    /// # Panics
    /// When there is no server for tests.
    #[must_use]
    pub fn empty() -> Self {
        Self::with("ENCODING 'UTF8' TEMPLATE template0")
    }

    /// Makes an empty database in a certain way.
    ///
    /// # Panics
    /// When there is no server for tests.
    #[must_use]
    pub fn with(how: &str) -> Self {
        Self::made(Some(how))
    }

    fn made(how: Option<&str>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let Ok(server) = std::env::var(VARIABLE) else {
            panic!(
                "{VARIABLE} is not set: run the tests with `make test-code`, or \
                 scripts/with-postgres <command>"
            );
        };
        let name = format!(
            "refire_test_{}_{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let scratch = Self { server, name };
        run(&scratch.name, scratch.create(how));
        scratch
    }

    async fn create(&self, how: Option<&str>) -> Result<(), Error> {
        let name = &self.name;
        let client = session(&self.server).await?;
        // What a process with the same id left behind when it was killed.
        let drop = format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)");
        client.batch_execute(&drop).await?;
        if let Some(how) = how {
            let create = format!("CREATE DATABASE {name} {how}");
            return client.batch_execute(&create).await;
        }
        let template = format!("refire_template_{}", migrate::fingerprint());
        let copy = format!("CREATE DATABASE {name} TEMPLATE {template}");
        match client.batch_execute(&copy).await {
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_DATABASE) => {
                self.make_template(&client, &template).await?;
                client.batch_execute(&copy).await
            }
            copied => copied,
        }
    }

    /// Makes the database that others are copied from, unless somebody else has meanwhile. It gets its
    /// name when it is whole.
    async fn make_template(&self, client: &Client, template: &str) -> Result<(), Error> {
        client
            .execute("SELECT pg_advisory_lock($1)", &[&LOCK])
            .await?;
        let there = "SELECT FROM pg_database WHERE datname = $1";
        if client.query_opt(there, &[&template]).await?.is_some() {
            return Ok(());
        }
        let raw = format!("{template}_raw");
        for statement in [
            format!("DROP DATABASE IF EXISTS {raw} WITH (FORCE)"),
            format!("CREATE DATABASE {raw} ENCODING 'UTF8' TEMPLATE template0"),
        ] {
            client.batch_execute(&statement).await?;
        }
        let mut inside = session(&self.url_of(&raw)).await?;
        migrate::migrate(&mut inside).await.expect("the migrations");
        drop(inside);
        let rename = format!("ALTER DATABASE {raw} RENAME TO {template}");
        for _ in 0..RENAMES_MAX {
            match client.batch_execute(&rename).await {
                // The server has not seen yet that the connection is closed.
                Err(error) if error.code() == Some(&SqlState::OBJECT_IN_USE) => {
                    tokio::time::sleep(RENAME_PAUSE).await;
                }
                renamed => return renamed,
            }
        }
        client.batch_execute(&rename).await
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of(&self.name)
    }

    fn url_of(&self, name: &str) -> String {
        let (base, query) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let base = match base.rsplit_once('/') {
            Some((server, _)) if !server.ends_with('/') => server,
            _ => base,
        };
        format!("{base}/{name}?{query}")
    }
}

impl Default for Scratch {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name);
        run(&self.name, async {
            session(&self.server).await?.batch_execute(&drop).await
        });
    }
}

async fn session(url: &str) -> Result<Client, Error> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Runs something on the server, from inside a runtime or outside.
fn run(database: &str, running: impl Future<Output = Result<(), Error>> + Send) {
    std::thread::scope(|scope| {
        let ran = scope
            .spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .expect("a runtime");
                runtime.block_on(running)
            })
            .join();
        match ran {
            Ok(Ok(())) => {}
            Ok(Err(error)) if std::thread::panicking() => eprintln!("{database}: {error:?}"),
            Ok(Err(error)) => panic!("{database}: {error:?}"),
            Err(_) => eprintln!("{database} could not be made or removed"),
        }
    });
}
