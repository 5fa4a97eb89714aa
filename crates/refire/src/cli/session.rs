//! What a command works with: the options, a client, the time.
//!
//! The admin key that a server leaves in its data directory is used by itself, but never sent to
//! another machine: whoever names a foreign server gives its key too.

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use http::Uri;
use refire_client::Client;
use refire_client::model::Page;
use refire_core::time::Timestamp;
use refire_engine::clock::{Clock, SystemClock};
use serde::Serialize;

use super::globals::{Format, Globals};
use super::outcome::{Outcome, Usage};
use super::output::{print, print_json, say};
use super::table::{Column, table};
use crate::config::{self, DATABASE, Database, DatabaseUrl};

/// The file in the data directory that holds the admin key.
const KEY_FILE: &str = "admin.key";

/// One run of the command line.
#[derive(Debug)]
pub(crate) struct Session {
    globals: Globals,
    database: Option<DatabaseUrl>,
    clock: SystemClock,
}

impl Session {
    /// A session with these options.
    pub(crate) fn new(mut globals: Globals) -> Self {
        let here = config::here();
        globals.fill_from(&here);
        Self {
            globals,
            database: here.database,
            clock: SystemClock::new(),
        }
    }

    /// The options.
    pub(crate) fn globals(&self) -> &Globals {
        &self.globals
    }

    /// The database that was given, else the one of the settings file in this directory, else the one
    /// in the data directory.
    pub(crate) fn database(&self, given: Option<&DatabaseUrl>) -> anyhow::Result<Database> {
        match self.database_url(given) {
            Some(url) => url.read(),
            None => Ok(Database::Sqlite(self.globals.data_dir().join(DATABASE))),
        }
    }

    /// The same for a command line that cannot be carried out with another one.
    pub(crate) fn needed_database(&self, given: Option<&DatabaseUrl>) -> Result<Database, Usage> {
        self.database(given)
            .map_err(|error| Usage(format!("{error:#}")))
    }

    /// Its address, unless it is the one in the data directory.
    pub(crate) fn database_url<'a>(
        &'a self,
        given: Option<&'a DatabaseUrl>,
    ) -> Option<&'a DatabaseUrl> {
        let given = given.filter(|url| !url.is_empty());
        given.or(self.database.as_ref())
    }

    /// Whether the answer is read by a program.
    pub(crate) fn is_json(&self) -> bool {
        self.globals.format == Format::Json
    }

    /// Answers with the API's document, or with what people read of it.
    pub(crate) fn answer(
        &self,
        document: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<Outcome> {
        if self.is_json() {
            return print_json(document);
        }
        print(&text())?;
        Ok(Outcome::Done)
    }

    /// Answers with a list; `nothing` says what an empty one means, and may ask for that.
    pub(crate) async fn list<T: Serialize>(
        &self,
        page: &Page<T>,
        columns: &[Column<T>],
        nothing: impl AsyncFnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<Outcome> {
        self.part("more exist: use --limit", page, columns, nothing)
            .await
    }

    /// The same where the API's document is another one than the page.
    pub(crate) async fn list_of<T: Serialize>(
        &self,
        document: &impl Serialize,
        page: &Page<T>,
        columns: &[Column<T>],
        nothing: impl AsyncFnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<Outcome> {
        match self.is_json() {
            true => print_json(document),
            false => self.list(page, columns, nothing).await,
        }
    }

    /// The same; `more` is said where there is more of it.
    pub(crate) async fn part<T: Serialize>(
        &self,
        more: &str,
        page: &Page<T>,
        columns: &[Column<T>],
        nothing: impl AsyncFnOnce() -> anyhow::Result<String>,
    ) -> anyhow::Result<Outcome> {
        if page.items.is_empty() && !self.is_json() {
            say(&nothing().await?);
            return Ok(Outcome::Done);
        }
        self.answer(page, || table(columns, &page.items, self.now()).lines(0))?;
        if page.next_cursor.is_some() && !self.is_json() {
            say(more);
        }
        Ok(Outcome::Done)
    }

    /// Answers that something is deleted, and what is left of it.
    pub(crate) fn deleted(&self, id: &str, left: &str) -> anyhow::Result<Outcome> {
        if self.is_json() {
            return print_json(&serde_json::json!({ "id": id, "deleted": true }));
        }
        say!("{id} is deleted; {left}");
        Ok(Outcome::Done)
    }

    /// Now.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Whether the server is on this machine.
    pub(crate) fn is_local(&self) -> bool {
        is_loopback(self.globals.url())
    }

    /// Whether a key was given for this run.
    pub(crate) fn has_own_key(&self) -> bool {
        self.globals.own_key().is_some()
    }

    /// Where the admin key of a server on this machine is looked for.
    pub(crate) fn key_path(&self) -> PathBuf {
        self.globals.data_dir().join(KEY_FILE)
    }

    /// A client of the server.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        let mut builder = Client::builder(self.globals.url());
        if let Some(key) = self.key()? {
            builder = builder.key(key);
        }
        Ok(builder.build()?)
    }

    /// The key that is sent to the server, if there is one.
    pub(crate) fn key(&self) -> anyhow::Result<Option<String>> {
        if let Some(key) = self.globals.own_key() {
            return Ok(Some(key.to_owned()));
        }
        if !self.is_local() {
            return Ok(None);
        }
        let path = self.key_path();
        match std::fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text.trim().to_owned()).filter(|key| !key.is_empty())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| {
                format!(
                    "the API key in {} cannot be read; use --api-key",
                    path.display()
                )
            }),
        }
    }
}

/// Whether an address can only be this machine.
pub(crate) fn is_loopback(url: &str) -> bool {
    let Ok(uri) = url.trim().parse::<Uri>() else {
        return false;
    };
    let Some(host) = uri.host() else {
        return false;
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || bare
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_gets_the_key_by_itself() {
        let local = [
            "http://127.0.0.1:7373",
            "http://localhost",
            "https://LOCALHOST:1/",
            "http://[::1]:80",
        ];
        for url in local {
            assert!(is_loopback(url), "{url}");
        }
        let foreign = [
            "http://10.0.0.1:7373",
            "https://refire.example.com",
            "http://localhost.example.com",
            "http://127.0.0.1@evil.example.com/",
            "",
            "nonsense",
        ];
        for url in foreign {
            assert!(!is_loopback(url), "{url}");
        }
    }
}
