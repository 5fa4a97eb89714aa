//! A trigger as a tree of what was written: what is said of it before it is understood.
//!
//! `input` stands beside the tree as the text that was received, because a tree forgets white space
//! and escapes.

use super::keys::{CRON, SCHEDULE, WEBHOOK};
use crate::definition::Problem;
use crate::definition::canonical::ordered;
use crate::definition::keys::{Known, snake};
use crate::definition::source::{Content, Key, Mark, Node};
use crate::json::{Json, ObjectBuilder, Segment};
use crate::time::Timestamp;
use zeroize::Zeroizing;

/// A mapping and the raw text of its `input`.
#[derive(Debug, Clone)]
pub(super) struct Written {
    /// Always a mapping.
    pub(super) node: Node,
    pub(super) input: Option<Json>,
}

impl Written {
    /// Reads JSON or YAML.
    pub(super) fn parse(source: &str) -> Result<Self, Problem> {
        let node = Node::parse(source)?;
        if !matches!(node.content, Content::Mapping(_)) {
            let message = format!(
                "a trigger is a mapping with `trigger_type`, not {}",
                node.kind()
            );
            return Err(Problem::new("", node.mark, message));
        }
        let raw = || {
            let path = [Segment::Key("input".into())];
            Json::parse(source).ok()?.at(&path)
        };
        let input = node
            .get("input")
            .filter(|input| input.content != Content::Null)
            .map(|input| raw().unwrap_or_else(|| input.to_json()));
        Ok(Self { node, input })
    }

    /// Reads what was stored. Nobody who is told of a problem has that text, so nothing in it has a
    /// place.
    pub(super) fn stored(text: &str) -> Result<Self, Problem> {
        let mut written = Self::parse(text).map_err(|problem| Problem {
            line: Mark::NOWHERE.line,
            column: Mark::NOWHERE.column,
            ..problem
        })?;
        unplace(&mut written.node);
        Ok(written)
    }

    /// The members of the mapping.
    pub(super) fn members(&self) -> &[(Key, Node)] {
        match &self.node.content {
            Content::Mapping(members) => members,
            _ => &[],
        }
    }

    /// What is said under a name, in any spelling of it.
    fn said(&self, name: &str) -> Option<&Node> {
        let known = table_of(name);
        self.members()
            .iter()
            .find(|(key, _)| known.map_or(&*key.text == name, |known| known.is(&key.text)))
            .map(|(_, node)| node)
            .filter(|node| node.content != Content::Null)
    }

    /// The problem of a change that wants another kind.
    pub(super) fn other_kind(&self, kind: &str) -> Option<Problem> {
        let known = table_of("trigger_type")?;
        let (key, node) = self.members().iter().find(|(key, _)| known.is(&key.text))?;
        let same = node
            .as_str()
            .is_some_and(|word| word.eq_ignore_ascii_case(kind));
        (!same).then(|| {
            let message = format!("the type of a trigger cannot be changed; it is `{kind}`");
            Problem::new(&*key.text, node.mark, message).with_hint("create another trigger")
        })
    }

    /// The same with an anchor, if there is an interval that has none.
    pub(super) fn anchored(mut self, now: Timestamp) -> Self {
        let every = self.said("every").map(|every| &every.content);
        let is_interval = matches!(every, Some(Content::String(_) | Content::Number(_)))
            && self.other_kind("schedule").is_none();
        let counts_from = ["anchor", "start"];
        if !is_interval || counts_from.iter().any(|name| self.said(name).is_some()) {
            return self;
        }
        if let Content::Mapping(members) = &mut self.node.content {
            members.retain(|(key, _)| &*key.text != "anchor");
            let key = Key {
                mark: Mark::NOWHERE,
                text: "anchor".into(),
            };
            let value = Node {
                mark: Mark::NOWHERE,
                content: Content::String(now.to_string().into()),
            };
            members.push((key, value));
        }
        self
    }

    /// A change laid over this.
    pub(super) fn merged(&self, patch: &Self) -> Self {
        let says = |written: &Self, name: &str| {
            written.members().iter().any(|(key, _)| &*key.text == name)
        };
        let input = if says(patch, "input") {
            patch.input.clone()
        } else {
            self.input.clone()
        };
        let anchor_said = says(patch, "anchor");
        // `input` is a value and not a mapping of ours.
        let changes = patch.canonical_node();
        let mut node = self.canonical_node().merged(changes, |key| key == "input");
        let ends = self.said("every").is_some() && node.get("every").is_none();
        if let Content::Mapping(members) = &mut node.content
            && ends
            && !anchor_said
        {
            // The interval is gone, and with it where it counted from.
            members.retain(|(key, _)| &*key.text != "anchor");
        }
        Self { node, input }
    }

    /// Documented names in their order; what nobody knows belongs to the kind and follows.
    fn canonical_node(&self) -> Node {
        let table = if self.said("cron_expression").is_some() {
            CRON
        } else {
            SCHEDULE
        };
        let mut node = ordered(self.node.clone(), table);
        if let Content::Mapping(members) = &mut node.content {
            for (key, value) in members {
                if !table.iter().any(|known| known.name == &*key.text) {
                    key.text = snake(&key.text).into();
                    let known = WEBHOOK.iter().find(|known| known.name == &*key.text);
                    spell(value, known.map_or(&[], |known| known.below));
                }
            }
        }
        node
    }

    /// What is stored.
    pub(super) fn text(&self) -> Json {
        self.render(|key, node| key != "enabled" && node.content != Content::Null)
    }

    fn render(&self, keep: impl Fn(&str, &Node) -> bool) -> Json {
        let mut object = ObjectBuilder::new();
        let node = self.canonical_node();
        let Content::Mapping(members) = &node.content else {
            return Json::empty_object();
        };
        for (key, node) in members {
            match &self.input {
                _ if !keep(&key.text, node) => {}
                Some(input) if &*key.text == "input" => object.push("input", input),
                _ => object.push(&key.text, &node.to_json()),
            }
        }
        object.build()
    }

    /// Where the secret is said to be none.
    pub(super) fn no_secret(&self) -> Option<Mark> {
        let mut members = self.members().iter();
        let (_, node) = members.find(|(key, _)| &*key.text == "secret")?;
        (node.content == Content::Null).then_some(node.mark)
    }

    /// Takes a secret out of it, so that it is never among what is stored.
    pub(super) fn take_secret(&mut self) -> Result<Option<GivenSecret>, Problem> {
        let Some((key, node)) = self.take("secret") else {
            return Ok(None);
        };
        match node.content {
            Content::Null => Ok(None),
            Content::String(text) => Ok(Some(GivenSecret {
                text: Zeroizing::new(text.into()),
                mark: node.mark,
            })),
            _ => {
                let message = format!("expected a string, found {}", node.kind());
                Err(Problem::new(&*key.text, node.mark, message))
            }
        }
    }

    /// Takes a member out that is no setting.
    pub(super) fn take(&mut self, name: &str) -> Option<(Key, Node)> {
        let Content::Mapping(members) = &mut self.node.content else {
            return None;
        };
        let at = members.iter().position(|(key, _)| &*key.text == name)?;
        Some(members.remove(at))
    }

    /// Where a field stands.
    pub(super) fn place(&self, name: &str) -> Mark {
        self.said(name).unwrap_or(&self.node).mark
    }
}

/// A secret that came with a request, and where it stood.
#[derive(Clone)]
pub(super) struct GivenSecret {
    pub(super) text: Zeroizing<String>,
    pub(super) mark: Mark,
}

/// Gives keys their documented names, and leaves them where they are.
fn spell(node: &mut Node, table: &[Known]) {
    match &mut node.content {
        Content::Mapping(members) => {
            for (key, _) in members {
                if let Some(known) = table.iter().find(|known| known.is(&key.text)) {
                    key.text = known.name.into();
                }
            }
        }
        Content::Sequence(items) => items.iter_mut().for_each(|item| spell(item, table)),
        _ => {}
    }
}

/// Forgets where things stand.
fn unplace(node: &mut Node) {
    node.mark = Mark::NOWHERE;
    match &mut node.content {
        Content::Mapping(members) => {
            for (key, node) in members {
                key.mark = Mark::NOWHERE;
                unplace(node);
            }
        }
        Content::Sequence(items) => items.iter_mut().for_each(unplace),
        _ => {}
    }
}

fn table_of(name: &str) -> Option<&'static Known> {
    let mut all = CRON.iter().chain(SCHEDULE);
    all.find(|known| known.name == name)
}
