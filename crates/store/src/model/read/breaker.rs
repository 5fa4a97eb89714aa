//! Circuit breakers of targets.

use std::ops::Bound;

use async_trait::async_trait;
use refire_core::breaker::Breaker;

use super::page;
use crate::model::Model;
use crate::{Breakers, ReadError};

#[async_trait]
impl Breakers for Model {
    async fn breaker(&self, host: &str) -> Result<Option<Breaker>, ReadError> {
        self.read("breaker", |image| {
            Ok(image.breakers.get(host).map(|row| (**row).clone()))
        })
        .await
    }

    async fn breakers(&self, after: Option<&str>, limit: u32) -> Result<Vec<Breaker>, ReadError> {
        self.read("breakers", |image| {
            let start = after.map_or(Bound::Unbounded, Bound::Excluded);
            let rows = image.breakers.range::<str, _>((start, Bound::Unbounded));
            let rows = rows.map(|(_, row)| (**row).clone());
            Ok(rows.take(page(limit)).collect())
        })
        .await
    }

    async fn standing_breakers(&self) -> Result<Vec<Breaker>, ReadError> {
        self.read("standing_breakers", |image| {
            let rows = image.breakers.values().filter(|row| !row.is_plain());
            Ok(rows.map(|row| (**row).clone()).collect())
        })
        .await
    }
}
