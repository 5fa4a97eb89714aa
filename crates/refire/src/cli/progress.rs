//! Bars for copies that take their time, where somebody watches.

use indicatif::{ProgressBar, ProgressStyle};

use super::output::is_watched;

/// A copy that is counted in rows.
pub(crate) fn rows_bar() -> ProgressBar {
    bar("{bar:40} {percent:>3} %  {pos}/{len} rows")
}

/// A copy that is counted in pages.
pub(crate) fn pages_bar() -> ProgressBar {
    bar("{bar:40} {percent:>3} %  {pos}/{len} pages")
}

fn bar(template: &str) -> ProgressBar {
    if !is_watched() {
        return ProgressBar::hidden();
    }
    let style =
        ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}
