//! "Did you mean …": the known word that is closest to a mistyped one. Only for messages:
//! nothing is ever corrected by itself.

/// Words longer than this are not compared: the cost grows with the square of the length.
const WORD_LENGTH_MAX: usize = 64;

/// The candidate with the fewest edits, if it is near enough to be a likely slip.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    if word.is_empty() || length > WORD_LENGTH_MAX {
        return None;
    }
    let word = word.to_lowercase();
    let allowed = (length / 3).clamp(1, 3);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len().abs_diff(word.len()) <= allowed)
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(edits, _)| *edits <= allowed)
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, candidate)| candidate)
}

/// The number of insertions, removals, replacements and swaps of neighbours between two words.
fn distance(from: &str, to: &str) -> usize {
    let from: Vec<char> = from.chars().collect();
    let to: Vec<char> = to.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised_and_strangers_are_not() {
        let zones = ["Europe/Warsaw", "Europe/Berlin", "Asia/Taipei"];
        assert_eq!(nearest("Europe/Warsav", zones), Some("Europe/Warsaw"));
        assert_eq!(nearest("asia/tapiei", zones), Some("Asia/Taipei"));
        assert_eq!(nearest("Mars/Olympus", zones), None);
        assert_eq!(nearest("", zones), None);
        assert_eq!(nearest(&"x".repeat(100_000), zones), None);
        let keys = ["maxRetries", "initialDelay", "strategy"];
        assert_eq!(nearest("maxRetrys", keys), Some("maxRetries"));
        assert_eq!(nearest("stratgey", keys), Some("strategy"));
        assert_eq!(nearest("INITIALDELAY", keys), Some("initialDelay"));
        assert_eq!(nearest("colour", keys), None);
        assert_eq!(nearest("x", ["y"]), Some("y"));
    }
}
