//! `http` steps: a call of an HTTP service.

use std::time::Duration;

use super::super::fields::Fields;
use super::super::header;
use super::super::keys::Known;
use super::super::parse::{template, tree};
use super::super::problem::Problems;
use super::super::retry::read_statuses;
use super::super::source::Content;
use super::super::status::StatusRange;
use super::super::url;
use super::{Config, Settings, StepKind, StepType, TIMEOUT_MIN};
use crate::template::{Reference, Template, Tree};

/// How long an attempt may take when nothing is written.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(30);
const TIMEOUT_MAX: Duration = Duration::from_secs(60 * 60);

const RESPONSE_BYTES_DEFAULT: u64 = 1024 * 1024;
/// An answer becomes part of the execution's history, which is bounded by 10 MiB.
const RESPONSE_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// The most redirects that one attempt may follow; browsers stop at twenty, and few need two.
const FOLLOW_REDIRECTS_MAX: u64 = 5;

/// An HTTP call.
#[derive(Debug, Clone, PartialEq)]
pub struct Http {
    /// The method in capitals.
    pub method: String,
    /// Where to.
    pub url: Template,
    /// Headers in the order written.
    pub headers: Vec<(String, Template)>,
    /// What is added to the URL's query, in the order written; a list repeats the name.
    pub query: Vec<(String, Tree)>,
    /// The body, sent as JSON, or as it is when it renders to a string.
    pub body: Option<Tree>,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// The statuses that count as success.
    pub expected: Vec<StatusRange>,
    /// The largest answer that is read.
    pub max_response_bytes: u64,
    /// How many redirects one attempt follows.
    pub follow_redirects: u8,
    /// The host, in lower case and with its port unless that is the scheme's own, when it does not
    /// depend on a template.
    pub static_host: Option<String>,
}

impl Http {
    pub(super) const TYPE: StepType = StepType {
        name: "http",
        does: "calls a service",
        keys: &[
            Known::new("method"),
            Known::new("url"),
            Known::new("headers"),
            Known::new("query"),
            Known::new("body"),
            Known::new("timeout"),
            Known::new("expectedStatuses"),
            Known::new("maxResponseBytes"),
            Known::new("followRedirects"),
            Known::new("outputMapping"),
        ],
        schema: SCHEMA,
        read: |config| read(config).map(StepKind::Http),
    };
}

impl Settings for Http {
    fn required(&self) -> Vec<&Reference> {
        let headers = self.headers.iter().flat_map(|(_, value)| value.required());
        let query = self.query.iter().flat_map(|(_, value)| value.required());
        let body = self.body.iter().flat_map(Tree::required);
        let url = self.url.required();
        url.chain(headers).chain(query).chain(body).collect()
    }

    fn note(&self) -> Option<String> {
        let is_odd = self.body.is_some() && matches!(self.method.as_str(), "GET" | "HEAD");
        is_odd.then(|| format!("{} with a body; many servers ignore it", self.method))
    }
}

fn read(mut config: Config<'_, '_>) -> Option<Http> {
    for name in ["url", "headers", "query", "body"] {
        config.with_templates(name);
    }
    let Config {
        fields: config,
        options,
        problems,
        ..
    } = config;
    let method = method(config, problems);
    let url = config.required("url", problems).and_then(|field| {
        let url = template(&field, problems)?;
        let host = field.keep(url::check(&url), problems)?;
        Some((url, host))
    });
    let headers = config
        .get("headers")
        .map(|field| header::read(&field, options, problems));
    let mut query = Vec::new();
    if let Some(field) = config.get("query") {
        for (name, item) in field.members(problems) {
            if matches!(item.node.content, Content::Mapping(_)) {
                problems.push(item.problem("a query value is a text, a number or a list of them"));
            }
            query.extend(tree(&item, problems).map(|tree| (name.to_owned(), tree)));
        }
    }
    let body = config.any("body").and_then(|field| tree(&field, problems));
    let timeout = config
        .get("timeout")
        .and_then(|field| field.duration(TIMEOUT_MIN..=TIMEOUT_MAX, problems));
    let expected = config.get("expectedStatuses").map(|field| {
        let ranges = read_statuses(&field, problems);
        if ranges.is_empty() && field.items().is_empty() {
            problems.push(field.problem("at least one status must be expected"));
        }
        ranges
    });
    let max_response_bytes = config
        .get("maxResponseBytes")
        .and_then(|field| field.whole(1..=RESPONSE_BYTES_MAX, problems));
    let follow_redirects = config
        .get("followRedirects")
        .and_then(|field| field.whole(0..=FOLLOW_REDIRECTS_MAX, problems));
    let (url, static_host) = url?;
    Some(Http {
        method: method?,
        url,
        headers: headers.unwrap_or_default(),
        query,
        body,
        timeout: timeout.unwrap_or(TIMEOUT_DEFAULT),
        expected: expected.unwrap_or_else(|| vec![StatusRange::SUCCESS]),
        max_response_bytes: max_response_bytes.unwrap_or(RESPONSE_BYTES_DEFAULT),
        follow_redirects: follow_redirects
            .and_then(|count| u8::try_from(count).ok())
            .unwrap_or_default(),
        static_host,
    })
}

fn method(config: &Fields<'_>, problems: &mut Problems) -> Option<String> {
    let Some(field) = config.get("method") else {
        return Some("GET".to_owned());
    };
    let method = field.text(problems)?.to_ascii_uppercase();
    if method == "CONNECT" || !header::is_token(&method) || method.len() > 32 {
        problems.push(field.problem(format!("`{method}` is not a method that can be used")));
        return None;
    }
    Some(method)
}

const SCHEMA: &str = r##"{
      "type": "object",
      "required": ["url"],
      "properties": {
        "method": { "type": "string", "default": "GET", "examples": ["GET", "POST", "PUT", "PATCH", "DELETE"] },
        "url": {
          "type": "string",
          "description": "Where to, http or https, with `${…}` in it.",
          "examples": ["https://crm.example.com/tickets/${input.ticket_id}"]
        },
        "headers": {
          "type": "object",
          "description": "Headers, with `${…}` in their values. Not those that the connection sets: Host, Content-Length, Transfer-Encoding, Connection, Keep-Alive, Upgrade, TE, Trailer, Proxy-…",
          "additionalProperties": { "$ref": "#/$defs/template" }
        },
        "query": {
          "type": "object",
          "description": "Added to the URL's query; a list repeats the name.",
          "additionalProperties": { "type": ["string", "number", "boolean", "null", "array"] }
        },
        "body": { "description": "Any value, sent as JSON, with `${…}` in its strings." },
        "timeout": { "$ref": "#/$defs/duration", "default": "30s", "description": "How long one attempt may take, 100ms to 1h." },
        "expectedStatuses": { "$ref": "#/$defs/statuses", "default": ["2xx"], "description": "The statuses that count as success." },
        "maxResponseBytes": {
          "type": "integer",
          "minimum": 1,
          "maximum": 8388608,
          "default": 1048576,
          "description": "The largest answer that is read; a larger one fails the step."
        },
        "followRedirects": {
          "type": "integer",
          "minimum": 0,
          "maximum": 5,
          "default": 0,
          "description": "How many redirects one attempt follows. Credentials and secrets do not go to another host."
        },
        "outputMapping": { "$ref": "#/$defs/outputMapping" },
        "expected_statuses": { "$ref": "#/$defs/http/properties/expectedStatuses" },
        "max_response_bytes": { "$ref": "#/$defs/http/properties/maxResponseBytes" },
        "follow_redirects": { "$ref": "#/$defs/http/properties/followRedirects" },
        "output_mapping": { "$ref": "#/$defs/http/properties/outputMapping" }
      },
      "additionalProperties": false
    }"##;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_the_bounds_of_the_reader() {
        let schema: serde_json::Value = serde_json::from_str(SCHEMA).unwrap();
        let properties = &schema["properties"];
        assert_eq!(
            properties["followRedirects"]["maximum"],
            FOLLOW_REDIRECTS_MAX
        );
        assert_eq!(
            properties["maxResponseBytes"]["maximum"],
            RESPONSE_BYTES_MAX
        );
    }
}
