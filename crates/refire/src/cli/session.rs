//! What a command works with: the options, a client, the time.
//!
//! The admin key that a server leaves in its data directory is used by itself, but never sent to
//! another machine: whoever names a foreign server gives its key too.

use std::net::IpAddr;
use std::path::PathBuf;

use anyhow::Context as _;
use http::Uri;
use refire_client::Client;
use refire_core::time::Timestamp;
use refire_engine::clock::{Clock, SystemClock};

use super::globals::{Format, Globals};
use crate::config::{self, DatabaseUrl};

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

    /// The database that was given, else the one of the settings file in this directory.
    pub(crate) fn database<'a>(
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
