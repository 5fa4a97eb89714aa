//! What the API's description says of values that have no type of their own here.

use utoipa::openapi::schema::{AnyOfBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{KnownFormat, RefOr, Schema, SchemaFormat};
use utoipa::{PartialSchema, ToSchema};

/// An input: any JSON but null.
pub struct Input;

impl PartialSchema for Input {
    fn schema() -> RefOr<Schema> {
        let types = [
            Type::Object,
            Type::Array,
            Type::String,
            Type::Number,
            Type::Boolean,
        ];
        ObjectBuilder::new()
            .schema_type(SchemaType::from_iter(types))
            .description(Some("Any JSON but null"))
            .into()
    }
}

impl ToSchema for Input {}

/// An address of either kind, or none.
pub struct MaybeAddress;

impl PartialSchema for MaybeAddress {
    fn schema() -> RefOr<Schema> {
        let text = |format| {
            ObjectBuilder::new()
                .schema_type(Type::String)
                .format(Some(SchemaFormat::KnownFormat(format)))
        };
        AnyOfBuilder::new()
            .item(text(KnownFormat::Ipv4))
            .item(text(KnownFormat::Ipv6))
            .item(ObjectBuilder::new().schema_type(Type::Null))
            .into()
    }
}

impl ToSchema for MaybeAddress {}
