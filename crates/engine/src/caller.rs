//! The door to targets: the real HTTP client, or a simulated world in its place.

use async_trait::async_trait;
use refire_core::failure::Failure;

use crate::target::{HttpAnswer, HttpRequest, HttpTarget};

/// Sends one request once.
#[async_trait]
pub trait Caller: Send + Sync + 'static {
    /// The answer, or why there is none.
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure>;
}

#[async_trait]
impl Caller for HttpTarget {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        Self::call(self, request).await
    }
}
