//! How the server is seen from outside: the address in links, and the proxies in front of it.

use anyhow::{Context, anyhow, bail};
use clap::Args;
use refire_core::webhook::source::{Proxies, network};
use url::Url;

/// Options about the way in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct OutsideArgs {
    /// The public address of the server, used in webhook addresses, such as
    /// https://refire.example.com
    #[arg(long, env = "REFIRE_PUBLIC_URL", value_name = "URL")]
    pub(super) public_url: Option<String>,
    /// Proxies whose X-Forwarded-For header is trusted, such as 10.0.0.0/8,192.168.1.5
    #[arg(long, env = "REFIRE_TRUSTED_PROXIES", value_name = "LIST")]
    pub(super) trusted_proxies: Option<String>,
}

/// What they come to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outside {
    /// Without a slash at its end.
    pub(crate) public_url: Option<String>,
    /// Who may say where a request comes from.
    pub(crate) proxies: Proxies,
}

impl Outside {
    /// The path that the server lies below, as a proxy has put it there: `/refire`, or nothing.
    pub(crate) fn sub_path(&self) -> &str {
        let public = self.public_url.as_deref().unwrap_or_default();
        let (_, rest) = public.split_once("://").unwrap_or_default();
        rest.find('/').map_or("", |slash| &rest[slash..])
    }
}

pub(super) fn settings(said: &OutsideArgs) -> anyhow::Result<Outside> {
    let is_set = |text: &&str| !text.trim().is_empty();
    let public_url = said.public_url.as_deref().filter(is_set);
    let proxies = said.trusted_proxies.as_deref().filter(is_set);
    let networks = proxies.map(networks).transpose()?;
    Ok(Outside {
        public_url: public_url.map(address).transpose()?,
        proxies: Proxies {
            networks: networks.unwrap_or_default(),
        },
    })
}

fn address(text: &str) -> anyhow::Result<String> {
    let url: Url = text
        .trim()
        .parse()
        .with_context(|| format!("--public-url: `{text}` is not an address"))?;
    let is_plain = url.query().is_none() && url.fragment().is_none();
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() || !is_plain {
        bail!("--public-url: `{text}` is not an address such as https://refire.example.com");
    }
    Ok(url.as_str().trim_end_matches('/').to_owned())
}

fn networks(text: &str) -> anyhow::Result<Vec<ipnet::IpNet>> {
    let words = text
        .split(',')
        .map(str::trim)
        .filter(|word| !word.is_empty());
    words
        .map(|word| {
            network(word).map_err(|problem| {
                let reason = problem.message;
                anyhow!("--trusted-proxies: `{word}` {reason}; write a network such as 10.0.0.0/8")
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(public_url: &str, trusted_proxies: &str) -> anyhow::Result<Outside> {
        let args = OutsideArgs {
            public_url: Some(public_url.to_owned()),
            trusted_proxies: Some(trusted_proxies.to_owned()),
        };
        settings(&args)
    }

    #[test]
    fn addresses_and_networks_are_read() {
        let outside = said("https://refire.example.com/", "10.0.0.0/8, ::1").unwrap();
        assert_eq!(
            outside.public_url.as_deref(),
            Some("https://refire.example.com")
        );
        assert_eq!(outside.proxies.networks.len(), 2);
        assert!(said("", "").unwrap().public_url.is_none());
    }

    #[test]
    fn a_server_may_lie_below_a_path() {
        for (url, path) in [
            ("", ""),
            ("https://refire.example.com", ""),
            ("https://refire.example.com/", ""),
            ("https://example.com/refire/", "/refire"),
            ("http://[::1]:7373/a/b", "/a/b"),
        ] {
            assert_eq!(said(url, "").unwrap().sub_path(), path, "{url}");
        }
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (url, proxies, word) in [
            ("refire.example.com", "", "--public-url"),
            ("ftp://refire.example.com", "", "--public-url"),
            ("https://refire.example.com?a=b", "", "--public-url"),
            ("", "10.0.0.0/40", "10.0.0.0/40"),
            ("", "proxy", "--trusted-proxies"),
        ] {
            let error = said(url, proxies).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }
}
