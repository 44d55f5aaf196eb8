//! Files and folders on a server that fails: each container, with one request after the other going wrong in each
//! way. The right answer or an error, soon, and never another answer.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tet_convert::{AxisAppend, Checksum, ConvertOptions, DimNames, EditOptions, OpenOptions};
use tet_file::write::CodecChoice;
use tet_format::DType;
use tet_format::write::DatasetSpec;
use tet_net::Settings;
use tet_query::{Execution, Hyperslab, Op, Reduction};
use tet_tests::server::{Fault, Pace, Server};
use tet_tests::values::Seeded;
use tet_tests::written::{self, Written};

/// Requests of a container that are made to fail, at most.
const REQUESTS_MAX: usize = 8;

/// Whether the answer has to be right when one request goes wrong like this: it is made again.
const FAULTS: [(Fault, bool); 17] = [
    (Fault::Status(500), true),
    (Fault::Status(503), true),
    (Fault::Status(403), false),
    (Fault::Cut(0), true),
    (Fault::Cut(1000), true),
    (Fault::Nothing, true),
    (Fault::Silence, true),
    (Fault::Redirect, true),
    (Fault::Shifted, false),
    (Fault::OtherEtag, false),
    (Fault::OtherFile, false),
    (Fault::Whole, false),
    (Fault::Compressed, false),
    (Fault::Endless, false),
    (Fault::Longer, false),
    (Fault::NoRange, false),
    (Fault::LongHeader, false),
];

/// A file of two arrays; both are longer than what is read when a file is opened.
fn input(folder: &Path, name: &str) -> PathBuf {
    let mut seeded = Seeded(7);
    let mut array = |name: &str, dtype: DType, shape: [u64; 3], chunk: [u64; 3]| {
        let count = shape.iter().product::<u64>();
        let numbers = (0..count).map(|_| (seeded.bits() >> 40) as f64 / 9.0);
        let elements = match dtype {
            DType::Float64 => numbers.flat_map(f64::to_le_bytes).collect(),
            _ => numbers.flat_map(|it| (it as f32).to_le_bytes()).collect(),
        };
        Written { spec: DatasetSpec::new(name, dtype, shape, chunk), elements }
    };
    let a = array("a", DType::Float32, [24, 150, 60], [4, 75, 60]);
    let b = array("b", DType::Float64, [24, 100, 50], [4, 100, 50]);
    written::write(folder, name, &[a, b], CodecChoice::Zstd { level: 1 })
}

/// The containers, below a folder.
fn containers(folder: &Path) -> Vec<String> {
    let input = input(folder, "in.tet");
    let names =
        ["a.tet", "a.zt", "a.tgm", "a.npz", "a.safetensors", "a.h5", "a.zarr", "a.zarr.zip"];
    for name in names {
        let mut options = ConvertOptions::default();
        options.storage.checksum = name.contains("zarr").then_some(Checksum::Crc32c);
        tet_convert::convert(&input, &folder.join(name), &options).unwrap();
    }
    let mut named = ConvertOptions::default();
    let names_of_axes = ["time", "y", "x"].map(str::to_owned).to_vec();
    named.tet.dims = vec![DimNames { dataset: None, names: names_of_axes }];
    let of_time = folder.join("of_time.tet");
    tet_convert::convert(&input, &of_time, &named).unwrap();
    let inputs = [of_time.clone(), of_time];
    let asked = AxisAppend { axis: "time", inputs: &inputs, ..AxisAppend::default() };
    let (edit, how) = (EditOptions::default(), Execution::default());
    tet_convert::append(&folder.join("a.tets"), &asked, &edit, &how).unwrap();
    names.into_iter().chain(["a.tets"]).map(str::to_owned).collect()
}

/// All files below a folder, by their paths on a server.
fn files(folder: &Path, path: &str, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{path}/{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            files(&entry.path(), &path, found);
        } else {
            found.push((path, std::fs::read(entry.path()).unwrap()));
        }
    }
}

/// All bits of the answers to several questions.
fn answers(path: impl AsRef<Path>) -> tet_convert::Result<String> {
    let how = Execution { threads: 2, ..Execution::default() };
    let opened = tet_convert::open(path, &OpenOptions::default())?;
    let mut all = String::new();
    for dataset in opened.catalog.datasets() {
        let whole = Hyperslab::whole(dataset.shape());
        let element = whole.part(&[5..6, 7..8, 9..10]);
        all += &format!("{} {:?}", dataset.name, dataset.read(&element, &how)?.value.bytes());
        let sum = dataset.reduce(&whole, &Reduction::all(Op::Sum), &how)?;
        all += &format!("{:?} {:?}", sum.value, dataset.read(&whole, &how)?.value.bytes());
    }
    opened.catalog.check_unchanged()?;
    Ok(all)
}

#[test]
fn no_container_gives_a_wrong_answer_whichever_request_fails() {
    let backoff = Duration::from_millis(2);
    let read_timeout = Duration::from_millis(400);
    tet_net::register(Settings { backoff, read_timeout, ..Settings::default() });
    let folder = tempfile::tempdir().unwrap();
    let names = containers(folder.path());
    let mut all = Vec::new();
    files(folder.path(), "", &mut all);
    // Most of the time is waited for timeouts.
    std::thread::scope(|scope| {
        for name in &names {
            let (folder, all) = (folder.path(), &all);
            scope.spawn(move || check(name, folder, all));
        }
    });
}

/// Asks one container again and again, with another fault each time.
fn check(name: &str, folder: &Path, all: &[(String, Vec<u8>)]) {
    let wanted = answers(folder.join(name)).unwrap();
    let of_name = || all.iter().filter(|(path, _)| path[1..].starts_with(name)).cloned();
    let server = Server::new(of_name());
    assert!(answers(server.url(&format!("/{name}"))).unwrap() == wanted, "{name}");
    let count = server.take_log().len();
    // The first ones open the file; of the others some.
    let step = count.div_ceil(REQUESTS_MAX);
    let chosen: Vec<usize> = (0..count).filter(|at| *at < 4 || at % step == 0).collect();
    assert!(6 <= chosen.len(), "{name}: {count} requests");
    for (fault, is_repaired) in FAULTS {
        for &at in &chosen {
            let faults = move |number, _: &str| (number == at).then_some(fault);
            let server = Server::with(of_name(), Pace::default(), faults);
            let began = Instant::now();
            let found = answers(server.url(&format!("/{name}")));
            let about = format!("{name}, {fault:?} at {at} of {count}: {:?}", found.as_ref().err());
            assert!(began.elapsed() < Duration::from_secs(60), "{about}");
            match found {
                Ok(found) => assert!(found == wanted, "{about}"),
                Err(_) => assert!(!is_repaired, "{about}"),
            }
        }
    }
}
