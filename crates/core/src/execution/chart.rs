//! The state machine as a page for people, found out by running it.
//!
//! Small workflows are started, every command is tried in every state that can be reached, and
//! what happened is written down. Nothing here says what should happen: a rule that changes in
//! `decide/` changes the page.

mod explore;
mod page;

/// The text of `docs/state-machine.md`.
#[must_use]
pub fn state_machine_markdown() -> String {
    page::write(&explore::explore())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/state-machine.md");

    #[test]
    fn the_page_in_the_repository_is_current() {
        let current = state_machine_markdown();
        if std::env::var_os("REFIRE_UPDATE").is_some() {
            std::fs::write(PAGE, &current).unwrap();
        }
        let stored = std::fs::read_to_string(PAGE).unwrap_or_default();
        assert!(
            stored == current,
            "docs/state-machine.md does not say what the state machine does; \
             look at the difference after\n\n    \
             REFIRE_UPDATE=1 cargo test -p refire-core --lib chart\n"
        );
    }
}
