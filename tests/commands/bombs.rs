//! Small files with large claims: no command takes the time or the memory that they claim.

use std::path::Path;
use std::process::Command;

use tet_tests::program;
use tet_tests::values::Seeded;

/// Extents that are odd by themselves, and odder together.
const EXTENTS: [u64; 4] = [0, 1, 2, 1 << 40];
/// What is asked of a file; `$f` is the file.
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
