//! Files on a server: the same answers as of local files, with the requests that were planned.

use std::path::Path;

use tet_convert::{ConvertOptions, OpenOptions, Opened};
use tet_file::write::CodecChoice;
use tet_format::DType;
use tet_format::write::DatasetSpec;
use tet_io::Source;
use tet_net::Settings;
use tet_query::{Dataset, Execution, Hyperslab, Op, ReadRange, Reduction};
use tet_tests::program;
use tet_tests::server::{Fault, Pace, Server};
use tet_tests::values::Seeded;
use tet_tests::written::{self, Written};

fn elements(shape: &[u64], dtype: DType) -> Vec<u8> {
    let mut seeded = Seeded(5);
    let element = |bits: u64| {
        let number = (bits >> 50) as f64 / 7.0;
        if dtype == DType::Float64 {
            number.to_le_bytes().to_vec()
        } else {
            (number as f32).to_le_bytes().to_vec()
        }
    };
    (0..shape.iter().product()).flat_map(|_: u64| element(seeded.bits())).collect()
}

fn sample(folder: &Path, name: &str, shape: [u64; 3], encoder: CodecChoice) -> std::path::PathBuf {
    let of = |name: &str, dtype, chunk: [u64; 3]| Written {
        spec: DatasetSpec::new(name, dtype, shape, chunk),
        elements: elements(&shape, dtype),
    };
    let half = [1, shape[1].div_ceil(2), shape[2]];
    let datasets = [of("a", DType::Float32, half), of("b", DType::Float64, [2, shape[1], 50])];
    written::write(folder, name, &datasets, encoder)
}

fn open(path: impl AsRef<Path>) -> Opened {
    tet_convert::open(path, &OpenOptions::default()).unwrap()
}

fn how(threads: usize) -> Execution {
    Execution { threads, ..Execution::default() }
}

/// All bits of what a dataset answers to several questions.
fn answers(dataset: &Dataset, threads: usize) -> String {
    let (how, whole) = (how(threads), Hyperslab::whole(dataset.shape()));
    let read = dataset.read(&whole, &how).unwrap();
    let mut all = format!("{:?} {:?}", dataset.name, read.value.bytes());
    for reduction in [Reduction::all(Op::Sum), Reduction::along(Op::Mean, vec![0])] {
        if let Ok(reduced) = dataset.reduce(&whole, &reduction, &how) {
            all += &format!("{:?} {:?}", reduced.value, reduced.integrity);
        }
    }
    all
}

fn serve(folder: &Path) -> Server {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.is_file()).map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (format!("/{name}"), std::fs::read(&path).unwrap())
    });
    Server::new(files.collect::<Vec<_>>())
}

#[test]
fn every_container_answers_as_the_local_file_does() {
    tet_net::register(Settings::default());
    let folder = tempfile::tempdir().unwrap();
    let input = sample(folder.path(), "a.tet", [5, 90, 100], CodecChoice::Zstd { level: 3 });
    let suffixes = ["npz", "safetensors", "zt", "tgm", "nc", "h5", "fits", "zarr.zip", "gguf"];
    for suffix in suffixes {
        let output = folder.path().join(format!("a.{suffix}"));
        // Those that cannot hold these datasets are left out.
        let _ = tet_convert::convert(&input, &output, &ConvertOptions::default());
    }
    let server = serve(folder.path());
    let mut count = 0;
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let local = open(&path);
        server.take_log();
        let remote = open(server.url(&format!("/{name}")));
        assert!(server.take_log().len() <= 4, "{name}");
        assert_eq!(local.catalog.datasets().len(), remote.catalog.datasets().len());
        for (near, far) in local.catalog.datasets().iter().zip(remote.catalog.datasets()) {
            for threads in [1, 3] {
                assert!(answers(near, threads) == answers(far, threads), "{name} {}", near.name);
            }
        }
        remote.catalog.check_unchanged().unwrap();
        count += 1;
    }
    assert!(count >= 6, "{count} containers");
}

/// Opening takes two requests, an element one more, and everything what `explain` says.
#[test]
fn requests_are_those_of_the_plan() {
    tet_net::register(Settings::default());
    for encoder in [CodecChoice::Raw, CodecChoice::Zstd { level: 3 }] {
        let folder = tempfile::tempdir().unwrap();
        let path = sample(folder.path(), "a.tet", [24, 300, 300], encoder);
        let (server, local) = (serve(folder.path()), open(&path));
        let remote = open(server.url("/a.tet"));
        assert_eq!(server.take_log().len(), 2);
        for (near, far) in local.catalog.datasets().iter().zip(remote.catalog.datasets()) {
            let whole = Hyperslab::whole(far.shape());
            for threads in [1, 4] {
                let how = how(threads);
                for reduction in [Reduction::all(Op::Sum), Reduction::along(Op::Mean, vec![0])] {
                    let mut planned = 0;
                    let visit = &mut |run: ReadRange| planned += far.source.request_count(run.span);
                    far.reduce_runs(&whole, &reduction, &how, visit).unwrap();
                    assert_eq!(server.take_log().len(), 0);
                    let found = far.reduce(&whole, &reduction, &how).unwrap();
                    assert_eq!(
                        server.take_log().len() as u64,
                        planned,
                        "{encoder:?} {reduction:?}"
                    );
                    let wanted = near.reduce(&whole, &reduction, &how).unwrap();
                    assert_eq!(format!("{:?}", found.value), format!("{:?}", wanted.value));
                }
            }
            let element = Hyperslab::new(
                whole
                    .axes()
                    .iter()
                    .map(|it| tet_query::AxisSlice { start: 7, stop: 8, ..*it })
                    .collect(),
                far.shape(),
            );
            far.read(&element.unwrap(), &how(2)).unwrap();
            assert!(server.take_log().len() <= 1);
        }
    }
}

/// A file that is replaced while it is read is an error, never a mixture.
#[test]
fn a_file_that_changes_is_an_error() {
    tet_net::register(Settings::default());
    let folder = tempfile::tempdir().unwrap();
    let path = sample(folder.path(), "a.tet", [24, 300, 300], CodecChoice::Raw);
    let bytes = std::fs::read(path).unwrap();
    for fault in [Fault::OtherEtag, Fault::OtherFile] {
        for from in [2, 3, 4] {
            let faults = move |number, _: &str| (from <= number).then_some(fault);
            let server = Server::with([("/a.tet".into(), bytes.clone())], Pace::default(), faults);
            let remote = open(server.url("/a.tet"));
            let dataset = &remote.catalog.datasets()[0];
            let whole = Hyperslab::whole(dataset.shape());
            let error = dataset.read(&whole, &how(2)).unwrap_err();
            assert!(error.to_string().contains("changed while it was read"), "{error}");
        }
    }
}

#[test]
fn shards_are_next_to_their_index() {
    tet_net::register(Settings::default());
    let folder = tempfile::tempdir().unwrap();
    let input = sample(folder.path(), "a.tet", [5, 90, 100], CodecChoice::Raw);
    let mut options = ConvertOptions::default();
    options.shard_len = Some(300_000);
    let index = folder.path().join("model.safetensors.index.json");
    tet_convert::convert(&input, &index, &options).unwrap();
    let server = serve(folder.path());
    let remote = open(server.url("/model.safetensors.index.json"));
    for (near, far) in open(&index).catalog.datasets().iter().zip(remote.catalog.datasets()) {
        assert!(answers(near, 2) == answers(far, 2));
    }
}

/// Processes that share a cache, also one that has no room for the file, give the answer that there is without it; a
/// later one requests nothing but the opening.
#[test]
fn processes_share_a_cache() {
    let folder = tempfile::tempdir().unwrap();
    sample(folder.path(), "a.tet", [24, 300, 300], CodecChoice::Raw);
    let server = serve(folder.path());
    let url = server.url("/a.tet");
    let query = |cache: &str, size: &str| {
        let mut command = std::process::Command::new(program::tet());
        command.args(["query", "--json", &url, "a", "--mean", "0"]).current_dir(folder.path());
        command.args(["--cache", cache, "--cache-size", size]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let answer = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        output.stdout
    };
    let alone = answer(query("", "1GiB"));
    for size in ["1GiB", "1MiB"] {
        let children: Vec<_> = (0..4).map(|_| query(size, size)).collect();
        assert!(children.into_iter().all(|child| answer(child) == alone), "{size}");
        assert!(folder.path().join(size).join("blocks-1").is_dir());
    }
    server.take_log();
    assert!(answer(query("1GiB", "1GiB")) == alone);
    assert_eq!(server.take_log().len(), 2);
}

/// With `--remote` the plan of a local file is that of the same file on a server.
#[test]
fn a_local_file_is_planned_as_one_of_a_server() {
    let folder = tempfile::tempdir().unwrap();
    sample(folder.path(), "a.tet", [64, 256, 300], CodecChoice::Raw);
    let server = serve(folder.path());
    let (local, url) = (folder.path().join("a.tet"), server.url("/a.tet"));
    let plan = |file: &str, args: &[&str]| -> serde_json::Value {
        let mut explain = std::process::Command::new(program::tet());
        explain.args(["explain", "--json", file, "a", "--stats", "never"]).args(args);
        let output = explain.output().unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        answer["plan"].clone()
    };
    let local = local.to_str().unwrap();
    for args in [
        &["--sum", "-s", "40:64"][..],
        &["--mean", "0", "-s", "40:64"],
        &["-s", "50,17,20"],
        &["--max", "--io-depth", "32", "--memory", "64MiB", "-s", "8:64"],
    ] {
        let remote = plan(&url, args);
        assert!(0 < remote["requests"].as_u64().unwrap(), "{args:?}");
        assert_eq!(plan(local, &[args, &["--remote"]].concat()), remote, "{args:?}");
        assert!(plan(local, args).get("requests").is_none_or(serde_json::Value::is_null));
    }
}

/// Exit codes, and no signature in what is printed.
#[test]
fn the_command_reads_urls() {
    let folder = tempfile::tempdir().unwrap();
    sample(folder.path(), "a.tet", [5, 90, 100], CodecChoice::Zstd { level: 3 });
    let server = serve(folder.path());
    let url = server.url("/a.tet");
    let signed = format!("{}?signature=secret", server.url("/none.tet"));
    let there = format!("{url}?signature=secret");
    let zarr = server.url("/a.zarr");
    let folder_url = server.url("/b/");
    let cases: [(&[&str], i32, &str); 19] = [
        (&["info", &url], 0, "float32"),
        (&["query", &url, "a", "--sum"], 0, ""),
        (&["explain", &url, "a", "--sum"], 0, "requests"),
        (&["explain", "--io-depth", "1", &url, "a", "--sum"], 0, "requests  0 to the server"),
        (&["info", "--json", &there], 0, "tet.info/1"),
        (&["query", "--json", &there, "a", "--sum"], 0, "tet.query/1"),
        (&["explain", "--json", &there, "a", "--sum"], 0, "tet.explain/1"),
        (&["stats", "--json", &there], 0, "tet.stats/1"),
        (&["verify", "--json", &there], 0, "tet.verify/1"),
        (&["diff", "--json", &there, &there], 0, "tet.diff/1"),
        (&["repair", &there], 0, "nothing to repair"),
        (&["digest", &there], 2, "unrecognized"),
        (&["verify", &url], 0, ""),
        (&["diff", &url, &url], 0, ""),
        (&["info", &signed], 5, "not found"),
        (&["info", &zarr], 5, "not found"),
        (&["info", &folder_url], 5, "not found"),
        (&["info", "ftp://host/a.tet"], 5, "http, https, s3, gs and az"),
        (&["convert", &url, "http://127.0.0.1/b.tet"], 2, "s3://, gs:// and az://"),
    ];
    for (args, code, text) in cases {
        let output = std::process::Command::new(program::tet()).args(args).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8(said).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(text) && !said.contains("secret"), "{args:?}: {said}");
    }
    let local = Source::open(folder.path().join("a.tet")).unwrap();
    assert_eq!(Source::open(url).unwrap().len(), local.len());
}
