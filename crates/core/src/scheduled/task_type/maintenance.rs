//! `maintenance`: cleans up, backs up or checks.

use super::TaskType;

pub(super) const TYPE: TaskType = TaskType::plain("maintenance", "cleans up, backs up or checks");
