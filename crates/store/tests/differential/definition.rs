//! The definitions that histories save.

use refire_core::definition::WorkflowId;
use refire_store::{Part, PutWorkflow};

/// The last one is never saved.
pub(crate) const WORKFLOWS: [&str; 4] = ["orders", "refunds", "a-third", "nobody-knows"];

/// Numbers of shapes.
pub(crate) const SHAPES: u64 = 6;

/// Definitions with different shapes. The number makes contents differ.
pub(crate) fn source(id: &str, shape: u64) -> String {
    let head = format!(
        "id: {id}\nname: The {id} of shape {shape}\n\
         retry: {{maxRetries: 2, initialDelay: 10s, strategy: exponential, jitter: none}}\n\
         concurrency: {{key: '${{input.k}}', maxPerKey: 2}}\n"
    );
    let steps = match shape {
        0 => {
            "steps:\n\
             \x20 - {id: a, type: local, config: {task: t}}\n\
             \x20 - {id: b, type: local, config: {task: t}, needs: [a]}\n"
        }
        1 => {
            "steps:\n\
             \x20 - {id: a, type: local, config: {task: t}, needs: []}\n\
             \x20 - {id: b, type: local, config: {task: t}, needs: []}\n\
             \x20 - {id: c, type: local, config: {task: t}, needs: [a, b]}\n"
        }
        2 => {
            "steps:\n\
             \x20 - {id: a, type: http, config: {url: 'http://x'}, callback: {window: 20s}, needs: []}\n\
             \x20 - {id: b, type: http, config: {url: 'http://x'}, callback: {}, needs: []}\n\
             \x20 - {id: c, type: local, config: {task: t}, needs: [a]}\n"
        }
        3 => {
            "steps:\n\
             \x20 - {id: a, type: external_task, needs: [], config: {taskType: t, retries: 2, timeout: 60s, lockDuration: 20s}}\n\
             \x20 - {id: b, type: external_task, needs: [], config: {taskType: u, priority: 2, retries: 2, timeout: 90s, heartbeat: {interval: 5s, maxMissed: 2}, requireLockToken: true}}\n\
             \x20 - {id: c, type: local, config: {task: t}, needs: [a, b]}\n"
        }
        4 => {
            "steps:\n\
             \x20 - {id: a, type: external_task, config: {taskType: u, retries: 1, timeout: 30s}, compensate: undo}\n\
             \x20 - {id: b, type: local, config: {task: t}, needs: [a]}\n\
             \x20 - {id: undo, type: external_task, config: {taskType: t, retries: 2}}\n"
        }
        _ => {
            "steps:\n\
             \x20 - {id: a, type: local, config: {task: t}, compensate: undo}\n\
             \x20 - {id: b, type: local, config: {task: t}, needs: [a]}\n\
             \x20 - {id: undo, type: local, config: {task: t}}\n"
        }
    };
    format!("{head}{steps}")
}

pub(crate) fn workflow_id(id: &str) -> WorkflowId {
    WorkflowId::new(id).unwrap()
}

/// Saves a definition. Equal shapes are equal contents.
pub(crate) fn put(id: &str, shape: u64) -> Part {
    put_over(id, shape, None)
}

/// The same over this version.
pub(crate) fn put_over(id: &str, shape: u64, expected: Option<u32>) -> Part {
    let mut content_hash = [0; 32];
    content_hash[0] = u8::try_from(shape).unwrap();
    Part::PutWorkflow(Box::new(PutWorkflow {
        id: workflow_id(id),
        name: format!("The {id}"),
        content_hash,
        source: source(id, shape),
        by: "ada".to_owned(),
        expected,
    }))
}
