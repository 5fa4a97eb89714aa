//! Definitions: any text is a workflow or a list of problems, and a workflow can be written in
//! its canonical form and read again as the same one.

use refire_core::definition::{ParseOptions, Workflow, canonical, content_hash, diff};

/// The whole input is the text.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let options = ParseOptions::default();
    let workflow = match Workflow::parse(text, &options) {
        Ok(workflow) => workflow,
        Err(problems) => {
            assert!(!problems.to_string().is_empty());
            // What cannot be read as a workflow may still be asked for its canonical form.
            let _ = canonical(text, Some("w"));
            return;
        }
    };
    let one = canonical(text, None).expect("what was read has a canonical form");
    let again = Workflow::parse(one.as_str(), &options).unwrap_or_else(|problems| {
        panic!("the canonical form is not a definition: {problems}\n{one}")
    });
    assert_eq!(again, workflow, "{one}");
    let two = canonical(one.as_str(), None).expect("a canonical form is a text like any other");
    assert_eq!(two, one, "a canonical form is its own");
    assert_eq!(content_hash(&two), content_hash(&one));
    let changes = diff(text, one.as_str()).expect("both can be read");
    assert!(changes.is_empty(), "{changes:?}");
    check(&workflow);
}

/// What the state machine relies on.
fn check(workflow: &Workflow) {
    assert!(!workflow.steps.is_empty());
    for (at, step) in workflow.steps.iter().enumerate() {
        assert_eq!(
            workflow.step(step.id.as_ref()).map(|found| found.0),
            Some(at),
            "ids are unique"
        );
        assert!(
            !workflow.ancestors(at).contains(&at),
            "{} needs itself",
            step.id
        );
        let rules = workflow.retry_for(at, None);
        assert!(rules.enabled || rules.policy.max_retries == 0);
        if let Some(undo) = step.compensate {
            assert!(workflow.steps[undo].is_compensation);
        }
    }
    assert!(workflow.roots().next().is_some(), "something can begin");
}
