//! A time in which alerts are told to nobody. It hides messages and not states.

use crate::definition::fields::{Field, Fields};
use crate::definition::keys::Known;
use crate::definition::source::Node;
use crate::definition::{Problem, Problems};
use crate::id::AlertRuleId;
use crate::time::Timestamp;

/// The longest comment, in characters.
pub const COMMENT_CHARS_MAX: usize = 1_000;
/// The longest subject, in characters.
pub const SUBJECT_CHARS_MAX: usize = 255;
/// The longest silence.
pub const LENGTH_MAX: std::time::Duration = std::time::Duration::from_secs(366 * 24 * 60 * 60);

const KEYS: &[Known] = &[
    Known::also("rule", &["rule_id"]),
    Known::mistaken_for("subject", &["workflow"]),
    Known::mistaken_for("starts_at", &["from", "start"]),
    Known::mistaken_for("ends_at", &["to", "until", "end"]),
    Known::mistaken_for("comment", &["reason"]),
];

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Silence {
    /// Only of this rule.
    pub rule: Option<AlertRuleId>,
    /// Only about this: a workflow, a trigger, a worker, a host.
    pub subject: Option<String>,
    /// When it begins.
    pub starts_at: Timestamp,
    /// When it ends.
    pub ends_at: Timestamp,
    /// Why.
    pub comment: Option<String>,
}

impl Silence {
    /// Reads one that begins now unless it says otherwise. A rule may be named by its id or its name, which
    /// `rule` looks up.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text.
    pub fn read(
        source: &str,
        now: Timestamp,
        rule: impl Fn(&str) -> Option<AlertRuleId>,
    ) -> Result<Self, Problems> {
        let node = Node::parse(source)?;
        let mut problems = Problems::new();
        match read(&node, now, rule, &mut problems) {
            Some(silence) if problems.is_empty() => Ok(silence),
            _ => Err(problems.sorted()),
        }
    }

    /// Whether it hides what a rule says about a subject at a moment.
    #[must_use]
    pub fn hides(&self, rule: AlertRuleId, subject: &str, now: Timestamp) -> bool {
        self.starts_at <= now
            && now < self.ends_at
            && self.rule.is_none_or(|asked| asked == rule)
            && self.subject.as_deref().is_none_or(|asked| asked == subject)
    }
}

fn read(
    node: &Node,
    now: Timestamp,
    rule: impl Fn(&str) -> Option<AlertRuleId>,
    problems: &mut Problems,
) -> Option<Silence> {
    let fields = Field::new("", node).fields(KEYS, problems)?;
    let of_rule = fields.get("rule").map(|field| {
        let text = field.text(problems)?;
        let found = rule(text);
        if found.is_none() {
            problems.push(field.problem(format!("there is no rule \"{text}\"")));
        }
        found
    });
    let starts_at = match fields.get("starts_at") {
        Some(field) => time(&field, problems),
        None => Some(now),
    };
    let until = fields.required("ends_at", problems);
    let ends_at = until.as_ref().and_then(|field| time(field, problems));
    if let (Some(field), Some(starts_at), Some(ends_at)) = (&until, starts_at, ends_at) {
        let wrong = if ends_at <= starts_at {
            Some("it ends before it begins".to_owned())
        } else if ends_at <= now {
            Some("it is over already".to_owned())
        } else if ends_at.since(starts_at) > LENGTH_MAX {
            Some("a silence lasts at most 366 days".to_owned())
        } else {
            None
        };
        if let Some(message) = wrong {
            problems.push(field.problem(message));
        }
    }
    let subject = limited(&fields, "subject", SUBJECT_CHARS_MAX, problems);
    let comment = limited(&fields, "comment", COMMENT_CHARS_MAX, problems);
    Some(Silence {
        rule: of_rule.unwrap_or(None),
        subject,
        starts_at: starts_at?,
        ends_at: ends_at?,
        comment,
    })
}

fn time(field: &Field<'_>, problems: &mut Problems) -> Option<Timestamp> {
    let text = field.text(problems)?;
    field.keep(text.parse::<Timestamp>(), problems)
}

fn limited(
    fields: &Fields<'_>,
    name: &'static str,
    chars_max: usize,
    problems: &mut Problems,
) -> Option<String> {
    let field = fields.get(name)?;
    let text = field.text(problems)?;
    if text.is_empty() || text.chars().count() > chars_max {
        let message = format!("expected from 1 to {chars_max} characters");
        problems.push(Problem {
            hint: None,
            ..field.problem(message)
        });
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    fn read(source: &str) -> Result<Silence, String> {
        let rule = AlertRuleId::from_bytes([7; 16]);
        let find = |name: &str| (name == "slow" || name == rule.to_string()).then_some(rule);
        Silence::read(source, NOW, find).map_err(|problems| problems.to_string())
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (source, expected) in [
            ("{}", "`ends_at` is required"),
            ("ends_at: soon", "not an RFC 3339 time"),
            (
                "{starts_at: 2027-02-01T00:00:00Z, ends_at: 2027-01-31T00:00:00Z}",
                "ends_at (line 1): it ends before it begins",
            ),
            ("ends_at: 2020-01-01T00:00:00Z", "it ends before it begins"),
            (
                "{starts_at: 2020-01-01T00:00:00Z, ends_at: 2020-01-02T00:00:00Z}",
                "it is over already",
            ),
            ("ends_at: 2099-01-01T00:00:00Z", "at most 366 days"),
            (
                "{ends_at: 2027-01-16T00:00:00Z, rule: no}",
                "there is no rule \"no\"",
            ),
            (
                "{ends_at: 2027-01-16T00:00:00Z, subject: ''}",
                "from 1 to 255",
            ),
            ("{until: 2027-01-16T00:00:00Z}", "did you mean \"ends_at\"?"),
            ("[]", "expected a mapping"),
        ] {
            let wrong = read(source).unwrap_err();
            assert!(wrong.contains(expected), "{source}: {wrong}");
        }
    }

    #[test]
    fn it_hides_what_it_names_while_it_lasts() {
        let (rule, other) = (
            AlertRuleId::from_bytes([7; 16]),
            AlertRuleId::from_bytes([8; 16]),
        );
        let whole = read("ends_at: 2027-01-16T00:00:00Z").unwrap();
        assert!(whole.hides(rule, "a", NOW) && whole.hides(other, "b", NOW));
        assert!(!whole.hides(rule, "a", whole.ends_at));
        let one = read("{ends_at: 2027-01-16T00:00:00Z, rule: slow, subject: a}").unwrap();
        assert!(one.hides(rule, "a", NOW));
        assert!(!one.hides(rule, "b", NOW) && !one.hides(other, "a", NOW));
        let later = "{starts_at: 2027-01-15T09:00:00Z, ends_at: 2027-01-16T00:00:00Z}";
        assert!(!read(later).unwrap().hides(rule, "a", NOW));
    }
}
