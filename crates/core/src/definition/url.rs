//! A look at URLs in definitions: what is certainly wrong is said when the definition is applied.
//!
//! The real parsing happens at the call, when templates are filled in; this never resolves a name
//! and never judges whether an address may be called.

use std::borrow::Cow;

use crate::template::Template;

/// Checks what is literal in a URL. Gives the host (lower case, with its port unless that is the
/// scheme's own) if no template can change it.
pub(super) fn check(url: &Template) -> Result<Option<String>, String> {
    let prefix = url.literal_prefix();
    if url.is_literal() && prefix.is_empty() {
        return Err("the URL is empty".to_owned());
    }
    check_defaults(url)?;
    if let Some(bad) = prefix.chars().find(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!("a URL cannot contain {bad:?}"));
    }
    let Some((scheme, rest)) = split_scheme(url)? else {
        return Ok(None);
    };
    let end = rest.find(['/', '?', '#', '\\']);
    if end.is_none() && !url.is_literal() {
        // What follows the literal part may still belong to the host.
        return Ok(None);
    }
    let authority = &rest[..end.unwrap_or(rest.len())];
    host(authority, scheme).map(Some)
}

/// Values are percent-encoded at the call, except those that make up the address; defaults are
/// put in as they are. So a default may only hold what needs no encoding, and one that makes up
/// the address must be the only reference.
fn check_defaults(url: &Template) -> Result<(), String> {
    let has_literal_address = url
        .literal_prefix()
        .split_once("://")
        .is_some_and(|(_, rest)| rest.contains(['/', '?', '#']));
    for (at, default) in url.defaults().enumerate() {
        let Some(default) = default else { continue };
        if at == 0 && !has_literal_address {
            if url.references().count() > 1 {
                return Err(
                    "the address itself can have a default only if no other `${…}` is in the URL"
                        .to_owned(),
                );
            }
            continue;
        }
        let text = default.as_text().unwrap_or(Cow::Borrowed(default.as_str()));
        if !text.chars().all(is_unreserved) {
            return Err(format!(
                "in a URL a default has only letters, digits and `-._~`, not {}; \
                 write it under `query`",
                default.as_str()
            ));
        }
    }
    Ok(())
}

fn is_unreserved(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '~')
}

/// The scheme and what follows `://`; `None` when a template comes before that.
fn split_scheme(url: &Template) -> Result<Option<(&'static str, &str)>, String> {
    let prefix = url.literal_prefix();
    for scheme in ["http", "https"] {
        let whole = format!("{scheme}://");
        if prefix
            .get(..whole.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(&whole))
        {
            return Ok(Some((scheme, &prefix[whole.len()..])));
        }
        if !url.is_literal() && whole.starts_with(&prefix.to_ascii_lowercase()) {
            return Ok(None);
        }
    }
    match prefix.split_once("://") {
        Some((scheme, _)) => Err(format!(
            "the scheme `{scheme}` is not supported; use http:// or https://"
        )),
        None => Err(format!(
            "`{prefix}` does not begin with http:// or https://"
        )),
    }
}

/// The host of an authority, with its port where that is not the usual one.
pub(crate) fn host(authority: &str, scheme: &str) -> Result<String, String> {
    if authority.contains('@') {
        return Err("the URL has a user name in it; use a header with `${secret.…}`".to_owned());
    }
    let (name, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let (address, after) = rest
                .split_once(']')
                .ok_or("the IPv6 address is never closed with `]`")?;
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return Err(format!("`{address}` is not an IPv6 address"));
            }
            let port = match after {
                "" => None,
                // Anything but a colon makes a port that is none.
                _ => Some(after.strip_prefix(':').unwrap_or(after)),
            };
            (format!("[{address}]"), port)
        }
        None => match authority.split_once(':') {
            Some((name, port)) => (name.to_owned(), Some(port)),
            None => (authority.to_owned(), None),
        },
    };
    if name.is_empty() {
        return Err("the URL has no host".to_owned());
    }
    let allowed = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']' | ':');
    if let Some(bad) = name.chars().find(|c| !allowed(*c)) {
        return Err(format!("the host `{name}` cannot contain {bad:?}"));
    }
    let name = name.to_lowercase();
    match port {
        None | Some("") => Ok(name),
        Some(port) => match port.parse::<u16>() {
            Ok(number) if number > 0 && port.bytes().all(|b| b.is_ascii_digit()) => {
                let usual = if scheme == "https" { 443 } else { 80 };
                Ok(if number == usual {
                    name
                } else {
                    format!("{name}:{number}")
                })
            }
            _ => Err(format!("`{port}` is not a port (1 to 65535)")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(url: &str) -> Result<Option<String>, String> {
        check(&Template::parse(url).unwrap())
    }

    #[test]
    fn the_host_is_known_when_no_template_can_change_it() {
        let table = [
            ("https://crm.example.com/tickets", Some("crm.example.com")),
            ("HTTPS://CRM.Example.com", Some("crm.example.com")),
            ("http://localhost:8080?x=1", Some("localhost:8080")),
            ("https://a.example:443/", Some("a.example")),
            ("http://a.example:443/", Some("a.example:443")),
            ("http://[::1]:9000/x", Some("[::1]:9000")),
            ("https://a.example/${input.x}", Some("a.example")),
            ("https://a.example${input.x}", None),
            ("https://${input.host}/x", None),
            ("${input.url}", None),
            ("http${input.rest}", None),
            ("https://a.example:${input.port}/", None),
            (
                "https://a.example/${input.x ?? \"all\"}?n=${input.n ?? 1.5}",
                Some("a.example"),
            ),
            ("${input.url ?? \"https://a.example/x y\"}", None),
        ];
        for (url, host) in table {
            assert_eq!(checked(url), Ok(host.map(str::to_owned)), "{url}");
        }
    }

    #[test]
    fn what_is_certainly_wrong_is_said() {
        let table = [
            ("", "empty"),
            ("ftp://a.example/", "scheme `ftp`"),
            ("a.example/x", "does not begin with http"),
            ("file:/etc/passwd", "does not begin"),
            ("ftp://${input.x}/", "scheme `ftp`"),
            ("https://", "no host"),
            ("https:///x", "no host"),
            ("https://:80/x", "no host"),
            ("https://a b.example/", "cannot contain ' '"),
            ("https://a.example/\n", "cannot contain '\\n'"),
            ("https://user:pw@a.example/", "user name"),
            ("https://a.example:99999/", "not a port"),
            ("https://a.example:x/", "not a port"),
            ("https://[::1/", "never closed"),
            ("https://[zz]/", "not an IPv6"),
            ("https://[::1]x/", "`x` is not a port"),
            ("https://a%41.example/", "cannot contain '%'"),
            (
                "https://a.example/${input.x ?? \"a/b\"}",
                "only letters, digits",
            ),
            (
                "${input.base ?? \"https://a.example\"}/${input.x}",
                "the address itself",
            ),
        ];
        for (url, expected) in table {
            let said = checked(url).expect_err(url);
            assert!(said.contains(expected), "{url}: {said}");
        }
    }
}
