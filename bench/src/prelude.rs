//! What a measurement is made of: time, an engine or a target, repeats, and the line it prints.

pub(crate) use std::sync::{Arc, Mutex};
pub(crate) use std::time::{Duration, Instant};

pub(crate) use refire_engine::caller::Caller;
pub(crate) use refire_engine::clock::{Clock, SystemClock};
pub(crate) use refire_engine::limit::Limits;
pub(crate) use refire_engine::target::{HttpAnswer, HttpRequest};
pub(crate) use refire_engine::{Engine, Submission};

pub(crate) use crate::embedded::{self, AtOnce, Embedded, TOGETHER};
pub(crate) use crate::line::{Goal, Line};
pub(crate) use crate::progress::{repeats, say};
pub(crate) use crate::sample::{Latency, Repeats, Waits, locked};
pub(crate) use crate::target::{self, Manner, Target, WORKFLOW};
pub(crate) use crate::{machine, place, rows};
