//! Pages of lists: one row more than asked for tells whether there is a next page.

use axum::Json;
use refire_client::model::Page;
use refire_client::query::Paging;
use refire_store::LIMIT_MAX;

use super::cursor::{Key, Scope};
use super::{Answer, List, Problem};

/// Rows of a page unless told otherwise.
pub(super) const LIMIT_DEFAULT: u32 = 50;

/// The part of a list that was asked for.
pub(super) struct Window<K> {
    scope: Scope,
    limit: u32,
    /// The row that it goes on behind; none = from the beginning.
    pub(super) behind: Option<K>,
    /// How many rows to read.
    pub(super) rows: u32,
}

impl<K: Key> Window<K> {
    /// `filter` is anything that prints every setting of the filter.
    pub(super) fn new(
        list: List,
        filter: &impl std::fmt::Debug,
        paging: &Paging,
    ) -> Result<Self, Problem> {
        let scope = Scope::new(list, filter);
        let limit = paging.limit.unwrap_or(LIMIT_DEFAULT);
        Ok(Self {
            behind: scope.key(paging.cursor.as_deref())?,
            rows: (limit + 1).min(LIMIT_MAX),
            scope,
            limit,
        })
    }

    /// The page of what was read: the extra row is cut off; `key` gives a row's place in the list.
    pub(super) fn page<R>(&self, mut rows: Vec<R>, key: impl Fn(&R) -> K) -> Page<R> {
        // At the largest limit there is no room for the extra row: a full page may have a next one.
        let has_more = rows.len() >= self.rows as usize;
        rows.truncate(self.limit as usize);
        let last = rows.last().filter(|_| has_more);
        let next_cursor = last.map(|last| self.scope.cursor(&key(last)));
        Page {
            items: rows,
            next_cursor,
        }
    }

    /// The page, if its list was searched up to a row and not to its end: it goes on behind that one.
    pub(super) fn going_on<R>(&self, mut page: Page<R>, searched_to: Option<K>) -> Page<R> {
        if page.next_cursor.is_none() {
            page.next_cursor = searched_to.map(|key| self.scope.cursor(&key));
        }
        page
    }
}

/// A page with its rows as they are shown.
pub(super) async fn shown<R, T, V: Future<Output = Result<T, Problem>>>(
    mut page: Page<R>,
    view: impl Fn(R) -> V,
) -> Answer<Page<T>> {
    let mut items = Vec::with_capacity(page.items.len());
    for row in std::mem::take(&mut page.items) {
        items.push(view(row).await?);
    }
    Ok(Json(page.with(items)))
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

    #[test]
    fn the_last_page_has_no_cursor() {
        let next = |rows: u64, limit: u32| {
            let window = Window::new(List::Workflows, &(), &Paging::first(limit)).unwrap();
            let page = window.page((0..rows).collect(), |row| *row);
            (page.items.len(), page.next_cursor.is_some())
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
        let window = Window::new(List::Workflows, &(), &Paging::first(10)).unwrap();
        for (rows, searched_to, expected) in [
            (3, None, None),
            (3, Some(7), Some(7)),
            (11, Some(7), Some(9)),
        ] {
            let page = window.page((0..rows).collect(), |row: &u64| *row);
            let cursor = window.going_on(page, searched_to).next_cursor;
            assert_eq!(window.scope.key(cursor.as_deref()).unwrap(), expected);
        }
    }
}
