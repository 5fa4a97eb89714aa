//! What is sent: the input, its idempotency key, one execution or many in a request.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, Uri};
use http_body_util::Full;

use super::wire::Origin;
use crate::cli::prelude::*;

/// As long as the server lets anybody wait.
pub(super) const WAIT: &str = "60s";

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// An input of exactly so many bytes.
pub(super) fn input_of(bytes: usize) -> String {
    const FRAME: &str = r#"{"pad":""}"#;
    match bytes.checked_sub(FRAME.len()) {
        Some(pad) => format!(r#"{{"pad":"{}"}}"#, "x".repeat(pad)),
        // Too small for a name: JSON may have spaces anywhere.
        None => format!("{{{}}}", " ".repeat(bytes.saturating_sub(2))),
    }
}

/// What all requests of a run have in common.
pub(super) struct Shape {
    /// The input as JSON text.
    pub(super) input: String,
    /// Executions in one request, if it is a batch.
    pub(super) batch: Option<usize>,
    /// Whether every execution has its own idempotency key.
    pub(super) keys: bool,
    /// Whether the answer waits for the end.
    pub(super) wait: bool,
    /// Makes the keys of this run differ from those of every other.
    pub(super) run: String,
}

/// Makes requests.
pub(super) struct Payload {
    uri: Uri,
    body: Bytes,
    shape: Shape,
    number: AtomicU64,
}

impl Payload {
    /// Requests for this workflow.
    pub(super) fn new(origin: &Origin, workflow: &str, shape: Shape) -> anyhow::Result<Self> {
        let call = match (shape.batch, shape.wait) {
            (Some(_), _) => "execute-batch".to_owned(),
            (None, true) => format!("execute?wait={WAIT}"),
            (None, false) => "execute".to_owned(),
        };
        let body = match shape.batch {
            Some(items) => batch(&shape, items, None),
            None => shape.input.clone(),
        };
        Ok(Self {
            uri: origin.uri(&format!("/api/workflows/{workflow}/{call}"))?,
            body: Bytes::from(body),
            shape,
            number: AtomicU64::new(0),
        })
    }

    /// The next request.
    pub(super) fn next(&self, origin: &Origin) -> Request<Full<Bytes>> {
        let uri = self.uri.clone();
        if !self.shape.keys {
            return origin.post(uri, self.body.clone());
        }
        let items = self.shape.batch.unwrap_or(1);
        let number = self
            .number
            .fetch_add(u64::try_from(items).unwrap_or(u64::MAX), Ordering::Relaxed);
        if self.shape.batch.is_some() {
            let body = batch(&self.shape, items, Some(number));
            return origin.post(uri, Bytes::from(body));
        }
        let mut request = origin.post(uri, self.body.clone());
        if let Ok(key) = HeaderValue::from_str(&key(&self.shape, number)) {
            request.headers_mut().insert(IDEMPOTENCY_KEY, key);
        }
        request
    }
}

fn key(shape: &Shape, number: u64) -> String {
    format!("bench-{}-{number}", shape.run)
}

fn batch(shape: &Shape, items: usize, first: Option<u64>) -> String {
    let mut body = String::from("[");
    for item in 0..items {
        let comma = if item == 0 { "" } else { "," };
        let _ = write!(body, "{comma}{{\"input\":{}", shape.input);
        if let Some(first) = first {
            let number = first.saturating_add(u64::try_from(item).unwrap_or(u64::MAX));
            let _ = write!(body, ",\"idempotency_key\":\"{}\"", key(shape, number));
        }
        body.push('}');
    }
    body.push(']');
    body
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn inputs_have_exactly_their_size() {
        for bytes in [2, 3, 9, 10, 11, 500, 70_000] {
            let input = input_of(bytes);
            assert_eq!(input.len(), bytes);
            assert!(
                refire_core::json::Json::parse(input.as_str()).is_ok(),
                "{input}"
            );
        }
    }

    fn shape(batch: Option<usize>, keys: bool, wait: bool) -> Shape {
        Shape {
            input: "{}".to_owned(),
            batch,
            keys,
            wait,
            run: "r".to_owned(),
        }
    }

    #[test]
    fn keys_are_never_used_twice() {
        let origin = Origin::new("http://h", None, Duration::from_secs(1)).unwrap();
        let payload = Payload::new(&origin, "w", shape(None, true, true)).unwrap();
        let requests = [payload.next(&origin), payload.next(&origin)];
        let keys = requests
            .each_ref()
            .map(|one| &one.headers()[IDEMPOTENCY_KEY]);
        assert_eq!(keys, ["bench-r-0", "bench-r-1"]);
        assert_eq!(requests[0].uri(), "/api/workflows/w/execute?wait=60s");
        let payload = Payload::new(&origin, "w", shape(Some(2), true, false)).unwrap();
        let _ = payload.next(&origin);
        let second = batch(
            &payload.shape,
            2,
            Some(payload.number.load(Ordering::Relaxed)),
        );
        let expected = r#"[{"input":{},"idempotency_key":"bench-r-2"},{"input":{},"idempotency_key":"bench-r-3"}]"#;
        assert_eq!(second, expected);
    }
}
