//! Bars for copies that take their time, where somebody watches.

use indicatif::{ProgressBar, ProgressStyle};

use super::output::is_watched;

/// A copy that is counted in these.
pub(crate) fn bar(unit: &str) -> ProgressBar {
    if !is_watched() {
        return ProgressBar::hidden();
    }
    let style = format!("{{bar:40}} {{percent:>3}} %  {{pos}}/{{len}} {unit}");
    let style =
        ProgressStyle::with_template(&style).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(0).with_style(style)
}
