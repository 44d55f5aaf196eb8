//! The bounds of the engine and of each container, from their constants.

use tet_container::Bound;
use tet_query::Execution;
use tet_verify::VerifyOptions;

use super::noun;

/// A bound of the engine, and the option that sets it.
fn of_engine() -> Vec<(Bound, &'static str)> {
    let how = Execution::default();
    let verify = VerifyOptions::default();
    let decoded = tet_format::usual_decoded_max(0);
    let window = 1 << tet_codec::WINDOW_LOG_MAX;
    vec![
        (
            Bound::bytes(
                "memory of a read, if a quarter of the memory is not less",
                how.memory_budget,
            ),
            "`--memory`",
        ),
        (Bound::bytes("memory of `tet verify`", verify.memory_budget), "`--memory`"),
        (
            Bound::bytes(
                "data of one command, decoded, or 65,536 times the length of the file",
                decoded,
            ),
            "`--max-decoded`",
        ),
        (Bound::bytes("result of a reduction, if the memory is not less", how.result_max), "-"),
        (Bound::count("threads", tet_query::THREADS_MAX as u64), "`--threads`"),
        (Bound::count("axes of a selection", tet_query::AXES_MAX as u64), "-"),
        (
            Bound::count(
                "chunks of a dataset that one command visits, or the bytes of its file",
                tet_query::CHUNKS_MAX,
            ),
            "-",
        ),
        (Bound::bytes("query document", tet_document::LEN_MAX as u64), "-"),
        (Bound::count("levels of a query document", tet_document::DEPTH_MAX as u64), "-"),
        (Bound::bytes("window of a zstd frame", window), "-"),
        (
            Bound::bytes(
                "bytes with a checksum in which `tet repair` looks for a bit",
                tet_convert::SUM_LEN_MAX,
            ),
            "-",
        ),
        (Bound::bytes("bytes with a digest in which it does", tet_convert::DIGEST_LEN_MAX), "-"),
    ]
}

/// The bounds of the engine, and those of each container.
pub(super) fn table() -> String {
    let mut out = String::from("| of all formats | most | set by |\n|---|---|---|\n");
    for (bound, option) in of_engine() {
        out.push_str(&format!("| {} | {bound} | {option} |\n", bound.noun));
    }
    out.push_str("\n| format | most |\n|---|---|\n");
    for container in tet_convert::containers().into_iter().filter(|it| !it.bounds().is_empty()) {
        let title = container.format().to_string();
        let bounds = container.bounds().iter().map(|bound| format!("{}: {bound}", bound.noun));
        let bounds = bounds.collect::<Vec<_>>().join("; ");
        out.push_str(&format!("| {} | {bounds} |\n", noun(&title)));
    }
    out
}
