//! Makes connections: the name looked up, connected, TLS spoken where the URL asks for it, and all
//! of it within one limit of time.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio_rustls::TlsConnector;
use tokio_util::either::Either;
use tower::Service;

use super::phase::Connecting;
use super::resolve::GuardedResolver;
use super::tether::Tether;
use super::wire::Wire;
use crate::turns::Turns;

type BoxError = Box<dyn Error + Send + Sync>;

/// The connection did not stand in time.
#[derive(Debug, thiserror::Error)]
#[error("no connection in time")]
pub(super) struct TooSlow;

/// What the HTTP client asks for connections.
#[derive(Clone)]
pub(super) struct Connector {
    tcp: HttpConnector<GuardedResolver>,
    tls: TlsConnector,
    within: Duration,
    tether: Tether,
}

impl Connector {
    pub(super) fn new(
        resolver: GuardedResolver,
        tls: Arc<ClientConfig>,
        within: Duration,
        tether: Tether,
    ) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(resolver);
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        // Shared among the addresses of a name, so that one that is silent leaves time for others.
        tcp.set_connect_timeout(Some(within));
        Self {
            tcp,
            tls: TlsConnector::from(tls),
            within,
            tether,
        }
    }

    async fn connect(&mut self, uri: Uri) -> Result<Wire, BoxError> {
        let name = match uri.scheme() == Some(&Scheme::HTTPS) {
            true => Some(server_name(&uri)?),
            false => None,
        };
        let cord = self.tether.cord();
        let stream = cord.tie(self.tcp.call(uri).await?.into_inner());
        Ok(Turns::new(match name {
            None => Either::Left(stream),
            Some(name) => Either::Right(Box::new(self.tls.connect(name, stream).await?)),
        }))
    }
}

/// Whom the certificate must be for.
fn server_name(uri: &Uri) -> Result<ServerName<'static>, BoxError> {
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    Ok(ServerName::try_from(host.to_owned())?)
}

impl Service<Uri> for Connector {
    type Response = TokioIo<Wire>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<TokioIo<Wire>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        // It is called from the task of the call that needs the connection.
        let connecting = Connecting::of_this_call();
        connecting.set(true);
        let mut connector = self.clone();
        Box::pin(async move {
            let connected = tokio::time::timeout(connector.within, connector.connect(uri)).await;
            connecting.set(false);
            match connected {
                Ok(connected) => connected.map(TokioIo::new),
                Err(_) => Err(TooSlow.into()),
            }
        })
    }
}
