//! What is fuzzed: one function per target, from bytes that somebody else chose.
//!
//! Each file says what must hold for every input; a panic is a finding. Nothing here knows
//! libFuzzer (`targets/` does), so that the same functions run over the corpus in the usual tests.

mod choices;
pub mod decide;
pub mod definition;
pub mod duration;
pub mod event_decode;
pub mod event_fold;
mod events;
mod flow;
pub mod jsonpath;
pub mod retry_after;
pub mod schedule;
pub mod template;
pub mod webhook;
mod work;

/// What is called with each input.
pub type Target = fn(&[u8]);

/// Every target by its name, which is also that of its folder in `corpus` and `regressions`.
pub const TARGETS: [(&str, Target); 10] = [
    ("decide", decide::run),
    ("definition", definition::run),
    ("duration", duration::run),
    ("event_decode", event_decode::run),
    ("event_fold", event_fold::run),
    ("jsonpath", jsonpath::run),
    ("retry_after", retry_after::run),
    ("schedule", schedule::run),
    ("template", template::run),
    ("webhook", webhook::run),
];

/// The first line and what follows it.
fn first_line(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}
