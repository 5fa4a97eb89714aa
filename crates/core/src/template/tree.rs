//! A JSON value whose strings are templates: a request body, query values, the output.
//!
//! Keys of objects are literal text. Numbers keep the digits of the source.

use super::{Part, Reference, RenderError, Scope, Template, TemplateError, bounded};
use crate::definition::source::{Content, Mark, Node};
use crate::json::{Json, scan};

/// A compiled value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree(Shape);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// JSON text without any reference in it; whole branches are folded into one.
    Literal(Box<str>),
    Template(Template),
    Array(Vec<Shape>),
    Object(Vec<(Box<str>, Shape)>),
}

/// A string somewhere in the value that is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{error}")]
pub struct TreeError {
    /// The way from the value's root, such as `.customer[0]`.
    pub path: String,
    /// Where in the source.
    pub mark: Mark,
    /// What is wrong with the string.
    pub error: TemplateError,
}

impl Tree {
    /// Compiles every string of the value.
    ///
    /// # Errors
    /// One error for each string that is not a template.
    pub fn compile(node: &Node) -> Result<Self, Vec<TreeError>> {
        let mut errors = Vec::new();
        let shape = shape(node, &mut String::new(), &mut errors);
        if errors.is_empty() {
            Ok(Self(shape))
        } else {
            Err(errors)
        }
    }

    /// Every reference in it, in order of appearance.
    #[must_use]
    pub fn references(&self) -> Vec<&Reference> {
        let mut all = Vec::new();
        self.0
            .each(&mut |template| all.extend(template.references()));
        all
    }

    /// Every reference that must have a value: those without a default, in order of appearance.
    pub(crate) fn required(&self) -> Vec<&Reference> {
        let mut all = Vec::new();
        self.0.each(&mut |template| all.extend(template.required()));
        all
    }

    /// Whether there is no reference in it.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        matches!(self.0, Shape::Literal(_))
    }

    /// The value.
    ///
    /// # Errors
    /// When a reference has no value or the result is too large.
    pub fn render(&self, scope: &dyn Scope) -> Result<Json, RenderError> {
        let mut out = String::new();
        self.0.render(scope, &mut out)?;
        Ok(Json::composed(out)?)
    }
}

impl Shape {
    /// Visits every template, in order of appearance.
    fn each<'a>(&'a self, visit: &mut impl FnMut(&'a Template)) {
        match self {
            Self::Literal(_) => {}
            Self::Template(template) => visit(template),
            Self::Array(items) => items.iter().for_each(|item| item.each(visit)),
            Self::Object(members) => members.iter().for_each(|(_, value)| value.each(visit)),
        }
    }

    fn render(&self, scope: &dyn Scope, out: &mut String) -> Result<(), RenderError> {
        match self {
            Self::Literal(text) => out.push_str(text),
            Self::Template(template) => template.render_into(scope, out)?,
            Self::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.render(scope, out)?;
                }
                out.push(']');
            }
            Self::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    scan::write_string(out, key);
                    out.push(':');
                    value.render(scope, out)?;
                }
                out.push('}');
            }
        }
        bounded(out)
    }

    /// The text of a branch that has no reference anywhere.
    fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            _ => None,
        }
    }
}

fn shape(node: &Node, path: &mut String, errors: &mut Vec<TreeError>) -> Shape {
    let at = path.len();
    match &node.content {
        Content::Null => Shape::Literal("null".into()),
        Content::Bool(value) => Shape::Literal(value.to_string().into()),
        Content::Number(digits) => Shape::Literal(digits.clone()),
        Content::String(text) => match Template::parse(text) {
            Ok(template) => from_template(template),
            Err(error) => {
                errors.push(TreeError {
                    path: path.clone(),
                    mark: node.mark,
                    error,
                });
                Shape::Literal("null".into())
            }
        },
        Content::Sequence(items) => {
            let mut shapes = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                path.push_str(&format!("[{index}]"));
                shapes.push(shape(item, path, errors));
                path.truncate(at);
            }
            fold_array(shapes)
        }
        Content::Mapping(members) => {
            let mut shapes = Vec::with_capacity(members.len());
            for (key, value) in members {
                path.push('.');
                path.push_str(&key.text);
                shapes.push((key.text.clone(), shape(value, path, errors)));
                path.truncate(at);
            }
            fold_object(shapes)
        }
    }
}

fn from_template(template: Template) -> Shape {
    match template.parts.as_slice() {
        [] => Shape::Literal("\"\"".into()),
        [Part::Text(text)] => {
            let mut out = String::with_capacity(text.len() + 2);
            scan::write_string(&mut out, text);
            Shape::Literal(out.into())
        }
        _ => Shape::Template(template),
    }
}

fn fold_array(items: Vec<Shape>) -> Shape {
    let Some(texts) = items.iter().map(Shape::literal).collect::<Option<Vec<_>>>() else {
        return Shape::Array(items);
    };
    Shape::Literal(format!("[{}]", texts.join(",")).into())
}

fn fold_object(members: Vec<(Box<str>, Shape)>) -> Shape {
    if members.iter().any(|(_, value)| value.literal().is_none()) {
        return Shape::Object(members);
    }
    let mut out = String::from("{");
    for (at, (key, value)) in members.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        scan::write_string(&mut out, key);
        out.push(':');
        out.push_str(value.literal().unwrap_or("null"));
    }
    out.push('}');
    Shape::Literal(out.into())
}
