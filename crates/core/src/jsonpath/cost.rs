//! What a JSONPath may cost: a look at its characters before anything recursive sees it.
//!
//! The library behind evaluates eagerly and without a limit, so a short expression can ask for
//! more values than there is memory (`$[*,*][*,*]…` doubles with each segment, `$..*..*` visits
//! every pair of ancestor and descendant, and a filter asks its question again for each value). The
//! estimate here errs on the high side: it is what the expression could cost on a document of the
//! given measures, not what it will.

use super::{
    PATH_BYTES_MAX, PATH_DESCENDANTS_MAX, PATH_FILTERS_NESTED_MAX, PATH_NESTING_MAX, PathError,
};

/// How much text is compared or counted through in the time of one visit.
const TEXT_BYTES_PER_VISIT: usize = 64;

/// The most by which lists of selectors (`[0, 1, *]`) may multiply the work.
const UNION_PRODUCT_MAX: u64 = 1_000;

/// What a regular expression costs in visits, since the library compiles it again for each value:
/// the call itself, each of its characters, each backslash (a Unicode class is a large table), and
/// one whose size the characters do not tell (`{50}`, or taken from the document).
const REGEX_VISITS: u64 = 1_000;
const REGEX_CHARACTER_VISITS: u64 = 100;
const REGEX_BACKSLASH_VISITS: u64 = 10_000;
const REGEX_UNBOUNDED_VISITS: u64 = 2_000_000;

/// What of a document decides the cost of a query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measures {
    /// How many values there are.
    pub(super) nodes: usize,
    /// How deep they are nested.
    pub(super) depth: usize,
    /// How many elements or members the largest array or object has.
    pub(super) width: usize,
    /// The length of the text: a few values may have long strings.
    pub(super) bytes: usize,
}

/// The parts of an expression that make it costly.
#[derive(Debug, Clone)]
pub(super) struct Weight {
    /// The product of the lengths of all selector lists.
    union_product: u64,
    /// How many `..` there are.
    descendants: u32,
    /// What the filters ask of each value.
    terms: Vec<Term>,
}

/// A question that a filter asks of each value it tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Term {
    tests: Tests,
    weight: u64,
}

/// How often something is done, as a product of the document's measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Tests {
    /// The first factor is the width instead of the size: the values tested are those of a single
    /// array or object.
    narrow: bool,
    /// How many times the whole document comes in as a further factor.
    roots: u32,
    /// How many times the depth does, for filters inside filters: the sum of the sizes of all
    /// subtrees is at most the nodes times the depth.
    nested: u32,
}

impl Tests {
    /// One look at each tested value together with all below it, as `@ == …` may take. Subtrees
    /// side by side are together no larger than the document, however many they are.
    fn of_current(self) -> Self {
        Self {
            narrow: self.narrow && self.roots > 0,
            ..self
        }
    }

    /// One look at the whole document for each tested value. Even `$.a == $.b` may take it: the
    /// two sides may be most of the document.
    fn of_root(self) -> Self {
        Self {
            roots: self.roots + 1,
            ..self
        }
    }

    fn visits(self, size: u64, width: u64, depth: u64) -> u64 {
        let first = if self.narrow { width } else { size };
        first
            .saturating_mul(size.saturating_pow(self.roots))
            .saturating_mul(depth.saturating_pow(self.nested))
    }
}

impl Weight {
    /// The estimate for a document of these measures, in visited values.
    pub(super) fn visits(&self, document: Measures) -> u64 {
        let wide = |number| u64::try_from(number).unwrap_or(u64::MAX);
        let size = wide(document.nodes + document.bytes / TEXT_BYTES_PER_VISIT).max(1);
        let width = wide(document.width).max(1);
        let depth = wide(document.depth).saturating_add(1);
        // The first descent from the root is the plain sum of nodes, unless a filter looks at all
        // below each of them.
        let descents = if self.terms.is_empty() {
            self.descendants.saturating_sub(1)
        } else {
            self.descendants
        };
        self.terms
            .iter()
            .map(|term| {
                let tests = term.tests.visits(size, width, depth);
                tests.saturating_mul(term.weight)
            })
            .fold(size, u64::saturating_add)
            .saturating_mul(self.union_product)
            .saturating_mul(depth.saturating_pow(descents))
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
        terms: scan.terms,
    })
}

#[derive(Default)]
struct Scan {
    open: Vec<Open>,
    descendants: usize,
    union_product: u64,
    terms: Vec<Term>,
    /// Whether what was read so far, outside of filters, may give values of several parents.
    wide: bool,
    /// The letters before the current character, to know a function by its name.
    word: String,
}

/// A bracket or parenthesis that is still open.
struct Open {
    square: bool,
    /// How often a filter's condition is tested, if this is a filter.
    filter: Option<Tests>,
    /// What the call costs, if these are the parentheses of `match` or `search`.
    regex: Option<u64>,
    /// Whether anything inside the parentheses begins at the root.
    root_inside: bool,
    /// Whether the last query begun directly in here begins at the root.
    root_last: bool,
    selectors: u64,
}

impl Scan {
    fn run(&mut self, text: &str) -> Result<(), PathError> {
        self.union_product = 1;
        let mut quote = None;
        let mut quote_at = 0;
        let mut previous = '\0';
        // The last character that is not white space, outside of quotes.
        let mut solid = '\0';
        for (at, c) in text.chars().enumerate() {
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
                None if c == '\'' || c == '"' => (quote, quote_at) = (Some(c), at),
                None => self.visit(c, previous, solid)?,
            }
            previous = c;
            if !c.is_whitespace() {
                solid = c;
            }
        }
        if quote.is_some() {
            // The parser behind panics on a text that ends inside an escape (`$['\u`).
            return Err(PathError::Syntax {
                path: text.to_owned(),
                at: quote_at + 1,
                message: "the quote is never closed".to_owned(),
            });
        }
        Ok(())
    }

    /// A character inside quotes matters only in a regular expression.
    fn quoted(&mut self, c: char, previous: char) {
        let Some(regex) = self.open.last_mut().and_then(|open| open.regex.as_mut()) else {
            return;
        };
        let visits = match c {
            '{' => REGEX_UNBOUNDED_VISITS,
            // An escape may hide any character.
            'u' if previous == '\\' => REGEX_UNBOUNDED_VISITS,
            '\\' => REGEX_BACKSLASH_VISITS,
            _ => REGEX_CHARACTER_VISITS,
        };
        *regex = regex.saturating_add(visits);
    }

    fn visit(&mut self, c: char, previous: char, solid: char) -> Result<(), PathError> {
        let tests = self.open.iter().rev().find_map(|open| open.filter);
        match c {
            '[' | '(' => {
                if self.open.len() >= PATH_NESTING_MAX {
                    return Err(PathError::TooCostly(format!(
                        "brackets are nested deeper than {PATH_NESTING_MAX} levels"
                    )));
                }
                let regex = c == '(' && matches!(self.word.as_str(), "match" | "search");
                self.open.push(Open {
                    square: c == '[',
                    filter: None,
                    regex: regex.then_some(REGEX_VISITS),
                    root_inside: false,
                    root_last: false,
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
                if let (Some(regex), Some(tests)) = (open.regex, tests) {
                    // An expression that is not written here comes from the document.
                    let written = matches!(solid, '\'' | '"');
                    let unknown = if written { 0 } else { REGEX_UNBOUNDED_VISITS };
                    let searched = if open.root_inside {
                        tests.of_root()
                    } else {
                        tests.of_current()
                    };
                    self.add(searched, regex.saturating_add(unknown));
                }
            }
            ',' => {
                if let Some(open) = self.open.last_mut() {
                    open.selectors += 1;
                }
            }
            '?' => {
                if self
                    .open
                    .iter()
                    .filter(|open| open.filter.is_some())
                    .count()
                    >= PATH_FILTERS_NESTED_MAX
                {
                    return Err(PathError::TooCostly(format!(
                        "filters are nested deeper than {PATH_FILTERS_NESTED_MAX} levels"
                    )));
                }
                self.begin_filter(tests);
            }
            '.' if previous == '.' => {
                self.descendants += 1;
                self.wide |= tests.is_none();
            }
            '*' | ':' => self.wide |= tests.is_none(),
            '$' | '@' => self.begin_query(c == '$', tests),
            // Conditions without a query (`1 == 1 && …`) take their time too.
            '&' | '|' => {
                if let Some(tests) = tests {
                    self.add(tests.of_current(), 1);
                }
            }
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

    /// `outer` is how often the enclosing filter is tested.
    fn begin_filter(&mut self, outer: Option<Tests>) {
        let parent = self.open.len().checked_sub(2);
        let from_root = parent.is_some_and(|parent| self.open[parent].root_last);
        let Some(open) = self.open.last_mut() else {
            return;
        };
        let tests = match (open.filter, outer) {
            // The next of a list: it is tested as often as the first.
            (Some(tests), _) => tests,
            (None, Some(outer)) if from_root => outer.of_root(),
            (None, Some(outer)) => Tests {
                narrow: false,
                nested: outer.nested + 1,
                ..outer
            },
            (None, None) => Tests {
                narrow: !self.wide,
                roots: 0,
                nested: 0,
            },
        };
        open.filter = Some(tests);
        // What a filter lets through has parents of its own for a filter that follows.
        self.wide |= outer.is_none();
        self.add(tests.of_current(), 1);
    }

    fn begin_query(&mut self, root: bool, tests: Option<Tests>) {
        if let Some(open) = self.open.last_mut() {
            open.root_last = root;
        }
        if root {
            self.open
                .iter_mut()
                .for_each(|open| open.root_inside = true);
        }
        if let Some(tests) = tests {
            let looks = if root {
                tests.of_root()
            } else {
                tests.of_current()
            };
            self.add(looks, 1);
        }
    }

    fn add(&mut self, tests: Tests, weight: u64) {
        match self.terms.iter_mut().find(|term| term.tests == tests) {
            Some(term) => term.weight = term.weight.saturating_add(weight),
            None => self.terms.push(Term { tests, weight }),
        }
    }
}
