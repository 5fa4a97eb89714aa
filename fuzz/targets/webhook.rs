//! libFuzzer's door to the target of that name; what it does is in `src/webhook.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| refire_fuzz::webhook::run(data));
