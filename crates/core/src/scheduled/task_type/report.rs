//! `report`: makes a report.

use super::TaskType;

pub(super) const TYPE: TaskType = TaskType::plain("report", "makes a report");
