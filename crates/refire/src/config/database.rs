//! Which database: a file of SQLite, or a PostgreSQL that several nodes share.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::{Context, bail};
use refire_store::postgres;

/// A database's URL as it was given. It may hold a password, so it is never shown.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct DatabaseUrl(String);

impl FromStr for DatabaseUrl {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self(text.trim().to_owned()))
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DatabaseUrl")
    }
}

/// The database of a server.
#[derive(Debug, Clone)]
pub(crate) enum Database {
    /// A file, for one server.
    Sqlite(PathBuf),
    /// A server, for many.
    Postgres(Box<postgres::Options>),
}

impl DatabaseUrl {
    /// Whether it says nothing: a variable that is set to nothing counts as not set.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it is the path of a file instead.
    pub(crate) fn names_a_file(&self) -> bool {
        self.as_path().is_file()
    }

    /// As a path.
    pub(crate) fn as_path(&self) -> PathBuf {
        PathBuf::from(&self.0)
    }

    /// The database it names. Errors never show more of it than its scheme.
    pub(crate) fn read(&self) -> anyhow::Result<Database> {
        let url = self.0.as_str();
        let file = url
            .strip_prefix("sqlite://")
            .or_else(|| url.strip_prefix("sqlite:"));
        match file {
            Some("") => bail!("--database: `{url}` names no file; write sqlite:<file>"),
            Some(path) => return Ok(Database::Sqlite(path.into())),
            None => {}
        }
        if url.starts_with("postgres") {
            let options = postgres::Options::new(url).context("--database")?;
            return Ok(Database::Postgres(Box::new(options)));
        }
        let known = "write sqlite:<file> or postgres://<user>:<password>@<host>/<database>";
        match scheme(url) {
            Some(scheme) => bail!("--database: `{scheme}:` is not supported; {known}"),
            None => bail!("--database: the URL has no scheme; {known}"),
        }
    }
}

/// What stands before the first colon, if that can be a scheme: anything else may be a secret.
fn scheme(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once(':')?;
    let is_plain = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    // `user:password@host` begins like a scheme too.
    (is_plain && (rest.starts_with("//") || !rest.contains('@'))).then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str) -> anyhow::Result<Database> {
        url.parse::<DatabaseUrl>()?.read()
    }

    #[test]
    fn both_kinds_of_database_are_read() {
        for url in ["sqlite:a/b.db", "sqlite://a/b.db", " sqlite:a/b.db "] {
            assert!(
                matches!(read(url).unwrap(), Database::Sqlite(path) if path.ends_with("a/b.db")),
                "{url}"
            );
        }
        for url in [
            "postgres://u:secret@db.example:6432/refire?sslmode=disable",
            "postgresql://u:secret@db.example:6432/refire",
        ] {
            let Database::Postgres(options) = read(url).unwrap() else {
                panic!("{url}");
            };
            assert_eq!(options.place(), "db.example:6432/refire");
        }
    }

    #[test]
    fn what_is_wrong_is_told_without_the_password() {
        for (url, expected) in [
            ("sqlite:", "names no file"),
            ("mysql://u:secret@h/d", "`mysql:` is not supported"),
            ("postgres:u:secret@h/d", "begins with postgres://"),
            ("u:secret@h/d", "has no scheme"),
            ("secret", "has no scheme"),
            ("postgres://u:secret@h/d?sslmode=perhaps", "sslmode must be"),
            ("postgres://u:se@cret@h/d", "percent-encoded"),
            ("postgres://u:secret@h:port/d", "a port must be a number"),
        ] {
            let error = format!("{:#}", read(url).expect_err(url));
            assert!(error.contains("--database"), "{error}");
            assert!(error.contains(expected), "{url}: {error}");
            assert!(!error.contains("cret"), "{url}: {error}");
        }
        let url: DatabaseUrl = "postgres://u:secret@h/d".parse().unwrap();
        assert!(!format!("{url:?} {:?}", url.read().unwrap()).contains("secret"));
    }
}
