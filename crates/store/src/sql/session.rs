//! Sessions of the console.

use async_trait::async_trait;

use super::{Database, Query};
use crate::column::Named;
use crate::{ReadError, SecretHash, SessionRow, Sessions};

#[async_trait]
impl<D: Database> Sessions for D {
    async fn session(&self, id: &SecretHash) -> Result<Option<SessionRow>, ReadError> {
        let columns = SessionRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM sessions WHERE true"));
        self.row(query.with("AND id = ?", id.to_vec())).await
    }
}
