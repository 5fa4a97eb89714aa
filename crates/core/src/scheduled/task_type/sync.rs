//! `sync`: brings data from one system to another. Its payload may say where: without a `targetConfig` the
//! task is sent to `taskPayload.apiEndpoint`.

use super::{Given, TaskType};
use crate::definition::fields::Field;
use crate::scheduled::target::Default;

/// The key of the payload that says where to.
const ENDPOINT: &str = "apiEndpoint";

pub(super) const TYPE: TaskType = TaskType {
    target,
    ..TaskType::plain("sync", "brings data from one system to another")
};

fn target<'a>(given: &Given<'a>) -> Option<Default<'a>> {
    let payload = given.payload?;
    let node = payload.node.get(ENDPOINT)?;
    Some(Default {
        url: Field::new(format!("{}.{ENDPOINT}", payload.path), node),
    })
}
