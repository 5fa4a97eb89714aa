//! libFuzzer's door to the target of that name; what it does is in `src/event_fold.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| refire_fuzz::event_fold::run(data));
