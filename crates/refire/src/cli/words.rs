//! Filters that take several words, `a,b` or given more than once, as the API takes them.

/// The words as one parameter; none if none was given.
pub(crate) fn joined(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(","))
}
