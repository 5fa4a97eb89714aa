//! Pages of lists: one row more than asked for tells whether there is a next page.

use refire_client::model::Page;
use refire_store::LIMIT_MAX;

use super::cursor::Scope;

/// How many rows to read for a page of `limit`.
pub(super) fn rows_to_read(limit: u32) -> u32 {
    (limit + 1).min(LIMIT_MAX)
}

/// Cuts the extra row off and makes the cursor; `key` gives a row's place in the list.
pub(super) fn cut<R>(
    rows: &mut Vec<R>,
    limit: u32,
    scope: &Scope,
    key: impl Fn(&R) -> Vec<u8>,
) -> Option<String> {
    // At the largest limit there is no room for the extra row: a full page may have a next one.
    let has_more = rows.len() >= rows_to_read(limit) as usize;
    rows.truncate(limit as usize);
    rows.last()
        .filter(|_| has_more)
        .map(|last| scope.cursor(&key(last)))
}

/// A page that is the whole list.
pub(super) fn whole<T>(items: Vec<T>) -> Page<T> {
    Page {
        items,
        next_cursor: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::cursor::List;

    #[test]
    fn the_last_page_has_no_cursor() {
        let scope = Scope::new(List::Workflows, &());
        let next = |rows: u32, limit: u32| {
            let mut rows: Vec<u32> = (0..rows).collect();
            let cursor = cut(&mut rows, limit, &scope, |row| row.to_be_bytes().to_vec());
            (rows.len(), cursor.is_some())
        };
        assert_eq!(next(0, 10), (0, false));
        assert_eq!(next(10, 10), (10, false));
        assert_eq!(next(11, 10), (10, true));
        assert_eq!(
            next(1_000, 1_000),
            (1_000, true),
            "perhaps; the next page may be empty"
        );
        assert_eq!(next(999, 1_000), (999, false));
    }
}
