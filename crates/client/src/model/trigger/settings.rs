//! What a trigger was told, field by field and byte for byte.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::model::Raw;

/// Fields in their order, each with its value as it was written.
#[derive(Debug, Clone, Default)]
pub struct TriggerSettings(Vec<(String, Raw)>);

impl TriggerSettings {
    /// Adds a field.
    pub fn push(&mut self, name: impl Into<String>, value: Raw) {
        self.0.push((name.into(), value));
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Raw> {
        let mut fields = self.0.iter();
        fields
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
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
        self.0.retain(|(name, _)| !names.contains(&name.as_str()));
        self
    }
}

impl Serialize for TriggerSettings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for TriggerSettings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = TriggerSettings;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<TriggerSettings, A::Error> {
        let mut fields = TriggerSettings::default();
        while let Some((name, value)) = map.next_entry::<String, Raw>()? {
            fields.push(name, value);
        }
        Ok(fields)
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
