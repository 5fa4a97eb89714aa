//! Typed client of the Refire API.
//!
//! [`model`] has the shapes of requests and answers; the server uses the same ones, so they
//! cannot drift apart. [`query`] has the parameters of calls. [`Client`] has one method per call. JSON that belongs to users (inputs,
//! outputs) travels as raw text and is never parsed on the way. [`worker`] does the tasks of `external_task` steps.

mod client;
mod error;
pub mod model;
pub mod query;
pub mod worker;

pub use client::{Client, ClientBuilder, Execute, Started, every};
pub use error::Error;
pub use worker::{Failure, Worker};
