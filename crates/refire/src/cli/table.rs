//! Tables with few lines: a head, columns, nothing between them but space.

use comfy_table::presets::NOTHING;
use comfy_table::{
    Attribute, Cell, CellAlignment, ColumnConstraint, ContentArrangement, Row, Table, Width,
};

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

/// A cell of text that others wrote.
pub(crate) fn cell(text: &str) -> Cell {
    Cell::new(clean(text))
}

/// A cell of something that may be missing.
pub(crate) fn maybe(text: Option<&str>) -> Cell {
    Cell::new(clean(text.unwrap_or("")))
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
        grid.row(vec![cell("a"), cell("12"), maybe(None)]);
        let lines = anstream::adapter::strip_str(&grid.lines(1)).to_string();
        assert_eq!(
            lines,
            " NAME        N  NOTE\n long_name   7  x\n a          12\n"
        );
    }
}
