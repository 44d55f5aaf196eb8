#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tet_tests::fuzz::stats(bytes));
