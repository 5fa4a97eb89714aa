//! Where this server is for whoever asks: what addresses in answers begin with.

use axum::extract::FromRequestParts;
use http::header::HOST;
use http::request::Parts;

use super::{App, Problem};

/// `http://host:port`, without a slash at its end.
pub(crate) struct Origin(String);

impl Origin {
    /// A path of this server as a whole address.
    pub(crate) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.0)
    }
}

impl FromRequestParts<App> for Origin {
    type Rejection = Problem;

    /// What the settings say, else the host that the request names. One that cannot be a host would
    /// not lead anywhere.
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        if let Some(public) = &app.outside.public_url {
            return Ok(Self(public.clone()));
        }
        let named = || parts.headers.get(HOST)?.to_str().ok();
        let authority = parts.uri.authority().map(|authority| authority.as_str());
        let host = authority.or_else(named).filter(|host| is_host(host));
        let host = host.map(|host| format!("http://{host}"));
        Ok(Self(host.unwrap_or_default()))
    }
}

fn is_host(text: &str) -> bool {
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    !text.is_empty() && text.bytes().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_only_a_host() {
        for good in ["127.0.0.1:7373", "refire.example.com", "[::1]:80"] {
            assert!(is_host(good), "{good}");
        }
        for bad in ["", "a@b", "a/b", "a b", "a?b"] {
            assert!(!is_host(bad), "{bad}");
        }
    }
}
