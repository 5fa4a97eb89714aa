//! Tables with few lines: a head, columns, nothing between them but space.

use comfy_table::presets::NOTHING;
use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width,
};

use refire_core::time::Timestamp;

use super::paint::clean;

/// Between two columns.
const GAP: u16 = 2;
/// The last column keeps this, however narrow the terminal.
const LAST_WIDTH_MIN: u16 = 24;

/// A table under construction.
#[derive(Debug)]
pub(crate) struct Grid(Table);

impl Grid {
    /// A table with these columns. Only the last one is cut on a narrow terminal, since ids are
    /// there to be copied.
    pub(crate) fn new(heads: &[&str]) -> Self {
        let mut table = Table::new();
        // Colours are taken out later, where there is no terminal.
        table.load_style(NOTHING).enforce_styling();
        // Styled padding could not be taken off the end of a line.
        table.style_text_only();
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_header(heads.iter().map(|head| match *head {
            // Without a style, so that it can be taken off the end of the line.
            "" => Cell::new(""),
            head => Cell::new(head).add_attribute(Attribute::Bold),
        }));
        let last = heads.len().saturating_sub(1);
        for (at, column) in table.column_iter_mut().enumerate() {
            column.set_padding((0, if at == last { 0 } else { GAP }));
            column.set_constraint(if at == last {
                ColumnConstraint::LowerBoundary(Width::Fixed(LAST_WIDTH_MIN))
            } else {
                ColumnConstraint::ContentWidth
            });
        }
        Self(table)
    }

    /// The same with numbers in this column.
    pub(crate) fn right(mut self, column: usize) -> Self {
        if let Some(column) = self.0.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        self
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        let mut row = Row::from(cells);
        row.max_height(1);
        self.0.add_row(row);
    }

    /// The lines, moved to the right.
    pub(crate) fn lines(&self, indent: usize) -> String {
        let margin = " ".repeat(indent);
        let lines = self
            .0
            .lines()
            .map(|line| format!("{margin}{}\n", line.trim_end()));
        lines.collect()
    }
}

/// A column of a table: its head, and what of an entry stands in it.
#[derive(Debug)]
pub(crate) struct Column<T> {
    head: &'static str,
    is_number: bool,
    is_optional: bool,
    cell: fn(&T, Timestamp) -> Cell,
}

/// A column of texts.
pub(crate) const fn text<T>(head: &'static str, cell: fn(&T, Timestamp) -> Cell) -> Column<T> {
    Column {
        head,
        is_number: false,
        is_optional: false,
        cell,
    }
}

/// A column of numbers, which stand at its right edge.
pub(crate) const fn number<T>(head: &'static str, cell: fn(&T, Timestamp) -> Cell) -> Column<T> {
    Column {
        is_number: true,
        ..text(head, cell)
    }
}

/// A column of texts that is left out where no entry has one.
pub(crate) const fn optional<T>(head: &'static str, cell: fn(&T, Timestamp) -> Cell) -> Column<T> {
    Column {
        is_optional: true,
        ..text(head, cell)
    }
}

/// Entries as a table, with times as they are seen now.
pub(crate) fn table<T>(columns: &[Column<T>], entries: &[T], now: Timestamp) -> Grid {
    let cells = |column: &Column<T>| -> Vec<Cell> {
        let cells = entries.iter().map(|entry| (column.cell)(entry, now));
        cells.collect()
    };
    let mut shown: Vec<(&Column<T>, _)> = columns
        .iter()
        .map(|column| (column, cells(column)))
        .filter(|(column, cells)| {
            !column.is_optional || cells.iter().any(|cell| !cell.content().is_empty())
        })
        .map(|(column, cells)| (column, cells.into_iter()))
        .collect();
    let heads: Vec<&str> = shown.iter().map(|(column, _)| column.head).collect();
    let numbers = (0..shown.len()).filter(|at| shown[*at].0.is_number);
    let mut grid = numbers.fold(Grid::new(&heads), Grid::right);
    for _ in entries {
        let row = shown.iter_mut().filter_map(|(_, cells)| cells.next());
        grid.row(row.collect());
    }
    grid
}

/// A cell of text that others wrote.
pub(crate) fn cell(text: impl AsRef<str>) -> Cell {
    Cell::new(clean(text.as_ref()))
}

/// A cell of something that may be missing.
pub(crate) fn maybe(text: Option<impl AsRef<str>>) -> Cell {
    text.map_or_else(|| Cell::new(""), cell)
}

/// A cell of less important text.
pub(crate) fn faint(text: &str) -> Cell {
    cell(text).add_attribute(Attribute::Dim)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_aligned_and_has_no_borders() {
        let mut grid = Grid::new(&["NAME", "N", "NOTE"]).right(1);
        grid.row(vec![cell("long_name"), cell("7"), cell("x")]);
        grid.row(vec![cell("a"), cell("12"), maybe(None::<&str>)]);
        let lines = anstream::adapter::strip_str(&grid.lines(1)).to_string();
        assert_eq!(
            lines,
            " NAME        N  NOTE\n long_name   7  x\n a          12\n"
        );
    }
}
