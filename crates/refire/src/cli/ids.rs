//! Ids of the wrong kind: executions and dead letters are easily mixed up, and the command that
//! was meant is known.

use super::outcome::Usage;

const BULK: &str = "bulk_";
const EXECUTION: &str = "exec_";
const LETTER: &str = "dlq_";
const REQUEST: &str = "whr_";
const SCHEDULED: &str = "task-";
const TASK: &str = "xt_";
const TRIGGER: &str = "trg_";
const WEBHOOK: &str = "wh_";

/// The id, unless it is a dead letter's.
pub(crate) fn execution(id: &str) -> Result<&str, Usage> {
    if id.starts_with(LETTER) {
        return Err(Usage(format!(
            "{id} is a dead letter, not an execution; see it with: refire dlq show {id}"
        )));
    }
    Ok(id)
}

/// The id, unless it is something else's.
pub(crate) fn bulk(id: &str) -> Result<&str, Usage> {
    if id.starts_with(BULK) {
        return Ok(id);
    }
    Err(Usage(format!(
        "{id} is not a bulk job (bulk_…); find it with: refire bulk list"
    )))
}

/// The id, unless it is an execution's.
pub(crate) fn letter(id: &str) -> Result<&str, Usage> {
    if id.starts_with(EXECUTION) {
        return Err(Usage(format!(
            "{id} is an execution, not a dead letter; `refire executions show {id}` names its \
             dead letter"
        )));
    }
    Ok(id)
}

/// The id, unless it is something else's.
pub(crate) fn task(id: &str) -> Result<&str, Usage> {
    Err(Usage(match id.split_inclusive('_').next() {
        Some(TASK) => return Ok(id),
        Some(EXECUTION) => format!(
            "{id} is an execution, not a task; see its tasks with: refire tasks list --execution {id}"
        ),
        _ => format!("{id} is not a task (xt_…); find it with: refire tasks list"),
    }))
}

/// The id, unless it is something else's.
pub(crate) fn trigger(id: &str) -> Result<&str, Usage> {
    Err(Usage(match id.split_inclusive('_').next() {
        Some(TRIGGER) => return Ok(id),
        Some(WEBHOOK) => format!(
            "{id} is part of a webhook's address; find its trigger (trg_…) with: refire trigger list"
        ),
        Some(EXECUTION) => format!(
            "{id} is an execution, not a trigger; `refire executions show {id}` names its trigger"
        ),
        Some(REQUEST) => format!("{id} is a webhook request; put its trigger (trg_…) before it"),
        _ => format!(
            "{id} is not a trigger (trg_…); if it is a workflow, see its triggers with: refire trigger \
             list --workflow {id}"
        ),
    }))
}

/// The id, unless it is something else's.
pub(crate) fn scheduled_task(id: &str) -> Result<&str, Usage> {
    if id.starts_with(SCHEDULED) {
        return Ok(id);
    }
    Err(Usage(format!(
        "{id} is not a scheduled task (task-…); find it with: refire scheduled list"
    )))
}

/// The id, unless it is something else's.
pub(crate) fn channel(id: &str) -> Result<&str, Usage> {
    if id.starts_with("chn_") {
        return Ok(id);
    }
    Err(Usage(format!(
        "{id} is not a channel (chn_…); find it with: refire channels list"
    )))
}

/// The id, unless it is something else's.
pub(crate) fn notification(id: &str) -> Result<&str, Usage> {
    if id.starts_with("ntf_") {
        return Ok(id);
    }
    Err(Usage(format!(
        "{id} is not a notification (ntf_…); find it with: refire notifications list"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_kind_is_sent_to_its_command() {
        assert_eq!(execution("exec_1").unwrap(), "exec_1");
        assert_eq!(letter("dlq_1").unwrap(), "dlq_1");
        let said = execution("dlq_1").unwrap_err().to_string();
        assert!(said.contains("refire dlq show dlq_1"), "{said}");
        let said = letter("exec_1").unwrap_err().to_string();
        assert!(said.contains("refire executions show exec_1"), "{said}");
        assert_eq!(trigger("trg_1").unwrap(), "trg_1");
        for other in ["wh_1", "exec_1", "report"] {
            let said = trigger(other).unwrap_err().to_string();
            assert!(said.contains("refire "), "{said}");
        }
        assert_eq!(task("xt_1").unwrap(), "xt_1");
        let said = task("exec_1").unwrap_err().to_string();
        assert!(
            said.contains("refire tasks list --execution exec_1"),
            "{said}"
        );
        let said = task("n8n-1").unwrap_err().to_string();
        assert!(said.contains("refire tasks list"), "{said}");
        let said = trigger("report").unwrap_err().to_string();
        assert!(
            said.contains("refire trigger list --workflow report"),
            "{said}"
        );
        let said = trigger("whr_1").unwrap_err().to_string();
        assert!(said.contains("its trigger (trg_…)"), "{said}");
    }
}
