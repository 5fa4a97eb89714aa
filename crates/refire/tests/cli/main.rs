//! The command line as a user sees it: the real binary, its output and its exit codes.

#![expect(
    clippy::unwrap_used,
    reason = "what the tests set up is there, or they end"
)]

mod answers;
mod bench;
mod console;
mod deployment;
mod examples;
mod guides;
mod help;
mod offline;
mod operations;
mod plain_words;
mod proxy;
mod refire;
mod server;
mod story;
mod stub;
mod tasks;
mod trigger_slips;
mod trigger_words;
mod triggers;
mod validate;
mod webhooks;
mod worker;
