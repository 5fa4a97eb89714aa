//! YAML 1.2 into nodes, from the parser's events.
//!
//! Plain scalars are typed by the core schema: `no`, `on` and `yes` are strings. Aliases and merge
//! keys (`<<`) are expanded under the same budgets of values and of text as what is written, so an
//! alias bomb is just a definition that is too large. Tags other than the core ones are refused.

use std::collections::HashMap;

use granit_parser::{Event, Options, Parser, ScalarStyle, ScanError, Span, Tag};

use super::problem::Problem;
use super::source::{
    Content, Key, Mark, Node, SOURCE_DEPTH_MAX, SOURCE_EXPANDED_BYTES_MAX, SOURCE_NODES_MAX,
    duplicate_key, too_deep, too_many_nodes, too_much_text,
};

/// Reads one YAML document.
pub(super) fn read(source: &str) -> Result<Node, Problem> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    Reader {
        source,
        events: Parser::new_from_str_with_options(source, options),
        anchors: HashMap::new(),
        nodes: 0,
        bytes: 0,
        bytes_kept: 0,
    }
    .document()
}

struct Reader<'a> {
    source: &'a str,
    events: Parser<'a, granit_parser::StrInput<'a>>,
    /// Finished anchored values.
    anchors: HashMap<usize, Anchored>,
    nodes: usize,
    /// The bytes of all scalars and keys.
    bytes: usize,
    /// The same of the anchored values.
    bytes_kept: usize,
}

struct Anchored {
    node: Node,
    nodes: usize,
    bytes: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<(Event<'a>, Span), Problem> {
        match self.events.next_event() {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(invalid(&error, self.source)),
            None => Err(Problem::new("", Mark::START, "the text ends too early")),
        }
    }

    fn document(mut self) -> Result<Node, Problem> {
        let mut root = None;
        loop {
            let (event, span) = self.next()?;
            match event {
                Event::StreamStart | Event::DocumentEnd => {}
                Event::DocumentStart(..) if root.is_some() => {
                    let message = "there is more than one document in the text";
                    return Err(Problem::new("", mark(&span), message)
                        .with_hint("apply each definition by itself"));
                }
                Event::DocumentStart(..) => {}
                Event::StreamEnd => break,
                event => root = Some(self.node(event, span, 0)?),
            }
        }
        root.ok_or_else(|| Problem::new("", Mark::START, "the definition is empty"))
    }

    /// The value that begins with `event`. Recursion is bounded by the depth limit.
    fn node(&mut self, event: Event<'a>, span: Span, depth: usize) -> Result<Node, Problem> {
        let mark = mark(&span);
        if depth > SOURCE_DEPTH_MAX {
            return Err(too_deep(mark));
        }
        let (nodes_before, bytes_before) = (self.nodes, self.bytes);
        self.count(1, mark)?;
        let (anchor, content) = match event {
            Event::Alias(id) => return self.alias(id, mark, depth),
            Event::Scalar(text, style, anchor, tag) => {
                self.count_bytes(text.len(), mark)?;
                (anchor, scalar(&text, style, tag.as_deref(), mark)?)
            }
            Event::SequenceStart(_, anchor, tag) => {
                core_tag(tag.as_deref(), "seq", mark)?;
                (anchor, self.sequence(depth)?)
            }
            Event::MappingStart(_, anchor, tag) => {
                core_tag(tag.as_deref(), "map", mark)?;
                (anchor, self.mapping(depth)?)
            }
            _ => return Err(Problem::new("", mark, "a value is expected here")),
        };
        let node = Node { mark, content };
        if anchor != 0 {
            // The kept copy counts too: memory must stay in proportion to the budget.
            let nodes = self.nodes - nodes_before;
            let bytes = self.bytes - bytes_before;
            self.count(nodes, mark)?;
            self.bytes_kept += bytes;
            self.count_bytes(0, mark)?;
            let anchored = Anchored {
                node: node.clone(),
                nodes,
                bytes,
            };
            self.anchors.insert(anchor, anchored);
        }
        Ok(node)
    }

    fn alias(&mut self, id: usize, mark: Mark, depth: usize) -> Result<Node, Problem> {
        let Some(anchored) = self.anchors.get(&id) else {
            return Err(contains_itself(mark));
        };
        if depth + levels(&anchored.node) > SOURCE_DEPTH_MAX {
            return Err(too_deep(mark));
        }
        let (nodes, bytes) = (anchored.nodes, anchored.bytes);
        self.count(nodes, mark)?;
        self.count_bytes(bytes, mark)?;
        // Copied only when the budgets allow it. The anchor is there: it was found above.
        match self.anchors.get(&id) {
            Some(anchored) => Ok(anchored.node.clone()),
            None => Err(contains_itself(mark)),
        }
    }

    fn count_bytes(&mut self, bytes: usize, mark: Mark) -> Result<(), Problem> {
        self.bytes += bytes;
        if self.bytes + self.bytes_kept > SOURCE_EXPANDED_BYTES_MAX {
            Err(too_much_text(mark))
        } else {
            Ok(())
        }
    }

    fn count(&mut self, nodes: usize, mark: Mark) -> Result<(), Problem> {
        self.nodes += nodes;
        if self.nodes > SOURCE_NODES_MAX {
            Err(too_many_nodes(mark))
        } else {
            Ok(())
        }
    }

    fn sequence(&mut self, depth: usize) -> Result<Content, Problem> {
        let mut items = Vec::new();
        loop {
            let (event, span) = self.next()?;
            if matches!(event, Event::SequenceEnd) {
                return Ok(Content::Sequence(items));
            }
            items.push(self.node(event, span, depth + 1)?);
        }
    }

    fn mapping(&mut self, depth: usize) -> Result<Content, Problem> {
        let mut members: Vec<(Key, Node)> = Vec::new();
        let mut merged: Vec<(Key, Node)> = Vec::new();
        let mut seen: HashMap<Box<str>, Mark> = HashMap::new();
        loop {
            let (event, span) = self.next()?;
            let key_mark = mark(&span);
            let (text, plain) = match event {
                Event::MappingEnd => break,
                Event::Scalar(text, style, ..) => (text, style == ScalarStyle::Plain),
                _ => {
                    let message = "a key must be a plain or quoted text";
                    return Err(Problem::new("", key_mark, message));
                }
            };
            self.count_bytes(text.len(), key_mark)?;
            let key = Key {
                mark: key_mark,
                text: text.as_ref().into(),
            };
            let (event, span) = self.next()?;
            let value = self.node(event, span, depth + 1)?;
            if plain && text == "<<" {
                collect_merge(value, &mut merged)?;
                continue;
            }
            if let Some(first) = seen.insert(key.text.clone(), key.mark) {
                return Err(duplicate_key(&key, first));
            }
            members.push((key, value));
        }
        // What is written wins over what is merged, and an earlier merge over a later one.
        for (key, value) in merged {
            if !seen.contains_key(&key.text) {
                seen.insert(key.text.clone(), key.mark);
                members.push((key, value));
            }
        }
        Ok(Content::Mapping(members))
    }
}

fn contains_itself(mark: Mark) -> Problem {
    Problem::new("", mark, "the alias refers to a value that contains it")
}

fn collect_merge(value: Node, merged: &mut Vec<(Key, Node)>) -> Result<(), Problem> {
    let wrong = |mark| Problem::new("", mark, "`<<` merges a mapping or a list of mappings");
    match value.content {
        Content::Mapping(members) => merged.extend(members),
        Content::Sequence(items) => {
            for item in items {
                let Content::Mapping(members) = item.content else {
                    return Err(wrong(item.mark));
                };
                merged.extend(members);
            }
        }
        _ => return Err(wrong(value.mark)),
    }
    Ok(())
}

/// How many levels a value has below itself.
fn levels(node: &Node) -> usize {
    match &node.content {
        Content::Sequence(items) => 1 + items.iter().map(levels).max().unwrap_or(0),
        Content::Mapping(members) => {
            1 + members
                .iter()
                .map(|(_, value)| levels(value))
                .max()
                .unwrap_or(0)
        }
        _ => 0,
    }
}

fn mark(span: &Span) -> Mark {
    Mark::at(span.start.line(), span.start.col() + 1)
}

fn invalid(error: &ScanError, source: &str) -> Problem {
    let at = error.marker();
    let problem = Problem::new(
        "",
        Mark::at(at.line().max(1), at.col() + 1),
        format!("invalid YAML: {}", error.info()),
    );
    let line = source
        .lines()
        .nth(at.line().saturating_sub(1))
        .unwrap_or_default();
    let mut values = line.split(": ").skip(1).map(str::trim_start);
    if line.contains("${") {
        // The braces of a template end a flow mapping: the commonest slip in our definitions.
        problem.with_hint("inside `[…]` and `{…}` templates must be quoted: [\"${input.x}\"]")
    } else if values.any(|value| value.starts_with(['*', '@'])) {
        // A cron expression: to YAML a star is a reference, and an at sign means nothing yet.
        problem.with_hint("put the value in quotes, such as \"*/15 * * * *\"")
    } else {
        problem
    }
}

/// `!!str` and its kin say nothing new; everything else asks for what we do not have.
fn core_tag(tag: Option<&Tag>, expected: &str, mark: Mark) -> Result<(), Problem> {
    match tag {
        None => Ok(()),
        Some(tag) if tag.is_yaml_core_schema_tag(expected) => Ok(()),
        Some(tag) => {
            Err(
                Problem::new("", mark, format!("the tag {} is not known", tag.original()))
                    .with_hint("remove it"),
            )
        }
    }
}

fn scalar(
    text: &str,
    style: ScalarStyle,
    tag: Option<&Tag>,
    mark: Mark,
) -> Result<Content, Problem> {
    if let Some(tag) = tag {
        if tag.is_yaml_core_schema_tag("str") || tag.original() == "!" {
            return Ok(Content::String(text.into()));
        }
        let typed = plain(text, mark)?;
        let fits = match &typed {
            Content::Null => tag.is_yaml_core_schema_tag("null"),
            Content::Bool(_) => tag.is_yaml_core_schema_tag("bool"),
            Content::Number(_) => {
                tag.is_yaml_core_schema_tag("int") || tag.is_yaml_core_schema_tag("float")
            }
            _ => false,
        };
        if !fits {
            core_tag(Some(tag), "", mark)?;
        }
        return Ok(typed);
    }
    if style == ScalarStyle::Plain {
        plain(text, mark)
    } else {
        Ok(Content::String(text.into()))
    }
}

/// The core schema of YAML 1.2.
fn plain(text: &str, mark: Mark) -> Result<Content, Problem> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Content::Null,
        "true" | "True" | "TRUE" => Content::Bool(true),
        "false" | "False" | "FALSE" => Content::Bool(false),
        _ => match number(text) {
            Some(digits) => Content::Number(digits.into()),
            None if is_infinite(text) => {
                let message = format!("`{text}` has no JSON form");
                return Err(Problem::new("", mark, message).with_hint("quote it if text is meant"));
            }
            None => Content::String(text.into()),
        },
    })
}

fn is_infinite(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN")
}

/// A YAML number as a JSON number; digits stay as they are where JSON allows it.
fn number(text: &str) -> Option<String> {
    let based = |digits: &str, radix| {
        let valid = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        valid
            .then(|| {
                u128::from_str_radix(digits, radix)
                    .ok()
                    .map(|n| n.to_string())
            })
            .flatten()
    };
    if let Some(octal) = text.strip_prefix("0o") {
        return based(octal, 8);
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return based(hex, 16);
    }
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match unsigned.find(['e', 'E']) {
        Some(at) => (&unsigned[..at], Some(&unsigned[at + 1..])),
        None => (unsigned, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    if let Some(exponent) = exponent {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if unsigned.is_empty() || !digits(unsigned) {
            return None;
        }
    }
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let mut json = format!("{sign}{whole}");
    if !fraction.is_empty() {
        json.push('.');
        json.push_str(fraction);
    }
    if let Some(at) = unsigned.find(['e', 'E']) {
        json.push_str(&unsigned[at..]);
    }
    Some(json)
}
