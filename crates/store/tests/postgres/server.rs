//! The server of the tests, with the store and without.

use std::error::Error;
use std::fmt::Write as _;

use refire_store::postgres::{Options, Postgres, Scratch};
use tokio_postgres::{Client, NoTls};

pub(crate) fn options(scratch: &Scratch) -> Options {
    Options::new(&scratch.url()).unwrap()
}

pub(crate) async fn open(scratch: &Scratch) -> Postgres {
    Postgres::open(&options(scratch)).await.unwrap()
}

/// A session of our own beside those of the store.
pub(crate) async fn session(scratch: &Scratch) -> Client {
    let (client, connection) = tokio_postgres::connect(&scratch.url(), NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    client
}

/// Everything that an error says, to whoever asks.
pub(crate) fn all_words(error: &dyn Error) -> String {
    let mut words = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(error) = source {
        write!(words, ": {error}").unwrap();
        source = error.source();
    }
    words
}
