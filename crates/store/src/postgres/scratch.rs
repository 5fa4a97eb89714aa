//! Databases for tests: each test has one of its own, which goes when the test is over.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio_postgres::NoTls;

/// Names the server of the tests, as a URL.
const VARIABLE: &str = "REFIRE_TEST_POSTGRES";

/// A database that nobody else uses.
#[derive(Debug)]
pub struct Scratch {
    server: String,
    name: String,
}

impl Scratch {
    /// Makes an empty database.
    ///
    /// # Panics
    /// When there is no server for tests.
    #[must_use]
    pub fn new() -> Self {
        Self::with("ENCODING 'UTF8' TEMPLATE template0")
    }

    /// Makes an empty database in a certain way.
    ///
    /// # Panics
    /// When there is no server for tests.
    #[must_use]
    pub fn with(how: &str) -> Self {
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
        // What a process with the same id left behind when it was killed.
        run(
            &server,
            &[
                format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"),
                format!("CREATE DATABASE {name} {how}"),
            ],
        );
        Self { server, name }
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        let (base, query) = self.server.split_once('?').unwrap_or((&self.server, ""));
        let base = match base.rsplit_once('/') {
            Some((server, _)) if !server.ends_with('/') => server,
            _ => base,
        };
        format!("{base}/{}?{query}", self.name)
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
        run(&self.server, &[drop]);
    }
}

/// Runs statements on the server, from inside a runtime or outside.
fn run(server: &str, statements: &[String]) {
    let running = async {
        let (client, connection) = tokio_postgres::connect(server, NoTls).await?;
        let driving = tokio::spawn(connection);
        for statement in statements {
            client.batch_execute(statement).await?;
        }
        drop(client);
        let _ = driving.await;
        Ok::<(), tokio_postgres::Error>(())
    };
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
            Ok(Err(error)) if std::thread::panicking() => eprintln!("{statements:?}: {error:?}"),
            Ok(Err(error)) => panic!("{statements:?}: {error:?}"),
            Err(_) => eprintln!("{statements:?} could not be run"),
        }
    });
}
