//! Rows as columns: what many parts write goes into one statement as one array per column. Columns have
//! their names and types from one list, and nobody counts parameters.

use uuid::Uuid;

/// The names of columns, and the types of their values.
pub(super) type Columns = &'static [(&'static str, &'static str)];

/// What a column can hold.
pub(super) trait Element {
    /// Its name in SQL.
    const TYPE: &'static str;
}

macro_rules! elements {
    ($($kind:ty = $name:literal),* $(,)?) => {
        $(impl Element for $kind { const TYPE: &'static str = $name; })*
    };
}

elements! {
    Uuid = "uuid",
    i64 = "bigint",
    i32 = "integer",
    i16 = "smallint",
    bool = "boolean",
    &str = "text",
    String = "text",
    &[u8] = "bytea",
    Vec<u8> = "bytea",
}

impl<T: Element> Element for Option<T> {
    const TYPE: &'static str = T::TYPE;
}

/// Rows as columns: each field is a column of that name, and says what a row has in it.
macro_rules! columns {
    ($(#[$about:meta])* $see:vis struct $name:ident($($given:ident: $kind:ty),*) {
        $($(#[$why:meta])* $column:ident: $element:ty = $value:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Default)]
        $see struct $name<'a> {
            $($(#[$why])* $column: Vec<$element>,)*
            rows: std::marker::PhantomData<&'a ()>,
        }

        impl<'a> $name<'a> {
            /// In the order of [`Self::values`].
            $see const COLUMNS: $crate::postgres::write::arrays::Columns = &[
                $((stringify!($column), <$element as $crate::postgres::write::arrays::Element>::TYPE)),*
            ];

            $see fn push(&mut self, $($given: $kind),*) {
                $(self.$column.push($value);)*
            }

            $see fn values(self) -> Vec<$crate::postgres::write::link::Value<'a>> {
                $crate::postgres::write::link::values![$(self.$column),*]
            }
        }
    };
}
pub(super) use columns;

/// A parameter of a statement, or several.
pub(super) enum Parameter {
    /// One value.
    One(&'static str),
    /// One array per column.
    Arrays(&'static str, Columns),
}

/// Fills the parameters in, which are numbered in their order:
///
/// - `{now}`: one value;
/// - `{work}`: the rows, as `given`; `{moved+work}`: rows side by side;
/// - `{work.step}`: the array of one column;
/// - `{work.names}`, `{work.given}`, `{work.replaced}`: `step, …`, `given.step, …` and
///   `step = excluded.step, …`, with `!execution,step` without those.
///
/// What names nothing stays as it is, and the server refuses it: the tests write with every statement.
pub(super) fn statement(text: &str, parameters: &[Parameter]) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (hole, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&filled(hole, parameters));
        rest = after;
    }
    out + rest
}

fn filled(hole: &str, parameters: &[Parameter]) -> String {
    let (hole, without) = hole.split_once('!').unwrap_or((hole, ""));
    let without: Vec<&str> = without.split(',').collect();
    let Some((group, what)) = hole.split_once('.') else {
        if let Some(number) = one(hole, parameters) {
            return format!("${number}");
        }
        let all: Vec<_> = hole
            .split('+')
            .flat_map(|group| arrays(group, parameters))
            .collect();
        let arrays: Vec<String> = all
            .iter()
            .map(|(number, _, kind)| format!("${number}::{kind}[]"))
            .collect();
        let names: Vec<&str> = all.iter().map(|(_, name, _)| *name).collect();
        return format!(
            "unnest({}) AS given ({})",
            arrays.join(", "),
            names.join(", ")
        );
    };
    let all = arrays(group, parameters);
    let names = all.iter().map(|(_, name, _)| *name);
    let names = names.filter(|name| !without.contains(name));
    let written: Vec<String> = match what {
        "names" => names.map(str::to_owned).collect(),
        "given" => names.map(|name| format!("given.{name}")).collect(),
        "replaced" => names
            .map(|name| format!("{name} = excluded.{name}"))
            .collect(),
        column => {
            let found = all.iter().find(|(_, name, _)| *name == column);
            return match found {
                Some((number, _, kind)) => format!("${number}::{kind}[]"),
                None => format!("{{{hole}}}"),
            };
        }
    };
    written.join(", ")
}

/// The number of a single value.
fn one(name: &str, parameters: &[Parameter]) -> Option<usize> {
    let mut number = 1;
    for parameter in parameters {
        match parameter {
            Parameter::One(other) if *other == name => return Some(number),
            Parameter::One(_) => number += 1,
            Parameter::Arrays(_, columns) => number += columns.len(),
        }
    }
    None
}

/// The columns of a group: number, name, type.
fn arrays(group: &str, parameters: &[Parameter]) -> Vec<(usize, &'static str, &'static str)> {
    let mut number = 1;
    for parameter in parameters {
        match parameter {
            Parameter::One(_) => number += 1,
            Parameter::Arrays(name, columns) if *name == group => {
                // Words of Rust are written with a mark.
                let numbered = columns.iter().zip(number..);
                let plain = |name: &'static str| name.strip_prefix("r#").unwrap_or(name);
                return numbered
                    .map(|((name, kind), number)| (number, plain(name), *kind))
                    .collect();
            }
            Parameter::Arrays(_, columns) => number += columns.len(),
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Columns = &[("execution", "uuid"), ("step", "text"), ("r#type", "text")];

    #[test]
    fn parameters_are_numbered_in_their_order() {
        let parameters = [
            Parameter::Arrays("ids", &[("id", "uuid")]),
            Parameter::One("now"),
            Parameter::Arrays("work", WORK),
        ];
        for (text, expected) in [
            ("at {now}", "at $2"),
            ("ANY({ids.id})", "ANY($1::uuid[])"),
            ("{work.names}", "execution, step, type"),
            ("{work.given!step}", "given.execution, given.type"),
            ("{work.replaced!execution,step}", "type = excluded.type"),
            (
                "FROM {ids+work} x",
                "FROM unnest($1::uuid[], $3::uuid[], $4::text[], $5::text[]) \
                 AS given (id, execution, step, type) x",
            ),
        ] {
            assert_eq!(statement(text, &parameters), expected);
        }
    }
}
