//! `custom`: anything else.

use super::TaskType;

pub(super) const TYPE: TaskType = TaskType::plain("custom", "anything else");
