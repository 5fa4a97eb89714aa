//! What options say together, before a server is asked: what does not fit, and what may be meant
//! otherwise. It is told by the options, where the server would name fields of the API.

use super::{Fields, Given, Group};
use crate::cli::prelude::*;
use crate::cli::trigger::filter;

impl Fields {
    /// Refuses options that exclude each other.
    pub(in crate::cli::trigger) fn agree(&self) -> Result<(), Usage> {
        let times = self.given(Group::When);
        if times.len() > 1 {
            let times = times.join(", ");
            return Err(Usage(format!(
                "each of {times} sets when it fires: use only one of them; create a second trigger for the other"
            )));
        }
        for (_, option, _, given) in self.settings() {
            if let Some(Given::Length(text)) = given {
                has_unit(option, Some(text))?;
            }
        }
        Ok(())
    }

    /// Refuses options that a new trigger of this kind does not have.
    pub(in crate::cli::trigger) fn fit(&self, kind: Option<&str>) -> Result<(), Usage> {
        let others = self.given(Group::Webhook).join(", ");
        match kind {
            _ if others.is_empty() => Ok(()),
            Some("webhook") => Ok(()),
            Some(kind) => Err(Usage(format!(
                "{others} is only for webhooks, and this is a trigger of type {kind}: leave it \
                 out, or create a trigger with --webhook"
            ))),
            None => Err(Usage(format!(
                "{others} is only for webhooks: add --webhook, or put it in the file"
            ))),
        }
    }

    /// What was understood, where something else may have been meant.
    pub(in crate::cli::trigger) fn notes(&self) -> Vec<String> {
        let filters = self.filter.iter();
        filters.filter_map(|text| filter::note(text)).collect()
    }
}

/// A bare number would count seconds, and is as likely meant in minutes.
pub(in crate::cli::trigger) fn has_unit(option: &str, given: Option<&str>) -> Result<(), Usage> {
    match given.map(str::trim) {
        Some(text) if is_bare(text) && text != "0" => Err(Usage(format!(
            "{option} `{text}` has no unit: write {text}s, {text}m or {text}h"
        ))),
        _ => Ok(()),
    }
}

fn is_bare(text: &str) -> bool {
    let mut characters = text.chars().peekable();
    characters.peek().is_some() && characters.all(|one| one.is_ascii_digit() || one == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_option_says_when() {
        let fields = Fields {
            cron: Some("* * * * *".to_owned()),
            every: Some("1h".to_owned()),
            ..Fields::default()
        };
        let said = fields.agree().unwrap_err().to_string();
        assert!(
            said.starts_with("each of --cron, --every sets when it fires: use only one of them")
        );
    }

    #[test]
    fn a_length_has_a_unit() {
        for (text, is_fine) in [
            ("5", false),
            ("0.5", false),
            ("5m", true),
            ("soon", true),
            ("inf", true),
            ("0", true),
        ] {
            let fields = Fields {
                every: Some(text.to_owned()),
                ..Fields::default()
            };
            assert_eq!(fields.agree().is_ok(), is_fine, "{text}");
        }
        let jitter = Fields {
            jitter: Some("10".to_owned()),
            ..Fields::default()
        };
        let said = jitter.agree().unwrap_err().to_string();
        assert_eq!(said, "--jitter `10` has no unit: write 10s, 10m or 10h");
    }

    #[test]
    fn what_only_a_webhook_has_is_told() {
        let fields = Fields {
            auth: Some("hmac".to_owned()),
            ..Fields::default()
        };
        assert!(fields.fit(Some("webhook")).is_ok());
        let said = fields.fit(Some("cron")).unwrap_err().to_string();
        assert!(
            said.starts_with("--auth is only for webhooks, and this is a trigger of type cron")
        );
        let said = fields.fit(None).unwrap_err().to_string();
        assert!(said.contains("add --webhook"), "{said}");
        assert!(Fields::default().fit(Some("cron")).is_ok());
    }
}
