//! What a webhook's settings make of a sample: every filter with what it found, and the name of the request.
//! Who sent it is not asked: whoever writes settings has no signature yet.

use super::body::{self, BodyError};
use super::filter::Verdict;
use super::key::{self, Key};
use super::request::Headers;
use super::settings::Settings;
use crate::json::Json;
use crate::jsonpath::Search;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// What each filter says, in their order. None of them is asked of a body that cannot be read.
    pub verdicts: Vec<Verdict>,
    /// By what name the request would be known.
    pub key: Option<Key>,
    /// Why it would be refused, whatever the filters say.
    pub refused: Option<String>,
}

impl Preview {
    /// Whether the request passes all filters.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.refused.is_none() && self.verdicts.iter().all(|verdict| verdict.outcome.is_ok())
    }
}

/// Judges a sample. All filters are asked, also behind one that is not fulfilled; they share one bound for
/// their cost, as they do when a request comes.
#[must_use]
pub fn preview(settings: &Settings, headers: Headers<'_>, sample: &[u8]) -> Preview {
    let input = match body::read(headers, sample) {
        Ok(input) => input,
        Err(BodyError::Unsupported(reason) | BodyError::Invalid(reason)) => {
            return Preview {
                verdicts: Vec::new(),
                key: None,
                refused: Some(reason),
            };
        }
    };
    judged(settings, headers, sample, &input)
}

fn judged(settings: &Settings, headers: Headers<'_>, sample: &[u8], input: &Json) -> Preview {
    let mut search = Search::new(input);
    let judge = |search: &mut Search<'_>| {
        let filters = settings.filters.iter();
        filters.map(|filter| filter.judge(input, search)).collect()
    };
    let verdicts = judge(&mut search);
    let hash = key::body_hash(sample);
    let found = key::find(settings, headers, input, &hash, &mut search);
    let (key, refused) = match found {
        Ok(key) => (key, None),
        Err(reason) => (None, Some(reason)),
    };
    Preview {
        verdicts,
        key,
        refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(settings: &str, headers: &[(&str, &str)], body: &str) -> Preview {
        let settings = Settings::parse(settings).unwrap();
        let headers: Vec<(&str, &[u8])> = headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()))
            .collect();
        preview(&settings, Headers(&headers), body.as_bytes())
    }

    const JSON: (&str, &str) = ("content-type", "application/json");

    #[test]
    fn every_filter_is_asked_and_says_what_it_found() {
        let settings = r#"{"authentication":"hmac","filters":[
            {"json_path":"$.type","operator":"equals","value":"created"},
            {"json_path":"$.gone","operator":"exists"},
            {"json_path":"$.n","operator":"gt","value":3},
            {"json_path":"$.none","operator":"not_exists"}]}"#;
        let body = r#"{"type":"closed","n": 4.0,"incident_id":"INC1"}"#;
        let found = ask(settings, &[JSON], body);
        let said: Vec<(Option<&str>, Option<&str>)> = found
            .verdicts
            .iter()
            .map(|verdict| {
                let why = verdict.outcome.as_ref().err();
                let value = verdict.found.as_ref().map(Json::as_str);
                (value, why.map(|unfulfilled| unfulfilled.why.as_str()))
            })
            .collect();
        assert_eq!(
            said,
            [
                (Some("\"closed\""), Some("the value is \"closed\"")),
                (None, Some("there is no such value")),
                (Some("4.0"), None),
                (None, None),
            ]
        );
        assert!(!found.passed() && found.refused.is_none());
        assert_eq!(found.key.unwrap().from, "$.incident_id");
    }

    #[test]
    fn a_name_says_where_it_comes_from() {
        let id = ("Idempotency-Key", "k1");
        for (settings, headers, body, expected) in [
            (
                "none",
                &[JSON, id][..],
                "{}",
                Some(("k1", "Idempotency-Key")),
            ),
            (
                "none",
                &[JSON],
                r#"{"idempotency_key":7}"#,
                Some(("7", "$.idempotency_key")),
            ),
            (
                "stripe",
                &[JSON, id],
                r#"{"id":"evt_1"}"#,
                Some(("evt_1", "$.id")),
            ),
            (
                "github",
                &[JSON, ("x-github-delivery", "d")],
                "{}",
                Some(("d", "X-GitHub-Delivery")),
            ),
            ("none", &[JSON], "{}", None),
        ] {
            let settings = format!(r#"{{"authentication":"{settings}"}}"#);
            let found = ask(&settings, headers, body);
            let key = found.key.as_ref().map(|key| (key.text.as_str(), key.from));
            assert_eq!(key, expected, "{settings}");
            assert!(found.passed(), "{settings}");
        }
        let paths = r#"{"authentication":"none","idempotency_paths":["$.a"]}"#;
        let found = ask(paths, &[JSON], r#"{"a":"x"}"#);
        assert_eq!(found.key.unwrap().from, "idempotency_paths");
    }

    #[test]
    fn what_would_be_refused_is_told() {
        let none = r#"{"authentication":"none"}"#;
        for (headers, body, expected) in [
            (&[("content-type", "text/html")][..], "<p>", "text/html"),
            (&[JSON], "{", "the body is not JSON"),
            (&[JSON, ("Idempotency-Key", "")], "{}", "is empty"),
        ] {
            let found = ask(none, headers, body);
            assert!(
                found.refused.as_ref().unwrap().contains(expected),
                "{found:?}"
            );
            assert!(!found.passed());
        }
    }
}
