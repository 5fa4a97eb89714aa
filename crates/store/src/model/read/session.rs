//! Sessions of the console.

use async_trait::async_trait;

use crate::model::Model;
use crate::{ReadError, SecretHash, SessionRow, Sessions};

#[async_trait]
impl Sessions for Model {
    async fn session(&self, id: &SecretHash) -> Result<Option<SessionRow>, ReadError> {
        self.read("session", |image| {
            Ok(image.sessions.get(id).map(|row| (**row).clone()))
        })
        .await
    }
}
