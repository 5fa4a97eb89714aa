//! `business`: moves a business process on.

use super::TaskType;

pub(super) const TYPE: TaskType = TaskType::plain("business", "moves a business process on");
