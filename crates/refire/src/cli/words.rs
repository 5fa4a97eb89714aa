//! Options that take several words of a list, such as `--status pending,running`.

/// The words as the API takes them; none means all.
pub(crate) fn joined(words: &[String]) -> Option<String> {
    (!words.is_empty()).then(|| words.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_separated_by_commas() {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(joined(&[]), None);
        assert_eq!(joined(&words(&["a"])).as_deref(), Some("a"));
        assert_eq!(joined(&words(&["a", "b"])).as_deref(), Some("a,b"));
    }
}
