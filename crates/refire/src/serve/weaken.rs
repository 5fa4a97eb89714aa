//! A door that only builds for development have: a server that does not wait for the disk. The test
//! that cuts the power must see what such a server loses, or it would prove nothing.

use refire_store::sqlite::{Options, Synchronous};

/// Set to `normal`, commits are answered before they are on disk.
const VARIABLE: &str = "REFIRE_DEBUG_SYNCHRONOUS";

/// The options as the variable wants them, and a word about it.
pub(super) fn weaken(mut options: Options) -> Options {
    if std::env::var_os(VARIABLE).is_some_and(|value| value == "normal") {
        tracing::warn!("{VARIABLE} is set: commits do not wait for the disk, answers can be lost");
        options.synchronous = Synchronous::Normal;
    }
    options
}
