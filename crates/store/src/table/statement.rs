//! Statements with holes for their parameters, which are filled from lists of columns.

use super::column::Columns;
use crate::postgres::type_of;
use crate::table::Kind;

/// Whose language a statement is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Backend {
    Postgres,
    Sqlite,
}

/// A parameter of a statement, or several.
#[derive(Clone, Copy)]
pub(crate) enum Parameter {
    /// One value.
    One(&'static str),
    /// One array per column; for SQLite one value per column.
    Columns(&'static str, Columns),
}

/// Statements, each with its parameters in their order: a name is one value, a name with a list of columns
/// one of each.
macro_rules! statements {
    ($($(#[$about:meta])* $see:vis $name:ident:
        $backend:ident($($group:ident $(: $columns:ty)?),*) = $text:expr;)*) => {$(
        $(#[$about])*
        $see static $name: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
            use $crate::table::statement::Parameter;
            let parameters: &[Parameter] =
                &[$($crate::table::statement::parameter!($group $(: $columns)?)),*];
            $crate::table::statement::$backend($text, parameters)
        });
    )*};
}
macro_rules! parameter {
    ($name:ident) => {
        Parameter::One(stringify!($name))
    };
    ($group:ident: $columns:ty) => {
        Parameter::Columns(stringify!($group), <$columns>::COLUMNS)
    };
}
pub(crate) use {parameter, statements};

/// Fills the parameters in, which are numbered in their order:
///
/// - `{now}`: one value;
/// - `{work}`: the rows, as `given`; `{moved+work}`: rows side by side;
/// - `{work.step}`: the array of one column;
/// - `{work.names}`, `{work.given}`, `{work.set}`, `{work.replaced}`: `step, …`, `given.step, …`,
///   `step = given.step, …` and `step = excluded.step, …`, with `!execution,step` without those.
///
/// What names nothing stays as it is, and the server refuses it: the tests write with every statement.
pub(crate) fn postgres(text: &str, parameters: &[Parameter]) -> String {
    fill(Backend::Postgres, text, parameters)
}

/// The same where a statement writes one row: `{work.step}`, `{work.values}` and `{work.set}` are its
/// values.
pub(crate) fn sqlite(text: &str, parameters: &[Parameter]) -> String {
    fill(Backend::Sqlite, text, parameters)
}

fn fill(backend: Backend, text: &str, parameters: &[Parameter]) -> String {
    let numbered = numbered(parameters);
    let mut out = String::with_capacity(text.len() * 2);
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (hole, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&filled(backend, hole, &numbered));
        rest = after;
    }
    out + rest
}

/// A parameter with its number.
struct Numbered {
    /// Empty for those that are one value.
    group: &'static str,
    name: &'static str,
    number: usize,
    /// What the column holds.
    kind: Option<Kind>,
}

impl Numbered {
    fn written(&self, backend: Backend) -> String {
        match (backend, self.kind) {
            (Backend::Sqlite, _) => format!("?{}", self.number),
            (Backend::Postgres, None) => format!("${}", self.number),
            (Backend::Postgres, Some(kind)) => {
                format!("${}::{}[]", self.number, type_of(kind).name())
            }
        }
    }
}

fn numbered(parameters: &[Parameter]) -> Vec<Numbered> {
    let mut numbered = Vec::new();
    for parameter in parameters {
        let (group, columns) = match parameter {
            Parameter::One(name) => ("", vec![(*name, None)]),
            Parameter::Columns(group, columns) => {
                let columns = columns.iter().map(|(name, kind)| (*name, Some(*kind)));
                (*group, columns.collect())
            }
        };
        for (name, kind) in columns {
            numbered.push(Numbered {
                group,
                name,
                number: numbered.len() + 1,
                kind,
            });
        }
    }
    numbered
}

fn filled(backend: Backend, hole: &str, parameters: &[Numbered]) -> String {
    let (hole, without) = hole.split_once('!').unwrap_or((hole, ""));
    let without: Vec<&str> = without.split(',').collect();
    let of = |group: &str| {
        parameters
            .iter()
            .filter(move |it| it.group == group)
            .collect()
    };
    let (group, what) = hole.split_once('.').unwrap_or(("", hole));
    let columns: Vec<&Numbered> = of(group);
    if let Some(found) = columns.iter().find(|column| column.name == what) {
        return found.written(backend);
    }
    if group.is_empty() {
        let rows: Vec<&Numbered> = hole.split('+').flat_map(of).collect();
        let arrays: Vec<String> = rows.iter().map(|column| column.written(backend)).collect();
        let names: Vec<&str> = rows.iter().map(|column| column.name).collect();
        let (arrays, names) = (arrays.join(", "), names.join(", "));
        return format!("unnest({arrays}) AS given ({names})");
    }
    let columns = columns.iter().filter(|it| !without.contains(&it.name));
    let written = columns.map(|column| {
        let name = column.name;
        match (what, backend) {
            ("names", _) => name.to_owned(),
            ("given", _) => format!("given.{name}"),
            ("values", _) => column.written(backend),
            ("set", Backend::Postgres) => format!("{name} = given.{name}"),
            ("set", Backend::Sqlite) => format!("{name} = {}", column.written(backend)),
            ("replaced", _) => format!("{name} = excluded.{name}"),
            _ => format!("{{{hole}}}"),
        }
    });
    written.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORK: Columns = &[
        ("execution", Kind::Id),
        ("step", Kind::Text),
        ("type", Kind::Text),
    ];
    const PARAMETERS: [Parameter; 3] = [
        Parameter::Columns("ids", &[("id", Kind::Id)]),
        Parameter::One("now"),
        Parameter::Columns("work", WORK),
    ];

    #[test]
    fn parameters_are_numbered_in_their_order() {
        for (text, expected) in [
            ("at {now}", "at $2"),
            ("ANY({ids.id})", "ANY($1::uuid[])"),
            ("{work.names}", "execution, step, type"),
            ("{work.given!step}", "given.execution, given.type"),
            ("{work.set!step,type}", "execution = given.execution"),
            ("{work.replaced!execution,step}", "type = excluded.type"),
            (
                "FROM {ids+work} x",
                "FROM unnest($1::uuid[], $3::uuid[], $4::text[], $5::text[]) \
                 AS given (id, execution, step, type) x",
            ),
        ] {
            assert_eq!(postgres(text, &PARAMETERS), expected);
        }
    }

    #[test]
    fn a_row_has_a_value_for_each_column() {
        for (text, expected) in [
            ("at {now}", "at ?2"),
            ("{work.step}", "?4"),
            ("{work.values}", "?3, ?4, ?5"),
            ("{work.set!execution}", "step = ?4, type = ?5"),
        ] {
            assert_eq!(sqlite(text, &PARAMETERS), expected);
        }
    }
}
