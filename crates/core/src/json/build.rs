//! Putting JSON together by splicing values in as they are.
//!
//! Values go in as raw text and are never decoded, so what a target sent stays byte for byte.

use super::{Json, scan};

/// Builds an object; members stand in the order they were added.
#[derive(Debug, Clone)]
pub struct ObjectBuilder {
    text: String,
}

impl ObjectBuilder {
    /// An empty object.
    #[must_use]
    pub fn new() -> Self {
        Self {
            text: String::from("{"),
        }
    }

    /// Adds a value as it is.
    #[must_use]
    pub fn json(mut self, key: &str, value: &Json) -> Self {
        self.push_raw(key, value.as_str());
        self
    }

    /// Adds a string.
    #[must_use]
    pub fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        scan::write_string(&mut self.text, value);
        self
    }

    /// Adds a whole number.
    #[must_use]
    pub fn number(mut self, key: &str, value: u64) -> Self {
        self.push_raw(key, &value.to_string());
        self
    }

    /// Adds a value as it is, for loops.
    pub fn push(&mut self, key: &str, value: &Json) {
        self.push_raw(key, value.as_str());
    }

    /// Adds raw text that is known to be a JSON value.
    pub(crate) fn push_raw(&mut self, key: &str, value: &str) {
        self.key(key);
        self.text.push_str(value);
    }

    fn key(&mut self, key: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        scan::write_string(&mut self.text, key);
        self.text.push(':');
    }

    /// The finished object.
    #[must_use]
    pub fn build(mut self) -> Json {
        self.text.push('}');
        Json::trusted(self.text)
    }
}

impl Default for ObjectBuilder {
    fn default() -> Self {
        Self::new()
    }
}

/// Builds an array.
#[derive(Debug, Clone)]
pub struct ArrayBuilder {
    text: String,
}

impl ArrayBuilder {
    /// An empty array.
    #[must_use]
    pub fn new() -> Self {
        Self {
            text: String::from("["),
        }
    }

    /// Adds a value as it is.
    pub fn push(&mut self, value: &Json) {
        self.push_raw(value.as_str());
    }

    /// Adds raw text that is known to be a JSON value.
    pub(crate) fn push_raw(&mut self, value: &str) {
        if self.text.len() > 1 {
            self.text.push(',');
        }
        self.text.push_str(value);
    }

    /// The finished array.
    #[must_use]
    pub fn build(mut self) -> Json {
        self.text.push(']');
        Json::trusted(self.text)
    }
}

impl Default for ArrayBuilder {
    fn default() -> Self {
        Self::new()
    }
}
