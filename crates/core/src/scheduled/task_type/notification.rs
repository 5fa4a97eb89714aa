//! `notification`: sends something to people.

use super::TaskType;

pub(super) const TYPE: TaskType = TaskType::plain("notification", "sends something to people");
