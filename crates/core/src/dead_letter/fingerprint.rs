//! Groups failures by cause: the same workflow, step, class, code and wording, whatever the
//! numbers and ids inside the message.

use refire_retry::Seed;

use crate::definition::{StepId, WorkflowId};
use crate::failure::Failure;

/// A number that is equal for failures with the same cause.
#[must_use]
pub fn fingerprint(workflow: &WorkflowId, step: Option<&StepId>, failure: &Failure) -> u64 {
    let mut text = String::new();
    for part in [
        workflow.as_ref(),
        step.map_or("", AsRef::as_ref),
        failure.class.name(),
        failure.code.as_deref().unwrap_or(""),
    ] {
        text.push_str(part);
        text.push('\u{1f}');
    }
    push_shape(&mut text, &failure.message);
    // Any frozen mixing function will do; the retry crate has one.
    Seed::new(0).mix(text.as_bytes()).0
}

/// The message with every word that holds a digit replaced: ids, times, ports and counts differ
/// between failures of one cause.
fn push_shape(text: &mut String, message: &str) {
    for word in message.split_whitespace() {
        if word.bytes().any(|byte| byte.is_ascii_digit()) {
            text.push('#');
        } else {
            text.push_str(word);
        }
        text.push(' ');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::ErrorClass;

    fn of(message: &str) -> u64 {
        let workflow = WorkflowId::new("w").unwrap();
        let step = StepId::new("s").unwrap();
        fingerprint(
            &workflow,
            Some(&step),
            &Failure::new(ErrorClass::HttpStatus, message),
        )
    }

    #[test]
    fn numbers_and_ids_do_not_matter_but_words_do() {
        assert_eq!(of("order 17 refused"), of("order 4711 refused"));
        assert_eq!(of("no user u_8f2a"), of("no user u_91bb"));
        assert_ne!(of("order 17 refused"), of("order 17 accepted"));
    }
}
