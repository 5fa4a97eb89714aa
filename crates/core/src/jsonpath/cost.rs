//! What a JSONPath may cost: a look at its characters before anything recursive sees it.
//!
//! The library behind evaluates eagerly and without a limit, so a short expression can ask for
//! more values than there is memory (`$[*,*][*,*]…` doubles with each segment, `$..*..*` visits
//! every pair of ancestor and descendant). The estimate here errs on the high side.

use super::{
    PATH_BYTES_MAX, PATH_DESCENDANTS_MAX, PATH_FILTERS_NESTED_MAX, PATH_NESTING_MAX, PathError,
};

/// The most a query may cost in visited values; a visit takes some ten nanoseconds.
const VISITS_MAX: u64 = 10_000_000;

/// The most by which lists of selectors (`[0, 1, *]`) may multiply the work.
const UNION_PRODUCT_MAX: u64 = 1_000;

/// What a regular expression costs in visits, since the library compiles it again for each value:
/// the call itself, each of its characters, each backslash (a Unicode class is a large table), and
/// one whose size the characters do not tell (`{50}`, or taken from the document).
const REGEX_VISITS: u64 = 1_000;
const REGEX_CHARACTER_VISITS: u64 = 100;
const REGEX_BACKSLASH_VISITS: u64 = 10_000;
const REGEX_UNBOUNDED_VISITS: u64 = 2_000_000;

/// The parts of an expression that make it costly.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight {
    /// The product of the lengths of all selector lists.
    union_product: u64,
    /// How many `..` there are.
    descendants: u32,
    /// How many filters stand inside other filters.
    nested_filters: u32,
    /// How many queries inside filters begin at the document's root and may visit all of it.
    root_queries: u32,
    /// What all regular expressions together cost for each value.
    regex_visits: u64,
}

impl Weight {
    /// Whether the estimate for a document of this size stays within the limit.
    pub(super) fn affordable(&self, nodes: usize, depth: usize) -> bool {
        let nodes = u64::try_from(nodes).unwrap_or(u64::MAX);
        // The sum of the sizes of all subtrees is at most the nodes times the depth. The first
        // descent from the root is the plain sum of nodes.
        let depth = u64::try_from(depth).unwrap_or(u64::MAX).saturating_add(1);
        let descents = self
            .descendants
            .saturating_sub(1)
            .saturating_add(self.nested_filters);
        let visits = nodes
            .saturating_mul(self.union_product)
            .saturating_mul(depth.saturating_pow(descents))
            .saturating_mul(nodes.max(1).saturating_pow(self.root_queries))
            .saturating_mul(self.regex_visits.saturating_add(1));
        visits <= VISITS_MAX
    }
}

/// Checks the shape of an expression and weighs it.
pub(super) fn weigh(text: &str) -> Result<Weight, PathError> {
    if text.len() > PATH_BYTES_MAX {
        return Err(PathError::TooCostly(format!(
            "it has {} bytes, at most {PATH_BYTES_MAX} are allowed",
            text.len()
        )));
    }
    let mut scan = Scan::default();
    scan.run(text)?;
    let costly = |what: String| Err(PathError::TooCostly(what));
    if scan.descendants > PATH_DESCENDANTS_MAX {
        return costly(format!(
            "`{text}` has {} descendant segments (`..`), at most {PATH_DESCENDANTS_MAX} are allowed",
            scan.descendants
        ));
    }
    if scan.union_product > UNION_PRODUCT_MAX {
        return costly(format!(
            "the selector lists of `{text}` multiply to more than {UNION_PRODUCT_MAX}"
        ));
    }
    Ok(Weight {
        union_product: scan.union_product,
        descendants: u32::try_from(scan.descendants).unwrap_or(u32::MAX),
        nested_filters: scan.nested_filters,
        root_queries: if scan.wide_in_filter {
            scan.roots_in_filter
        } else {
            0
        },
        regex_visits: scan.regex_visits,
    })
}

#[derive(Default)]
struct Scan {
    open: Vec<Open>,
    descendants: usize,
    union_product: u64,
    nested_filters: u32,
    roots_in_filter: u32,
    wide_in_filter: bool,
    regex_visits: u64,
    /// The letters before the current character, to know a function by its name.
    word: String,
}

/// A bracket or parenthesis that is still open.
struct Open {
    square: bool,
    filter: bool,
    /// The parentheses of `match` or `search`.
    regex: bool,
    selectors: u64,
}

impl Scan {
    fn run(&mut self, text: &str) -> Result<(), PathError> {
        self.union_product = 1;
        let mut quote = None;
        let mut previous = '\0';
        // The last character that is not white space, outside of quotes.
        let mut solid = '\0';
        for c in text.chars() {
            match quote {
                Some(end) if c == end && previous != '\\' => quote = None,
                Some(_) => {
                    self.quoted(c, previous);
                    // Two backslashes are one character and escape nothing after them.
                    previous = if c == '\\' && previous == '\\' {
                        '\0'
                    } else {
                        c
                    };
                    continue;
                }
                None if c == '\'' || c == '"' => quote = Some(c),
                None => self.visit(c, previous, solid)?,
            }
            previous = c;
            if !c.is_whitespace() {
                solid = c;
            }
        }
        Ok(())
    }

    /// A character inside quotes matters only in a regular expression.
    fn quoted(&mut self, c: char, previous: char) {
        if !self.open.last().is_some_and(|open| open.regex) {
            return;
        }
        let visits = match c {
            '{' => REGEX_UNBOUNDED_VISITS,
            // An escape may hide any character.
            'u' if previous == '\\' => REGEX_UNBOUNDED_VISITS,
            '\\' => REGEX_BACKSLASH_VISITS,
            _ => REGEX_CHARACTER_VISITS,
        };
        self.regex_visits = self.regex_visits.saturating_add(visits);
    }

    fn visit(&mut self, c: char, previous: char, solid: char) -> Result<(), PathError> {
        let in_filter = self.open.iter().any(|open| open.filter);
        match c {
            '[' | '(' => {
                if self.open.len() >= PATH_NESTING_MAX {
                    return Err(PathError::TooCostly(format!(
                        "brackets are nested deeper than {PATH_NESTING_MAX} levels"
                    )));
                }
                let regex = c == '(' && matches!(self.word.as_str(), "match" | "search");
                self.regex_visits += if regex { REGEX_VISITS } else { 0 };
                self.open.push(Open {
                    square: c == '[',
                    filter: false,
                    regex,
                    selectors: 1,
                });
            }
            ']' | ')' => {
                let Some(open) = self.open.pop() else {
                    return Ok(());
                };
                if open.square {
                    self.union_product = self.union_product.saturating_mul(open.selectors);
                }
                if open.regex && !matches!(solid, '\'' | '"') {
                    // The expression is not written here: it comes from the document.
                    self.regex_visits += REGEX_UNBOUNDED_VISITS;
                }
            }
            ',' => {
                if let Some(open) = self.open.last_mut() {
                    open.selectors += 1;
                }
            }
            '?' => {
                if self.open.iter().filter(|open| open.filter).count() >= PATH_FILTERS_NESTED_MAX {
                    return Err(PathError::TooCostly(format!(
                        "filters are nested deeper than {PATH_FILTERS_NESTED_MAX} levels"
                    )));
                }
                self.nested_filters += u32::from(in_filter);
                self.wide_in_filter |= in_filter;
                if let Some(open) = self.open.last_mut() {
                    open.filter = true;
                }
            }
            '.' if previous == '.' => {
                self.descendants += 1;
                self.wide_in_filter |= in_filter;
            }
            '*' | ':' => self.wide_in_filter |= in_filter,
            '$' => self.roots_in_filter += u32::from(in_filter),
            // Prefix operators recurse as parentheses do; a run of them is never meant.
            '!' if previous == '!' => {
                return Err(PathError::TooCostly("`!!` is not allowed".to_owned()));
            }
            _ => {}
        }
        if c.is_ascii_alphabetic() {
            self.word.push(c);
        } else {
            self.word.clear();
        }
        Ok(())
    }
}
