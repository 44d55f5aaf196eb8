//! Small files with large claims: no command takes the time or the memory that they claim.

use std::path::Path;
use std::process::Command;

use tet_tests::assemble::{Dataset, Sheet, put};
use tet_tests::values::Seeded;
use tet_tests::zt::{self, cbor};
use tet_tests::{frame, program, tgm};

/// Extents that are odd by themselves, and odder together.
const EXTENTS: [u64; 4] = [0, 1, 2, 1 << 40];
/// Commands that read a file; `$f` is the file.
const READS: [&str; 5] = [
    r##"cat "$f" "#0""##,
    r##"cat "$f" "#0" --full"##,
    r##"cat "$f" "#0" --format csv"##,
    r##"stats "$f""##,
    r##"query "$f" "#0" --json"##,
];
const REDUCTIONS: [&str; 12] = [
    "--sum",
    "--count",
    "--mean",
    "--min",
    "--std",
    "--median",
    "--argmax",
    "--product",
    "--nan-count",
    "--any-nan",
    "--quantile 0.5",
    "--histogram 4",
];
const WINDOWS: [&str; 5] = ["", "--rolling 0:3", "--window 0:3", "--rolling 1:2", "--window 1:2"];
const TRANSFORMS: [&str; 9] =
    ["l1", "l2", "zscore", "minmax", "center", "scale", "log1p", "sqrt", "softmax"];
const OVER: [&str; 4] = ["", "--over 0", "--over 1", "--over 0,1"];

/// Every question, as the rest of a command line.
fn questions() -> Vec<String> {
    let mut all: Vec<String> = READS.iter().map(|&read| read.to_owned()).collect();
    let mut query = |flags: String| all.push(format!(r##"query "$f" "#0" {flags}"##));
    for over in OVER {
        for reduction in REDUCTIONS {
            WINDOWS.iter().for_each(|window| query(format!("{reduction} {over} {window}")));
        }
        TRANSFORMS.iter().for_each(|transform| query(format!("--transform {transform} {over}")));
    }
    for matrix in ["--covariance", "--correlation"] {
        [0, 1].iter().for_each(|axis| query(format!("{matrix} {axis}")));
    }
    all
}

/// A `.safetensors` file of one tensor of zeros.
fn safetensors(shape: &[u64]) -> Vec<u8> {
    let len = shape.iter().fold(4, |len: u64, extent| len.saturating_mul(*extent));
    let len = if shape.contains(&0) { 0 } else { len };
    let header = format!(r#"{{"a":{{"dtype":"F32","shape":{shape:?},"data_offsets":[0,{len}]}}}}"#);
    let header = format!("{header:<width$}", width = header.len().next_multiple_of(8));
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.into_bytes());
    bytes.extend(vec![0; usize::try_from(len).unwrap()]);
    bytes
}

/// Runs commands with 1 GiB of address space and 5 s each: what was printed, and how each ended.
fn run(folder: &Path, name: &str, commands: &[String]) -> (String, Vec<i32>) {
    // Behind an `echo`, `$?` is that of the `echo`.
    let line = |command: &String| {
        format!("\"$tet\" {command} </dev/null; code=$?; echo; echo \"== $code\"\n")
    };
    let lines: String = commands.iter().map(line).collect();
    let script = format!("ulimit -v 1048576; ulimit -t 5; exec 2>&1; f={name}\n{lines}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).env("tet", program::tet()).current_dir(folder);
    let printed = String::from_utf8(shell.output().unwrap().stdout).unwrap();
    let codes = printed.lines().filter_map(|line| line.strip_prefix("== ")?.parse().ok());
    let codes = codes.collect();
    (printed, codes)
}

#[test]
fn an_extent_of_zero_beside_a_huge_one_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut seeded = Seeded(23);
    let questions = questions();
    let mut wrong = Vec::new();
    for rank in 1..=3_usize {
        for nth in 0..EXTENTS.len().pow(u32::try_from(rank).unwrap()) {
            let digit = |axis: usize| nth / EXTENTS.len().pow(u32::try_from(axis).unwrap()) % 4;
            let shape: Vec<u64> = (0..rank).map(|axis| EXTENTS[digit(axis)]).collect();
            if !shape.contains(&0) && shape.contains(&(1 << 40)) {
                continue;
            }
            std::fs::write(folder.path().join("z.safetensors"), safetensors(&shape)).unwrap();
            let mut asked: Vec<String> = READS.iter().map(|&read| read.to_owned()).collect();
            asked.extend((0..8).map(|_| questions[seeded.index(questions.len())].clone()));
            let (printed, codes) = run(folder.path(), "z.safetensors", &asked);
            assert_eq!(codes.len(), asked.len(), "{printed}");
            // Some questions are wrong for some shapes, and a column of 2^40 values is a limit.
            let is_right = |code: &i32| [0, 2, 4].contains(code);
            let bad = asked.iter().zip(&codes).filter(|(_, code)| !is_right(code));
            wrong.extend(bad.map(|(command, code)| format!("{shape:?}: {command} gives {code}")));
            if codes[..READS.len()] != [0; READS.len()] || printed.len() > 10_000 {
                wrong.push(format!("{shape:?}: {codes:?}, {} bytes printed", printed.len()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// Blocks of 128 KiB of zeros, four bytes each, in one zstd frame that states its length.
fn zeros(len: u64) -> Vec<u8> {
    let mut frame = vec![0x28, 0xB5, 0x2F, 0xFD, 0xC0, 0x38];
    frame.extend(len.to_le_bytes());
    let blocks = len >> 17;
    for nth in 1..=blocks {
        let last = u32::from(nth == blocks);
        frame.extend(&((1_u32 << 20) | 1 << 1 | last).to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

/// Writes a file and asks it; the exit codes.
fn codes(name: &str, bytes: &[u8], commands: &[&str]) -> (String, Vec<i32>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), bytes).unwrap();
    let commands: Vec<String> = commands.iter().map(|&command| command.to_owned()).collect();
    run(folder.path(), name, &commands)
}

#[test]
fn a_sparse_tensor_of_six_gibibytes_of_zeros_is_checked_in_little_memory() {
    // `indptr` is shorter than the blob, and as long.
    for (rows, len) in [(1_u64 << 28, 6_u64 << 30), ((1 << 24) - 1, 1 << 27)] {
        let blob = zeros(len);
        assert!(blob.len() < 200_000);
        let tensor = zt::Tensor::new("s", "float32", &[rows, 4], Vec::new());
        let tensor = tensor.framed(blob).with("layout", cbor::text("sparsecsr"));
        let (bytes, _) = zt::assemble(&[tensor]);
        let asked =
            [r#"verify --deep --memory 16MiB --threads 1 "$f""#, r##"query "$f" "#0" --sum"##];
        let (printed, codes) = codes("x.zt", &bytes, &asked);
        let is_short = rows == 1 << 28;
        assert_eq!(codes[0], i32::from(is_short), "{printed}");
        let is_refused = |code: &i32| if is_short { [3, 4].contains(code) } else { *code == 0 };
        assert!(codes[1..].iter().all(is_refused), "{printed}");
        assert_eq!(printed.contains("ZT-S2"), is_short, "{printed}");
    }
}

#[test]
fn a_blob_of_elements_is_none_of_a_tensor_without_elements() {
    let elements: Vec<u8> = (0..96).collect();
    let of = |shape: &[u64], blob: &[u8]| {
        let tensor = zt::Tensor::new("t", "float32", shape, Vec::new()).framed(frame::plain(blob));
        zt::assemble(&[tensor.sealed(zt::Seal::Crc32c)]).0
    };
    let asked = [
        r##"cat "$f" "#0""##,
        r##"query "$f" "#0" --sum"##,
        r#"verify --deep "$f""#,
        r#"stats "$f""#,
    ];
    let (printed, found) = codes("x.zt", &of(&[0, 6], &elements), &asked);
    assert_eq!(found, [3, 3, 1, 3], "{printed}");
    assert!(printed.contains("ZT-B7") && !printed.contains("found 0, wanted 0"), "{printed}");
    let (printed, found) = codes("x.zt", &of(&[0, 6], &[]), &asked);
    assert_eq!(found, [0; 4], "{printed}");
}

#[test]
fn objects_of_no_bytes_come_to_a_bounded_sum() {
    // 300 objects of 2^27 values of no bits: 300 GiB.
    let objects: Vec<tgm::Object> = (0..300).map(|_| tgm::packed(0, 1 << 27)).collect();
    let bytes = tgm::Message::whole(&objects, tgm::Hashes::Frames).bytes();
    let asked = [
        r#"verify --deep --max-decoded 256MiB "$f""#,
        r#"stats "$f""#,
        r#"convert "$f" x.npz"#,
        r#"convert "$f" x.tet"#,
        r##"cat "$f" "#7""##,
    ];
    let (printed, codes) = codes("x.tgm", &bytes, &asked);
    assert_eq!(codes, [4, 4, 4, 4, 0], "{printed}");
    assert!(printed.contains("--max-decoded"), "{printed}");
}

#[test]
fn rows_that_share_a_payload_come_to_a_bounded_sum() {
    // 600 rows of one payload of 64 MiB: 37.5 GiB out of 65 KB.
    let (count, row_len, payload) = (600_u64, 64_u64 << 20, zeros(64 << 20));
    let file = Sheet::new(&[Dataset::new("a", 5, 1, &[count]).chunked(&[1])]).assemble();
    let payload_at = file.marks.payloads[0].0;
    let mut bytes = file.bytes[..usize::try_from(payload_at).unwrap()].to_vec();
    bytes.extend(&payload);
    let extents = [count * row_len, row_len].map(u64::to_le_bytes).concat();
    bytes = put(&bytes, file.marks.records[0] + 24, &extents);
    for &row in &file.marks.rows {
        let numbers = [payload_at, row_len, payload.len() as u64].map(u64::to_le_bytes).concat();
        bytes = put(&bytes, row + 72, &[numbers, 1_u32.to_le_bytes().to_vec()].concat());
    }
    let asked = [
        r#"verify --deep "$f""#,
        r##"query "$f" "#0" --sum"##,
        r#"stats "$f""#,
        r#"convert "$f" x.npz"#,
        r##"query "$f" "#0" --sum --max-decoded 1GiB --select 0:10"##,
        r##"query "$f" "#0" --sum --max-decoded 1KiB --select 0:10"##,
    ];
    let (printed, codes) = codes("x.tet", &bytes, &asked);
    assert_eq!(codes, [0, 4, 4, 4, 0, 4], "{printed}");
}
