//! Recorded histories derived again: under the same definition, and under a changed one.

mod golden;
mod histories;
mod lab;
mod scenarios;
