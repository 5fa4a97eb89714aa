//! Circuit breakers of targets.

use async_trait::async_trait;
use refire_core::breaker::{Breaker, Phase};

use super::{Database, Query};
use crate::column::Named;
use crate::{Breakers, ReadError};

fn select() -> Query {
    let columns = Breaker::COLUMNS;
    Query::new(format!("SELECT {columns} FROM breakers WHERE true"))
}

#[async_trait]
impl<D: Database> Breakers for D {
    async fn breaker(&self, host: &str) -> Result<Option<Breaker>, ReadError> {
        self.row(select().with("AND host = ?", host)).await
    }

    async fn breakers(&self, after: Option<&str>, limit: u32) -> Result<Vec<Breaker>, ReadError> {
        let query = select().and("host > ?", after);
        self.rows(query.page("host", limit)).await
    }

    async fn standing_breakers(&self) -> Result<Vec<Breaker>, ReadError> {
        let closed = Phase::Closed as u32;
        let query = select().with("AND (state <> ? OR forced IS NOT NULL)", closed);
        self.rows(query.end("ORDER BY host")).await
    }
}
