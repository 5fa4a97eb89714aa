//! Reads a channel as people write it. Everything that is wrong with it is said at once.

use zeroize::Zeroizing;

use super::channel::{
    Channel, Email, Envelope, GivenSecret, HIDDEN, Language, MailTls, PagerDuty, Severity, Slack,
    Target, Teams, Webhook,
};
use super::choice::WorkflowPattern;
use super::kind::NoticeKind;
use crate::definition::fields::{Field, Fields};
use crate::definition::keys::Known;
use crate::definition::source::{Content, Node};
use crate::definition::{NAME_LENGTH_MAX, Problem, Problems, WorkflowId, url};
use crate::webhook::{Method, Secret};

/// The longest name of a channel, in characters.
pub const NAME_CHARS_MAX: usize = 100;
/// The longest address, in bytes.
const URL_BYTES_MAX: usize = 2_048;
/// The longest name, password or mail address, in bytes.
const WORD_BYTES_MAX: usize = 320;
/// Patterns of workflows of one channel.
const WORKFLOWS_MAX: usize = 100;
/// People who get a mail.
const RECIPIENTS_MAX: usize = 20;
/// Certificates of one channel, in bytes.
const CA_BYTES_MAX: usize = 64 * 1024;
/// Where connectors of Teams were, which Microsoft has retired.
const RETIRED_TEAMS: [&str; 2] = ["webhook.office.com", "outlook.office.com"];
/// Where PagerDuty takes events.
const PAGERDUTY: &str = "https://events.pagerduty.com/v2/enqueue";
/// The length of PagerDuty's routing keys, in characters.
const ROUTING_KEY_CHARS: usize = 32;

const CHANNEL: &[Known] = &[
    Known::new("name"),
    Known::new("type"),
    Known::new("enabled"),
    Known::new("language"),
    Known::new("kinds"),
    Known::new("workflows"),
    Known::new("config"),
];
const TEAMS: &[Known] = &[Known::new("url"), Known::new("envelope")];
const SLACK: &[Known] = &[Known::new("url")];
const EMAIL: &[Known] = &[
    Known::new("host"),
    Known::new("port"),
    Known::new("tls"),
    Known::new("username"),
    Known::new("password"),
    Known::new("from"),
    Known::new("to"),
    Known::new("ca"),
];
const WEBHOOK: &[Known] = &[Known::new("url"), Known::new("secret")];
const PAGERDUTY_KEYS: &[Known] = &[
    Known::new("routing_key"),
    Known::new("url"),
    Known::new("severity"),
];

/// A channel as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrittenChannel {
    /// The channel.
    pub channel: Channel,
    /// Whether anything is sent through it.
    pub enabled: bool,
    /// What was written in the place of its secret.
    pub secret: GivenSecret,
}

#[derive(Debug, Clone, Copy)]
enum Type {
    Teams,
    Slack,
    Email,
    Webhook,
    PagerDuty,
}

const TYPES: &[(&str, Type)] = &[
    ("teams", Type::Teams),
    ("slack", Type::Slack),
    ("email", Type::Email),
    ("webhook", Type::Webhook),
    ("pagerduty", Type::PagerDuty),
];

impl WrittenChannel {
    /// Reads a channel, in JSON or YAML. What is there already may be left out as `***`.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text.
    pub fn read(source: &str, known: Option<&Channel>) -> Result<Self, Problems> {
        let node = Node::parse(source)?;
        let mut problems = Problems::new();
        match read(&node, known, &mut problems) {
            Some(written) if problems.is_empty() => Ok(written),
            _ => Err(problems.sorted()),
        }
    }
}

/// A change of a channel: a JSON merge patch, laid over what is shown of it.
///
/// # Errors
/// When the change cannot be read.
pub fn patched(shown: &str, patch: &str) -> Result<String, Problems> {
    let (shown, patch) = (Node::parse(shown)?, Node::parse(patch)?);
    if !matches!(patch.content, Content::Mapping(_)) {
        let problem = Problem::new("", patch.mark, "a change of a channel is an object");
        return Err(problem.into());
    }
    Ok(shown.merged(patch, |_| false).to_json().as_str().to_owned())
}

fn read(node: &Node, known: Option<&Channel>, problems: &mut Problems) -> Option<WrittenChannel> {
    let fields = Field::new("", node).fields(CHANNEL, problems)?;
    let name = fields.required("name", problems);
    let name = name.and_then(|field| name_of(&field, problems));
    let enabled = match fields.get("enabled") {
        Some(field) => field.bool(problems),
        None => Some(true),
    };
    let languages = [("en", Language::English), ("zh-TW", Language::Chinese)];
    let language = match fields.get("language") {
        Some(field) => field.word(&languages, problems),
        None => Some(Language::default()),
    };
    let kinds = fields.get("kinds");
    let kinds = kinds.map_or_else(Vec::new, |field| kinds_of(&field, problems));
    let workflows = fields.get("workflows");
    let workflows = workflows.map_or_else(Vec::new, |field| workflows_of(&field, problems));
    let (target, secret) = target(&fields, known, problems)?;
    Some(WrittenChannel {
        channel: Channel {
            name: name?,
            language: language?,
            kinds,
            workflows,
            target,
        },
        enabled: enabled?,
        secret,
    })
}

fn name_of(field: &Field<'_>, problems: &mut Problems) -> Option<String> {
    let name = field.text(problems)?;
    let length = name.chars().count();
    if name.trim().is_empty() || name.trim() != name || name.chars().any(char::is_control) {
        let message = "a name has characters, and no white space around them or lines in it";
        problems.push(field.problem(message));
    } else if length > NAME_CHARS_MAX {
        let message =
            format!("a name has at most {NAME_CHARS_MAX} characters, this one has {length}");
        problems.push(field.problem(message));
    }
    Some(name.to_owned())
}

fn kinds_of(field: &Field<'_>, problems: &mut Problems) -> Vec<NoticeKind> {
    let words = NoticeKind::ALL.map(|kind| (kind.name(), kind));
    let mut kinds = Vec::new();
    for item in field.items() {
        if let Some(kind) = item.exact_word(&words, problems)
            && !kinds.contains(&kind)
        {
            kinds.push(kind);
        }
    }
    kinds
}

fn workflows_of(field: &Field<'_>, problems: &mut Problems) -> Vec<WorkflowPattern> {
    let items = field.items();
    if items.len() > WORKFLOWS_MAX {
        let message = format!(
            "at most {WORKFLOWS_MAX} workflows, these are {}",
            items.len()
        );
        problems.push(field.problem(message));
        return Vec::new();
    }
    let mut patterns = Vec::new();
    for item in items {
        let Some(text) = item.text(problems) else {
            continue;
        };
        let name = text.strip_suffix('*').unwrap_or(text);
        let is_name = text.len() <= NAME_LENGTH_MAX && WorkflowId::new(name).is_ok();
        if !is_name && text != "*" {
            let message = "is not the name of a workflow, or the beginning of names and `*`";
            problems.push(item.problem(message));
        }
        patterns.push(WorkflowPattern(text.to_owned()));
    }
    patterns
}

fn target(
    fields: &Fields<'_>,
    known: Option<&Channel>,
    problems: &mut Problems,
) -> Option<(Target, GivenSecret)> {
    let config = fields.required("config", problems);
    let field = fields.required("type", problems)?;
    let kind = field.exact_word(TYPES, problems)?;
    let name = field.node.as_str().unwrap_or_default();
    if let Some(known) = known
        && known.target.type_name() != name
    {
        let problem = field.problem("a channel stays of its type");
        problems.push(problem.with_hint("make another channel"));
        return None;
    }
    let mut config = Config {
        field: config?,
        known,
        problems,
    };
    match kind {
        Type::Teams => config.teams(),
        Type::Slack => config.slack(),
        Type::Email => config.email(),
        Type::Webhook => config.webhook(),
        Type::PagerDuty => config.pagerduty(),
    }
}

/// The settings of one type, while they are read.
struct Config<'a, 'b> {
    field: Field<'a>,
    known: Option<&'b Channel>,
    problems: &'b mut Problems,
}

type Read = Option<(Target, GivenSecret)>;

impl<'a> Config<'a, '_> {
    fn teams(&mut self) -> Read {
        let fields = self.field.fields(TEAMS, self.problems)?;
        let words = [("message", Envelope::Message), ("card", Envelope::Card)];
        let envelope = match fields.get("envelope") {
            Some(field) => field.exact_word(&words, self.problems),
            None => Some(Envelope::default()),
        };
        let known = match self.known.map(|known| &known.target) {
            Some(Target::Teams(known)) => Some(known.host.clone()),
            _ => None,
        };
        let (host, secret) = self.secret_url(&fields, known)?;
        let name = host.split(':').next().unwrap_or_default();
        if let Some(field) = fields.get("url")
            && RETIRED_TEAMS
                .iter()
                .any(|old| name == *old || name.ends_with(&format!(".{old}")))
        {
            let problem = field.problem("connectors of Office 365 are retired: Microsoft delivers nothing that is sent there");
            let hint = "in Teams make a workflow \"Post to a channel when a webhook request is received\", and write its address";
            self.problems.push(problem.with_hint(hint));
        }
        let envelope = envelope?;
        Some((Target::Teams(Teams { host, envelope }), secret))
    }

    fn slack(&mut self) -> Read {
        let fields = self.field.fields(SLACK, self.problems)?;
        let known = match self.known.map(|known| &known.target) {
            Some(Target::Slack(known)) => Some(known.host.clone()),
            _ => None,
        };
        let (host, secret) = self.secret_url(&fields, known)?;
        Some((Target::Slack(Slack { host }), secret))
    }

    fn webhook(&mut self) -> Read {
        let fields = self.field.fields(WEBHOOK, self.problems)?;
        let url = fields.required("url", self.problems);
        let url = url.and_then(|field| self.address(&field).map(|(url, _)| url));
        let secret = self.given(fields.get("secret"));
        if let (GivenSecret::New(text), Some(field)) = (&secret, fields.get("secret"))
            && let Err(problem) = Secret::new(text, Method::StandardWebhooks)
        {
            self.problems.push(field.problem(problem.message));
        }
        Some((Target::Webhook(Webhook { url: url? }), secret))
    }

    fn pagerduty(&mut self) -> Read {
        let fields = self.field.fields(PAGERDUTY_KEYS, self.problems)?;
        let url = match fields.get("url") {
            Some(field) => self.address(&field).map(|(url, _)| url),
            None => Some(PAGERDUTY.to_owned()),
        };
        let words = [
            Severity::Critical,
            Severity::Error,
            Severity::Warning,
            Severity::Info,
        ];
        let words = words.map(|one| (one.name(), one));
        let severity = match fields.get("severity") {
            Some(field) => field.exact_word(&words, self.problems),
            None => Some(Severity::default()),
        };
        let field = fields.required("routing_key", self.problems);
        let secret = self.given(field.clone());
        if let (GivenSecret::New(text), Some(field)) = (&secret, field) {
            let is_key = text.len() == ROUTING_KEY_CHARS
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if !is_key {
                let message = format!(
                    "a routing key (integration key) has {ROUTING_KEY_CHARS} letters and digits"
                );
                self.problems.push(field.problem(message));
            }
        }
        let (url, severity) = (url?, severity?);
        Some((Target::PagerDuty(PagerDuty { url, severity }), secret))
    }

    fn email(&mut self) -> Read {
        let fields = self.field.fields(EMAIL, self.problems)?;
        let host = fields.required("host", self.problems);
        let host = host.and_then(|field| self.mail_host(&field));
        let words = [
            ("starttls", MailTls::Starttls),
            ("tls", MailTls::Tls),
            ("none", MailTls::None),
        ];
        let tls = match fields.get("tls") {
            Some(field) => field.exact_word(&words, self.problems),
            None => Some(MailTls::default()),
        };
        let port = match fields.get("port") {
            Some(field) => field.whole(1..=u16::MAX.into(), self.problems),
            None => Some(tls.unwrap_or_default().port().into()),
        };
        let username = fields.get("username");
        let username = username.and_then(|field| self.word(&field));
        let from = fields.required("from", self.problems);
        let from = from.and_then(|field| self.mailbox(&field));
        let to = fields.required("to", self.problems);
        let to = to.map_or_else(Vec::new, |field| self.recipients(&field));
        let ca = fields.get("ca").and_then(|field| self.certificates(&field));
        let secret = self.given(fields.get("password"));
        if let GivenSecret::New(password) = &secret
            && let Some(field) = fields.get("password")
        {
            if password.len() > WORD_BYTES_MAX || password.chars().any(char::is_control) {
                self.problems
                    .push(field.problem("is too long for a password, or has lines in it"));
            }
            if username.is_none() {
                self.problems
                    .push(field.problem("a password needs a `username`"));
            } else if tls == Some(MailTls::None) {
                let message =
                    "a password is not sent without encryption: use `tls: starttls` or `tls: tls`";
                self.problems.push(field.problem(message));
            }
        }
        let email = Email {
            host: host?,
            port: u16::try_from(port?).unwrap_or_default(),
            tls: tls?,
            username,
            from: from?,
            to,
            ca,
        };
        Some((Target::Email(email), secret))
    }

    /// An address that is a secret: its host, which is not.
    fn secret_url(
        &mut self,
        fields: &Fields<'a>,
        known: Option<String>,
    ) -> Option<(String, GivenSecret)> {
        let field = fields.required("url", self.problems)?;
        match self.given(Some(field.clone())) {
            GivenSecret::AsItWas => Some((known?, GivenSecret::AsItWas)),
            _ => {
                let (url, host) = self.address(&field)?;
                Some((host, GivenSecret::New(Zeroizing::new(url))))
            }
        }
    }

    /// What was written in the place of a secret.
    fn given(&mut self, field: Option<Field<'a>>) -> GivenSecret {
        let Some(field) = field else {
            return GivenSecret::None;
        };
        match field.text(self.problems) {
            None => GivenSecret::None,
            Some(HIDDEN) if self.known.is_some() => GivenSecret::AsItWas,
            Some(HIDDEN) => {
                let message = "stands for a secret that is there, and there is none yet";
                self.problems.push(field.problem(message));
                GivenSecret::None
            }
            Some(text) => GivenSecret::New(Zeroizing::new(text.to_owned())),
        }
    }

    /// An address and its host. The problem never quotes it: it may be a secret.
    fn address(&mut self, field: &Field<'a>) -> Option<(String, String)> {
        let text = field.text(self.problems)?;
        let refuse = |message: String| Err(message);
        let checked = match text.split_once("://") {
            _ if text.len() > URL_BYTES_MAX => {
                refuse(format!("an address has at most {URL_BYTES_MAX} bytes"))
            }
            _ if text.chars().any(|c| c.is_whitespace() || c.is_control()) => {
                refuse("an address has no white space in it".to_owned())
            }
            Some((scheme @ ("https" | "http"), rest)) => {
                let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
                url::host(&rest[..end], scheme)
            }
            _ => refuse("an address begins with https:// or http://".to_owned()),
        };
        let host = field.keep(checked, self.problems)?;
        Some((text.to_owned(), host))
    }

    fn mail_host(&mut self, field: &Field<'a>) -> Option<String> {
        let text = field.text(self.problems)?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':');
        if text.is_empty() || text.len() > 253 || !text.chars().all(is_name) {
            let message = "is not the name or the IP address of a mail relay";
            self.problems.push(field.problem(message));
        }
        Some(text.to_owned())
    }

    fn word(&mut self, field: &Field<'a>) -> Option<String> {
        let text = field.text(self.problems)?;
        if text.is_empty() || text.len() > WORD_BYTES_MAX || text.chars().any(char::is_control) {
            let message = format!("has 1 to {WORD_BYTES_MAX} bytes, and no lines in it");
            self.problems.push(field.problem(message));
        }
        Some(text.to_owned())
    }

    fn mailbox(&mut self, field: &Field<'a>) -> Option<String> {
        let text = field.text(self.problems)?;
        if !is_mailbox(text) {
            let message = "is not a mail address, such as ops@example.com";
            self.problems.push(field.problem(message));
        }
        Some(text.to_owned())
    }

    fn recipients(&mut self, field: &Field<'a>) -> Vec<String> {
        let items = field.items();
        if items.is_empty() || items.len() > RECIPIENTS_MAX {
            let message = format!("1 to {RECIPIENTS_MAX} addresses, these are {}", items.len());
            self.problems.push(field.problem(message));
            return Vec::new();
        }
        let boxes = items.iter().filter_map(|item| self.mailbox(item));
        boxes.collect()
    }

    fn certificates(&mut self, field: &Field<'a>) -> Option<String> {
        let text = field.text(self.problems)?;
        if text.len() > CA_BYTES_MAX || !text.contains("-----BEGIN CERTIFICATE-----") {
            let message = format!("is no certificate in PEM of at most {CA_BYTES_MAX} bytes");
            self.problems.push(field.problem(message));
        }
        Some(text.to_owned())
    }
}

/// A plain address without a name before it.
fn is_mailbox(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let is_plain = |c: char| c.is_alphanumeric() || "!#$%&'*+-/=?^_`{|}~.".contains(c);
    let is_domain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-');
    !local.is_empty()
        && local.len() <= 64
        && local.chars().all(is_plain)
        && !domain.is_empty()
        && text.len() <= WORD_BYTES_MAX
        && domain.chars().all(is_domain)
        && !domain.starts_with(['.', '-'])
        && !domain.ends_with(['.', '-'])
}

#[cfg(test)]
mod tests;
