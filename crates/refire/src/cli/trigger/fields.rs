//! A trigger's settings as options, and as the document that the API takes.

mod check;

use std::collections::{BTreeMap, BTreeSet};

use refire_client::model::FieldProblem;
use refire_core::json::{Json, ObjectBuilder};
use serde::Serialize;
use serde_json::{Value, json};

pub(super) use check::has_unit;

use super::filter;
use crate::cli::prelude::*;

/// What kind of option it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Group {
    /// Says when the trigger fires.
    When,
    /// Only a webhook has it.
    Webhook,
    Other,
}

/// What was given for an option.
enum Given<'a> {
    Value(Value),
    /// A length of time, which needs a unit.
    Length(&'a str),
    /// A text that has to be read first, maybe from elsewhere.
    Read(&'a str, fn(&str) -> anyhow::Result<Json>),
    Filters(&'a [String]),
}

impl Given<'_> {
    fn json(self) -> anyhow::Result<Json> {
        match self {
            Self::Value(value) => json_of(&value),
            Self::Length(text) => json_of(text),
            Self::Read(text, read) => read(text),
            Self::Filters(texts) => {
                let filters: Result<Vec<Value>, Usage> =
                    texts.iter().map(|text| filter::parse(text)).collect();
                json_of(&filters?)
            }
        }
    }
}

/// A line for each setting: its kind, its option, the field that this sets, and what was given.
macro_rules! settings {
    ($($group:ident $option:literal sets $field:literal: $given:expr;)*) => {
        [$(($field, $option, Group::$group, $given)),*]
    };
}

/// A field, the option that sets it, and what was given for it.
type Setting<'a> = (&'static str, &'static str, Group, Option<Given<'a>>);

/// What a trigger is told.
#[derive(Debug, Default, Args)]
pub(crate) struct Fields {
    /// A cron expression, in quotes: minute, hour, day of month, month, day of week
    #[arg(long, value_name = "EXPRESSION", help_heading = "When")]
    cron: Option<String>,
    /// At this interval, e.g. 13h
    #[arg(long, value_name = "DURATION", help_heading = "When")]
    every: Option<String>,
    /// At this moment, e.g. 2026-12-24T18:00; can be repeated
    #[arg(long, value_name = "TIME", help_heading = "When")]
    at: Vec<String>,
    /// Every day at this time, e.g. 09:00 or 09:00,17:30
    #[arg(long, value_name = "TIMES", help_heading = "When")]
    daily: Option<String>,
    /// Every week on these days at this time, e.g. "MON,THU 09:00" or "MON-FRI 09:00"
    #[arg(long, value_name = "DAYS TIMES", help_heading = "When")]
    weekly: Option<String>,
    /// Every month on these days at this time, e.g. "1,15 09:00" or "last 18:00"
    #[arg(long, value_name = "DAYS TIMES", help_heading = "When")]
    monthly: Option<String>,
    /// The time zone, an IANA name [default: UTC]
    #[arg(
        long = "tz",
        alias = "timezone",
        value_name = "ZONE",
        help_heading = "When"
    )]
    timezone: Option<String>,
    /// Do not fire before this time
    #[arg(long, value_name = "TIME", help_heading = "When")]
    start: Option<String>,
    /// Do not fire after this time
    #[arg(long, value_name = "TIME", help_heading = "When")]
    end: Option<String>,
    /// Start at a random moment up to this long after the planned time, e.g. 10m
    #[arg(long, value_name = "DURATION", help_heading = "When")]
    jitter: Option<String>,
    /// When daylight saving skips the local time: next_valid (fire right after the gap) or skip
    #[arg(long, value_name = "POLICY", help_heading = "When")]
    gap: Option<String>,
    /// When daylight saving repeats the local time: first, last or both
    #[arg(long, value_name = "POLICY", help_heading = "When")]
    repeat: Option<String>,
    /// When the previous execution is still running: allow, skip, buffer_one or cancel_previous
    #[arg(long, value_name = "POLICY", help_heading = "Policies")]
    overlap: Option<String>,
    /// What to start of the times missed while no server ran for more than a minute: fire_once (only
    /// the newest), fire_all (the newest ones, up to --misfire-max) or skip
    #[arg(long, value_name = "POLICY", help_heading = "Policies")]
    misfire: Option<String>,
    /// How many missed times fire_all starts at most [default: 100]
    #[arg(long, value_name = "N", help_heading = "Policies")]
    misfire_max: Option<u64>,
    /// Do not start missed times older than this [default: 24h]
    #[arg(long, value_name = "DURATION", help_heading = "Policies")]
    misfire_window: Option<String>,
    /// Report the trigger as overdue if there is no success this long after a planned time
    #[arg(
        long,
        value_name = "DURATION",
        conflicts_with = "success_within",
        help_heading = "Policies"
    )]
    grace: Option<String>,
    /// Report the trigger as overdue if there is no success for this long
    #[arg(long, value_name = "DURATION", help_heading = "Policies")]
    success_within: Option<String>,
    /// How the sender is authenticated: hmac, api_key, none, standard_webhooks, github, stripe,
    /// slack, shopify or teams
    #[arg(long, value_name = "METHOD", help_heading = "Webhook")]
    auth: Option<String>,
    /// The header with the signature or the key, e.g. X-ServiceNow-Signature
    #[arg(long, value_name = "NAME", help_heading = "Webhook")]
    header: Option<String>,
    /// The secret; safer as @file or - for standard input [default: a new one is created]
    #[arg(long, value_name = "TEXT|@FILE|-", help_heading = "Webhook")]
    secret: Option<String>,
    /// Accept only requests whose body matches, e.g. '$.event_type equals incident.created'; can be
    /// repeated. The value may be JSON: '$.priority equals "1"' is a string, '$.kind in ["a", "b"]' a
    /// list
    #[arg(long, value_name = "PATH OPERATOR VALUE", help_heading = "Webhook")]
    filter: Vec<String>,
    /// A value in the body that identifies the event, so that it starts only one execution; can be
    /// repeated
    #[arg(long, value_name = "PATH", help_heading = "Webhook")]
    idempotency_path: Vec<String>,
    /// Accept only requests from this address or network, e.g. 203.0.113.0/24; can be repeated
    #[arg(long, value_name = "CIDR", help_heading = "Webhook")]
    ip_allow: Vec<String>,
    /// The most requests per second
    #[arg(long, value_name = "N", help_heading = "Webhook")]
    rate_limit: Option<u32>,
    /// A name for people to recognise it by
    #[arg(long, value_name = "TEXT")]
    name: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT")]
    description: Option<String>,
    /// The input of its executions: JSON, @file, or - for standard input [default: {}]
    #[arg(long, short, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    input: Option<String>,
}

impl Fields {
    /// All settings, in the order in which they are sent. Below a field, the longest name counts.
    fn settings(&self) -> [Setting<'_>; 28] {
        let text = |given: &Option<String>| given.as_ref().map(|text| Given::Value(json!(text)));
        let many = |given: &[String]| (!given.is_empty()).then(|| Given::Value(json!(given)));
        fn length(given: &Option<String>) -> Option<Given<'_>> {
            given.as_deref().map(Given::Length)
        }
        fn read(given: &Option<String>, by: fn(&str) -> anyhow::Result<Json>) -> Option<Given<'_>> {
            given.as_deref().map(|text| Given::Read(text, by))
        }
        let at = (!self.at.is_empty()).then(|| Given::Value(one_or_many(&self.at)));
        let misfire_max = self.misfire_max.map(|max| Given::Value(json!(max)));
        let rate = self.rate_limit.map(|limit| json!({ "per_second": limit }));
        let filters = (!self.filter.is_empty()).then_some(Given::Filters(&self.filter));
        settings![
            Other "--name" sets "name": text(&self.name);
            Other "--description" sets "description": text(&self.description);
            When "--cron" sets "cron_expression": text(&self.cron);
            When "--every" sets "every": length(&self.every);
            Other "--tz" sets "timezone": text(&self.timezone);
            Other "--start" sets "start": text(&self.start);
            Other "--end" sets "end": text(&self.end);
            Other "--jitter" sets "jitter": length(&self.jitter);
            Other "--overlap" sets "overlap": text(&self.overlap);
            Other "--misfire" sets "misfire": text(&self.misfire);
            Other "--misfire-window" sets "misfire_window": length(&self.misfire_window);
            Webhook "--auth" sets "authentication": text(&self.auth);
            Webhook "--header" sets "signature_header": text(&self.header);
            Other "--misfire-max" sets "misfire_max": misfire_max;
            When "--at" sets "at": at;
            When "--daily" sets "daily": read(&self.daily, daily);
            When "--weekly" sets "weekly": read(&self.weekly, weekly);
            When "--monthly" sets "monthly": read(&self.monthly, monthly);
            Other "--gap" sets "dst.gap": text(&self.gap);
            Other "--repeat" sets "dst.repeat": text(&self.repeat);
            Other "--grace" sets "dead_man.grace": length(&self.grace);
            Other "--success-within" sets "dead_man.success_within": length(&self.success_within);
            Webhook "--secret" sets "secret": read(&self.secret, secret);
            Webhook "--filter" sets "filters": filters;
            Webhook "--idempotency-path" sets "idempotency_paths": many(&self.idempotency_path);
            Webhook "--ip-allow" sets "ip_allow": many(&self.ip_allow);
            Webhook "--rate-limit" sets "rate_limit": rate.map(Given::Value);
            Other "--input" sets "input": read(&self.input, input::read);
        ]
    }

    /// The options of a kind that were given, in their order.
    fn given(&self, wanted: Group) -> Vec<&'static str> {
        let settings = self.settings().into_iter();
        let given = settings.filter(|(_, _, group, given)| *group == wanted && given.is_some());
        given.map(|(_, option, ..)| option).collect()
    }

    /// The type that the options mean, if they say when.
    pub(crate) fn kind(&self) -> Option<&'static str> {
        let when = self.given(Group::When);
        when.first().map(|option| match *option {
            "--cron" => "cron",
            _ => "schedule",
        })
    }

    /// The fields that were given.
    pub(crate) fn document(&self) -> anyhow::Result<Document> {
        self.agree()?;
        let mut document = Document::default();
        for (field, _, _, given) in self.settings() {
            if let Some(given) = given {
                document.put(field, &given.json()?)?;
            }
        }
        Ok(document)
    }
}

/// A JSON object under construction.
pub(crate) struct Document {
    object: ObjectBuilder,
    fields: usize,
    /// Fields that several options are parts of.
    shared: BTreeMap<&'static str, Value>,
}

impl Default for Document {
    fn default() -> Self {
        Self {
            object: ObjectBuilder::new(),
            fields: 0,
            shared: BTreeMap::new(),
        }
    }
}

impl Document {
    /// Adds JSON byte for byte. Below a field, it is a part of that one.
    fn put(&mut self, name: &'static str, value: &Json) -> anyhow::Result<()> {
        match name.split_once('.') {
            Some((name, member)) => {
                let whole = self.shared.entry(name).or_insert_with(|| json!({}));
                whole[member] = serde_json::from_str(value.as_str())?;
            }
            None => self.push(name, value),
        }
        Ok(())
    }

    fn push(&mut self, name: &str, value: &Json) {
        self.object.push(name, value);
        self.fields += 1;
    }

    /// Adds a field.
    pub(crate) fn set(
        &mut self,
        name: &str,
        value: &(impl Serialize + ?Sized),
    ) -> anyhow::Result<()> {
        self.push(name, &json_of(value)?);
        Ok(())
    }

    /// Lets fields go back to their defaults. They may be named as the options are.
    pub(crate) fn unset(&mut self, names: &[String]) -> anyhow::Result<()> {
        let fields: BTreeSet<String> = names.iter().map(|name| field_of(name)).collect();
        for field in fields {
            match field.split_once('.') {
                // Either option is the whole of it, so what is given takes the place of the other.
                Some(("dead_man", _)) => {
                    self.shared.entry("dead_man").or_insert(Value::Null);
                }
                Some(("dst", member)) => {
                    let dst = self.shared.entry("dst").or_insert_with(|| json!({}));
                    dst[member] = Value::Null;
                }
                _ => self.set(&field, &Value::Null)?,
            }
        }
        Ok(())
    }

    /// Nothing if it has no fields.
    pub(crate) fn unless_empty(self) -> Option<Self> {
        (self.fields > 0 || !self.shared.is_empty()).then_some(self)
    }

    /// The whole.
    pub(crate) fn build(mut self) -> anyhow::Result<Json> {
        for (name, value) in std::mem::take(&mut self.shared) {
            self.set(name, &value)?;
        }
        Ok(self.object.build())
    }
}

/// The field that is called so, or that the option of this name sets.
fn field_of(name: &str) -> String {
    let name = name.trim_start_matches('-');
    let is_option = |option: &str| option.trim_start_matches('-') == name;
    let settings = Fields::default();
    let mut settings = settings.settings().into_iter();
    match settings.find(|(_, option, ..)| is_option(option)) {
        Some((field, ..)) => field.to_owned(),
        None => name.replace('-', "_"),
    }
}

/// A problem that the server found in a field, told with the option that set it.
pub(crate) fn by_option(problem: &FieldProblem) -> FieldProblem {
    let below = |field: &str| {
        let rest = problem.field.strip_prefix(field)?;
        (rest.is_empty() || rest.starts_with(['.', '['])).then_some(field.len())
    };
    let settings = Fields::default();
    let setting = settings
        .settings()
        .into_iter()
        .filter_map(|(field, option, group, _)| Some((below(field)?, option, group)))
        .max_by_key(|(length, ..)| *length);
    let Some((length, option, group)) = setting else {
        return problem.clone();
    };
    let mut told = FieldProblem {
        field: option.to_owned(),
        ..problem.clone()
    };
    if let Some(place) = place_in_list(&problem.field[length..]) {
        told.field = format!("{option} ({place})");
    }
    if told.message.starts_with("unknown key") {
        // The option exists: it is the type of the trigger that does not have it.
        told.message = "triggers of this type do not have this setting".to_owned();
        if group == Group::Webhook {
            told.hint = Some("it is only for triggers of type `webhook`".to_owned());
        }
    }
    told
}

/// `[1].value` as a person counts who repeats an option: `2nd`.
fn place_in_list(below: &str) -> Option<String> {
    let (index, _) = below.strip_prefix('[')?.split_once(']')?;
    let place = index.parse::<usize>().ok()? + 1;
    let ending = match (place % 10, place % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    Some(format!("the {place}{ending}"))
}

fn json_of(value: &(impl Serialize + ?Sized)) -> anyhow::Result<Json> {
    Ok(Json::parse(serde_json::to_string(value)?)?)
}

fn secret(given: &str) -> anyhow::Result<Json> {
    json_of(&filter::secret(given)?)
}

fn daily(times: &str) -> anyhow::Result<Json> {
    json_of(&json!({ "time": list(times) }))
}

fn weekly(given: &str) -> anyhow::Result<Json> {
    let (days, times) = days_and_times("--weekly", given)?;
    json_of(&json!({ "dayOfWeek": days, "time": times }))
}

fn monthly(given: &str) -> anyhow::Result<Json> {
    let (days, times) = days_and_times("--monthly", given)?;
    json_of(&json!({ "dayOfMonth": days, "time": times }))
}

/// `MON,THU 09:00` as days and times.
fn days_and_times(option: &str, text: &str) -> Result<(Value, Value), Usage> {
    match text.trim().split_once(char::is_whitespace) {
        Some((days, times)) => Ok((list(days), list(times.trim()))),
        None => Err(Usage(format!(
            "{option} `{text}`: write the days and then the times, such as \"{}\"",
            if option == "--weekly" {
                "MON,THU 09:00"
            } else {
                "1,15 09:00"
            }
        ))),
    }
}

/// What commas separate; numbers are numbers.
fn list(text: &str) -> Value {
    let value = |part: &str| {
        let number = part.parse::<u32>().map(Value::from);
        number.unwrap_or_else(|_| Value::from(part))
    };
    let values: Vec<Value> = text.split(',').map(str::trim).map(value).collect();
    match values.as_slice() {
        [one] => one.clone(),
        _ => Value::from(values),
    }
}

fn one_or_many(texts: &[String]) -> Value {
    match texts {
        [one] => Value::from(one.as_str()),
        many => Value::from(many.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(fields: &Fields) -> Value {
        serde_json::from_str(fields.document().unwrap().build().unwrap().as_str()).unwrap()
    }

    #[test]
    fn what_is_unset_may_be_named_as_its_option() {
        let names = [
            "jitter", "ip-allow", "--filter", "grace", "tz", "gap", "foo-bar",
        ];
        let mut document = Document::default();
        document.unset(&names.map(str::to_owned)).unwrap();
        let built: Value = serde_json::from_str(document.build().unwrap().as_str()).unwrap();
        let expected = json!({
            "jitter": null, "ip_allow": null, "filters": null, "dead_man": null,
            "timezone": null, "foo_bar": null, "dst": {"gap": null},
        });
        assert_eq!(built, expected);
    }

    /// Every field is there once, whatever of it is given and unset.
    #[test]
    fn what_is_given_and_what_is_unset_go_together() {
        let fields = Fields {
            grace: Some("10m".to_owned()),
            gap: Some("skip".to_owned()),
            ..Fields::default()
        };
        let mut document = fields.document().unwrap();
        let names = ["success-within", "repeat", "jitter", "--jitter"];
        document.unset(&names.map(str::to_owned)).unwrap();
        assert_eq!(
            document.build().unwrap().as_str(),
            r#"{"jitter":null,"dead_man":{"grace":"10m"},"dst":{"gap":"skip","repeat":null}}"#
        );
        let mut both = Document::default();
        both.unset(&["grace", "success-within"].map(str::to_owned))
            .unwrap();
        assert_eq!(both.build().unwrap().as_str(), r#"{"dead_man":null}"#);
    }

    #[test]
    fn options_become_fields() {
        let fields = Fields {
            weekly: Some("MON,THU 09:00".to_owned()),
            timezone: Some("Asia/Taipei".to_owned()),
            gap: Some("skip".to_owned()),
            grace: Some("5m".to_owned()),
            misfire_max: Some(7),
            ..Fields::default()
        };
        assert_eq!(fields.kind(), Some("schedule"));
        assert_eq!(
            document(&fields),
            json!({
                "weekly": {"dayOfWeek": ["MON", "THU"], "time": "09:00"},
                "timezone": "Asia/Taipei",
                "dst": {"gap": "skip"},
                "dead_man": {"grace": "5m"},
                "misfire_max": 7,
            })
        );
        let weekdays = Fields {
            weekly: Some("MON-FRI 09:00".to_owned()),
            ..Fields::default()
        };
        assert_eq!(
            document(&weekdays),
            json!({"weekly": {"dayOfWeek": "MON-FRI", "time": "09:00"}})
        );
        let monthly = Fields {
            monthly: Some("1,last 18:00".to_owned()),
            ..Fields::default()
        };
        assert_eq!(
            document(&monthly),
            json!({"monthly": {"dayOfMonth": [1, "last"], "time": "18:00"}})
        );
        let once = Fields {
            at: vec!["2026-12-24T18:00".to_owned()],
            ..Fields::default()
        };
        assert_eq!(document(&once), json!({"at": "2026-12-24T18:00"}));
    }

    #[test]
    fn an_input_passes_byte_for_byte() {
        let fields = Fields {
            input: Some(r#"{"n":  1.50}"#.to_owned()),
            ..Fields::default()
        };
        let text = fields.document().unwrap().build().unwrap();
        assert_eq!(text.as_str(), r#"{"input":{"n":  1.50}}"#);
    }

    #[test]
    fn problems_are_told_by_the_option() {
        let said = |field: &str| {
            by_option(&FieldProblem {
                field: field.to_owned(),
                message: String::new(),
                line: None,
                column: None,
                hint: None,
            })
            .field
        };
        assert_eq!(said("cron_expression"), "--cron");
        assert_eq!(said("weekly.dayOfWeek[1]"), "--weekly");
        assert_eq!(said("dst.gap"), "--gap");
        assert_eq!(said("misfire_max"), "--misfire-max");
        assert_eq!(said("retry.maxRetries"), "retry.maxRetries");
        assert_eq!(said("filters[1].value"), "--filter (the 2nd)");
        assert_eq!(said("ip_allow[10]"), "--ip-allow (the 11th)");
    }

    #[test]
    fn an_option_of_another_type_is_not_an_unknown_key() {
        for (field, option, hint) in [
            ("authentication", "--auth", "type `webhook`"),
            ("every", "--every", "type `schedule`"),
        ] {
            let told = by_option(&FieldProblem {
                field: field.to_owned(),
                message: format!("unknown key \"{field}\""),
                line: None,
                column: None,
                hint: Some("it belongs to triggers of type `schedule`".to_owned()),
            });
            assert_eq!(told.field, option);
            assert_eq!(
                told.message,
                "triggers of this type do not have this setting"
            );
            assert!(told.hint.unwrap().ends_with(hint), "{option}");
        }
    }

    #[test]
    fn days_need_times() {
        let said = days_and_times("--weekly", "MON").unwrap_err().to_string();
        assert!(said.contains("MON,THU 09:00"), "{said}");
    }
}
