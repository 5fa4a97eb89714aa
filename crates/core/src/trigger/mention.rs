//! Whether a trigger is the one that somebody searches for, by words.

use crate::definition::WorkflowId;
use crate::json::Json;

/// Settings that are searched.
const SEARCHED: [&str; 2] = ["name", "cron_expression"];

/// Whether a trigger's workflow, name, expression or address has words that are in lower case. Settings that
/// cannot be read have none.
#[must_use]
pub fn mentions(
    workflow: &WorkflowId,
    settings: &[u8],
    webhook: Option<&str>,
    words: &str,
) -> bool {
    let has = |text: &str| text.to_lowercase().contains(words);
    if has(workflow.as_str()) || webhook.is_some_and(has) {
        return true;
    }
    let Ok(settings) = Json::from_bytes(settings) else {
        return false;
    };
    settings.members().any(|(name, value)| {
        let is_searched = SEARCHED.contains(&&*name);
        is_searched
            && Json::trusted(value)
                .as_text()
                .is_some_and(|text| has(&text))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflow_name_expression_and_address_are_searched() {
        let workflow = WorkflowId::new("nightly_Report").unwrap();
        let settings = r#"{"trigger_type":"cron","name":"Für Änderungen","description":"secret",
            "cron_expression":"0 9 * * MON","input":{"name":"inside"}}"#;
        for (words, expected) in [
            ("report", true),
            ("änder", true),
            ("0 9 * * mon", true),
            ("wh_0a9v", true),
            ("secret", false),
            ("inside", false),
            ("cron", false),
        ] {
            let found = mentions(&workflow, settings.as_bytes(), Some("wh_0a9vvw"), words);
            assert_eq!(found, expected, "{words}");
        }
        assert!(mentions(&workflow, b"{", None, "nightly"));
        assert!(!mentions(&workflow, b"{", None, "x"));
    }
}
