//! Black-box tests: the real binary over HTTP, against a scripted target on this machine.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod auth;
mod bodies;
mod commands;
mod crash;
mod dead_letters;
mod definitions;
mod executions;
mod idempotency;
mod lists;
mod process;
mod replays;
mod retries;
mod server;
mod sockets;
mod start;
mod stop;
mod target;
mod undoing;

/// A workflow with one HTTP step that retries fast.
fn one_step(id: &str, url: &str) -> String {
    format!(
        "id: {id}\nretry: {{ maxRetries: 2, initialDelay: 100ms, strategy: fixed, jitter: none }}\n\
         steps:\n  - id: call\n    type: http\n    config: {{ method: POST, url: \"{url}\", body: \"${{input}}\" }}\n"
    )
}

/// Two HTTP steps, one after the other.
fn two_steps(id: &str, first: &str, second: &str) -> String {
    format!(
        "id: {id}\nretry: {{ maxRetries: 1, initialDelay: 100ms, strategy: fixed, jitter: none }}\n\
         steps:\n  - id: first\n    type: http\n    config: {{ method: POST, url: \"{first}\", body: \"${{input}}\" }}\n\
         \x20\x20- id: second\n    type: http\n    config: {{ method: POST, url: \"{second}\", body: {{ from: \"${{steps.first.output.body}}\", name: \"${{input.name}}\" }} }}\n"
    )
}
