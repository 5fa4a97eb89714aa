//! Definitions that many tests use.

/// A workflow with one HTTP step that retries fast.
pub(crate) fn one_step(id: &str, url: &str) -> String {
    format!(
        "id: {id}\nretry: {{ maxRetries: 2, initialDelay: 100ms, strategy: fixed, jitter: none }}\n\
         steps:\n  - id: call\n    type: http\n    config: {{ method: POST, url: \"{url}\", body: \"${{input}}\" }}\n"
    )
}

/// Two HTTP steps, one after the other.
pub(crate) fn two_steps(id: &str, first: &str, second: &str) -> String {
    format!(
        "id: {id}\nretry: {{ maxRetries: 1, initialDelay: 100ms, strategy: fixed, jitter: none }}\n\
         steps:\n  - id: first\n    type: http\n    config: {{ method: POST, url: \"{first}\", body: \"${{input}}\" }}\n\
         \x20\x20- id: second\n    type: http\n    config: {{ method: POST, url: \"{second}\", body: {{ from: \"${{steps.first.output.body}}\", name: \"${{input.name}}\" }} }}\n"
    )
}
