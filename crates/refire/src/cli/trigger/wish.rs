//! What is sent to make or change a trigger, and what of it a server refused.

use std::path::PathBuf;

use refire_client::model::{FieldProblem, Problem};
use refire_core::trigger;
use refire_core::webhook::{Method, SECRET_BYTES_MIN, Secret};

use super::fields::{Document, by_option};
use crate::cli::definitions::read;
use crate::cli::prelude::*;
use crate::cli::report::{field_line, say_option};
use crate::codes;

/// What is sent, and where it comes from.
pub(super) struct Wish {
    pub(super) text: String,
    file: Option<String>,
}

impl Wish {
    /// A file as it is, or a document made of options; not both.
    pub(super) fn of(file: Option<&PathBuf>, options: Option<Document>) -> anyhow::Result<Self> {
        match (file, options) {
            (Some(_), Some(_)) => {
                let message =
                    "-f cannot be combined with other options: put everything in the file";
                Err(Usage(message.to_owned()).into())
            }
            (Some(path), None) => {
                let source = read(path)?;
                Ok(Self {
                    text: source.text,
                    file: Some(source.file),
                })
            }
            (None, options) => Ok(Self {
                text: options.unwrap_or_default().build()?.as_str().to_owned(),
                file: None,
            }),
        }
    }

    /// Whether it names a secret: then whoever wrote it has it, and it is not shown again.
    pub(super) fn gives_secret(&self) -> bool {
        trigger::Wish::parse(&self.text).is_ok_and(|wish| wish.secret().is_some())
    }

    /// What a server does not take is told by the option that said it, or in the file.
    pub(super) fn refused(
        &self,
        session: &Session,
        error: refire_client::Error,
    ) -> anyhow::Result<Outcome> {
        let problem = match error {
            refire_client::Error::Problem(problem)
                if problem.code == codes::INVALID_TRIGGER.code && !session.is_json() =>
            {
                problem
            }
            other => return Err(other.into()),
        };
        for field in problem.errors.iter().chain(&self.unsaid(&problem)) {
            match &self.file {
                Some(file) => say!("{} {file}: {}", bad("error:"), field_line(field)),
                None => say_option(by_option(field)),
            }
        }
        let page = command(&format!("refire explain {}", codes::INVALID_TRIGGER.code));
        say!("nothing was saved; for help run '{page}'");
        Ok(match self.file {
            Some(_) => Outcome::Refused,
            None => Outcome::Misused,
        })
    }

    /// A server looks at the secret only when everything else is right. Here it is looked at as well,
    /// so that all that is wrong is said at once.
    fn unsaid(&self, problem: &Problem) -> Option<FieldProblem> {
        let is_said = problem.errors.iter().any(|field| field.field == "secret");
        let is_other = self.text.contains("trigger_type") && !self.text.contains("webhook");
        if is_said || is_other {
            return None;
        }
        let wish = trigger::Wish::parse(&self.text).ok()?;
        let text = wish.secret()?;
        let wrong = Secret::new(text, Method::Hmac).err()?;
        // Only what every sender's secret must be: which sender it is may be what is wrong.
        let is_certain = text.len() < SECRET_BYTES_MIN || text.trim() != text;
        let place = wish.secret_place();
        is_certain.then_some(FieldProblem {
            field: wrong.path,
            message: wrong.message,
            line: Some(place.line),
            column: Some(place.column),
            hint: wrong.hint,
        })
    }
}
