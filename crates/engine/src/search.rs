//! A search for words that no index knows: page by page through a list, and not for ever.

use refire_store::LIMIT_MAX;

/// Rows that one search looks at, at most.
const SEARCHED_MAX: usize = 10_000;

/// See the module. Without words it is a page of the list.
pub(crate) struct Search<R> {
    /// In lower case.
    words: Option<String>,
    limit: u32,
    searched: usize,
    found: Vec<R>,
}

impl<R> Search<R> {
    /// For so many rows that have these words.
    pub(crate) fn new(words: Option<&str>, limit: u32) -> Self {
        Self {
            words: words.map(str::to_lowercase),
            limit,
            searched: 0,
            found: Vec::new(),
        }
    }

    /// Rows that the next page is to have.
    pub(crate) fn asked(&self) -> u32 {
        match self.words {
            Some(_) => LIMIT_MAX,
            None => self.limit,
        }
    }

    /// Takes a page; whether there is a reason to read the next one. `has` says whether a row has words that
    /// are in lower case.
    pub(crate) fn goes_on(&mut self, page: Vec<R>, has: impl Fn(&R, &str) -> bool) -> bool {
        let is_last = page.len() < self.asked() as usize;
        self.searched += page.len();
        let words = self.words.as_deref();
        let fits = |row: &R| words.is_none_or(|words| has(row, words));
        self.found.extend(page.into_iter().filter(fits));
        let is_enough = self.found.len() >= self.limit as usize;
        !is_last && !is_enough && self.searched < SEARCHED_MAX
    }

    /// What was found.
    pub(crate) fn found(mut self) -> Vec<R> {
        self.found.truncate(self.limit as usize);
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_with_the_list_or_when_it_has_enough_or_has_looked_at_much() {
        let page = |from: u32, count: u32| (from..from + count).collect::<Vec<u32>>();
        let ends_with = |row: &u32, words: &str| row.to_string().ends_with(words);
        let mut plain = Search::new(None, 5);
        assert_eq!(plain.asked(), 5);
        assert!(!plain.goes_on(page(0, 5), ends_with));
        assert_eq!(plain.found(), page(0, 5));
        let mut few = Search::new(Some("99"), 3);
        assert_eq!(few.asked(), LIMIT_MAX);
        assert!(!few.goes_on(page(0, LIMIT_MAX), ends_with));
        assert_eq!(few.found(), [99, 199, 299]);
        let mut short = Search::new(Some("7"), 50);
        assert!(!short.goes_on(page(0, 20), ends_with));
        assert_eq!(short.found(), [7, 17]);
        let mut none = Search::new(Some("x"), 3);
        let pages = (0..100).take_while(|_| none.goes_on(page(0, LIMIT_MAX), ends_with));
        assert_eq!(pages.count(), SEARCHED_MAX / LIMIT_MAX as usize - 1);
    }
}
