//! What a trigger was told, field by field and byte for byte.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::model::Raw;

/// Fields in their order, each with its value as it was written.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TriggerSettings(IndexMap<String, Raw>);

impl TriggerSettings {
    /// Adds a field.
    pub fn push(&mut self, name: impl Into<String>, value: Raw) {
        self.0.insert(name.into(), value);
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Raw> {
        self.0.get(name)
    }

    /// The value of a field that holds a text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?.get()).ok()
    }

    /// All fields.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Raw)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// The same without these fields.
    pub(super) fn without(mut self, names: &[&str]) -> Self {
        self.0.retain(|name, _| !names.contains(&name.as_str()));
        self
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for TriggerSettings {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .additional_properties(Some(
                utoipa::openapi::schema::AdditionalProperties::FreeForm(true),
            ))
            .description(Some(
                "The settings of the trigger, such as `cron_expression`, `timezone`, `overlap`, `input`",
            ))
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for TriggerSettings {}
