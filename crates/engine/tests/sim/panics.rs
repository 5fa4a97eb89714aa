//! Panics that nobody planned. The engine survives many of them, so the seeds would not notice;
//! those that are planned do not come by the hook.

use std::cell::RefCell;
use std::panic::{set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// A run is on one thread with all that belongs to it.
    static SEEN: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Watches this thread from now on.
pub(crate) fn watch() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            SEEN.with_borrow_mut(|seen| {
                seen.get_or_insert_with(|| panic.to_string());
            });
            before(panic);
        }));
    });
    SEEN.take();
}

/// The first panic since [`watch`].
pub(crate) fn seen() -> Option<String> {
    SEEN.take()
}
