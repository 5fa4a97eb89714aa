//! What a parameter may be: a value or none, or a list of values.

use std::fmt::Display;
use std::str::FromStr;

#[cfg(feature = "openapi")]
use utoipa::openapi::path::{ParameterBuilder, ParameterIn, ParameterStyle};
#[cfg(feature = "openapi")]
use utoipa::openapi::{ArrayBuilder, ObjectBuilder, RefOr, Required, Schema, Type};

/// What a text is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Any text.
    Text,
    /// A whole number from 1 on.
    Number,
    /// `true` or `false`.
    Flag,
    /// A word of a closed list.
    Word,
}

/// One value.
pub trait Value: Display + FromStr<Err: Display> {
    /// What its text is read as.
    const KIND: Kind = Kind::Word;

    /// What OpenAPI says of it.
    #[cfg(feature = "openapi")]
    fn schema() -> RefOr<Schema>;
}

/// A parameter.
pub trait Parameter: Default {
    /// What its values are read as.
    const KIND: Kind;
    /// Whether it takes several values, separated by commas or each by itself.
    const IS_LIST: bool;

    /// As it is sent; none if it is not given.
    fn text(&self) -> Option<String>;

    /// Adds a value.
    fn add(&mut self, text: &str) -> Result<(), String>;

    /// What OpenAPI says of it.
    #[cfg(feature = "openapi")]
    fn described(name: &str, about: &str) -> utoipa::openapi::path::Parameter;
}

impl<V: Value> Parameter for Option<V> {
    const KIND: Kind = V::KIND;
    const IS_LIST: bool = false;

    fn text(&self) -> Option<String> {
        self.as_ref().map(ToString::to_string)
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        *self = Some(read(text)?);
        Ok(())
    }

    #[cfg(feature = "openapi")]
    fn described(name: &str, about: &str) -> utoipa::openapi::path::Parameter {
        described(name, about).schema(Some(V::schema())).build()
    }
}

impl<V: Value> Parameter for Vec<V> {
    const KIND: Kind = V::KIND;
    const IS_LIST: bool = true;

    fn text(&self) -> Option<String> {
        let all: Vec<String> = self.iter().map(ToString::to_string).collect();
        (!all.is_empty()).then(|| all.join(","))
    }

    fn add(&mut self, text: &str) -> Result<(), String> {
        self.push(read(text)?);
        Ok(())
    }

    #[cfg(feature = "openapi")]
    fn described(name: &str, about: &str) -> utoipa::openapi::path::Parameter {
        let list = ArrayBuilder::new().items(V::schema());
        described(name, about)
            .schema(Some(list))
            .style(Some(ParameterStyle::Form))
            .explode(Some(false))
            .build()
    }
}

fn read<V: Value>(text: &str) -> Result<V, String> {
    text.parse().map_err(|error: V::Err| error.to_string())
}

#[cfg(feature = "openapi")]
fn described(name: &str, about: &str) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .description(Some(about.trim()))
        .required(Required::False)
}

macro_rules! values {
    ($($type:ty: $kind:ident, $schema:ident;)*) => { $(
        impl Value for $type {
            const KIND: Kind = Kind::$kind;

            #[cfg(feature = "openapi")]
            fn schema() -> RefOr<Schema> {
                ObjectBuilder::new().schema_type(Type::$schema).into()
            }
        }
    )* };
}

values! {
    String: Text, String;
    u32: Number, Integer;
    bool: Flag, Boolean;
}
