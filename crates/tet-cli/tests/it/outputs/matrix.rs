//! Every option of `convert` with every format that is written: it has an effect, or is refused.
//!
//! Both lists come from the table of containers; `docs/reference/outputs.md` shows the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use tet_cli::Exit;

use super::fixtures;

/// The suffix of each kind of output, and the options that apply to it.
fn outputs() -> Vec<(&'static str, BTreeSet<String>)> {
    let mut outputs = Vec::new();
    for container in tet_convert::containers() {
        let Some(writer) = container.writer() else { continue };
        let flags = tet_cli::convert_flags(writer.can().options);
        outputs.extend(container.usual_suffixes().iter().map(|suffix| (*suffix, flags.clone())));
    }
    outputs
}

/// Arguments with an option, and those without it that give other files.
fn sample(option: &str) -> (Vec<&str>, Vec<&str>) {
    let words = |text: &'static str| text.split_whitespace().collect::<Vec<_>>();
    let (with, without) = match option {
        "--name" => ("--name other", ""),
        "--chunks" => ("--chunks 16,16", ""),
        "--dims" => ("--dims x,y", ""),
        "--labels" => ("--dims x,y --labels x=a,b,c,d", "--dims x,y"),
        "--attr" => ("--attr key=value", ""),
        "--no-digests" => ("--no-digests", ""),
        // Of zstd chunks so small there are none.
        "--no-stats" => ("--codec raw --no-stats", "--codec raw"),
        "--no-history" => ("--no-history", ""),
        "--codec" => ("--codec zstd", "--codec raw"),
        "--codec gzip" => ("--codec gzip", "--codec raw"),
        "--codec lz4" => ("--codec lz4", "--codec raw"),
        "--codec szip" => ("--codec szip --encoding simple_packing --bits 16 --masks all", ""),
        "--level" => ("--codec zstd --level 19", "--codec zstd --level 1"),
        "--align 4096" => ("--align 4096", ""),
        "--align 8" => ("--align 8", ""),
        "--reserve-rows" => ("--reserve-rows 100", ""),
        "--align 65536" => ("--align 65536", ""),
        "--align-above" => ("--align 4096 --align-above 1000000000", "--align 4096"),
        "--checksum none" => ("--checksum none", "--checksum crc32c"),
        "--checksum crc32c" => ("--checksum crc32c", "--checksum none"),
        "--checksum sha256" => ("--checksum sha256", "--checksum none"),
        "--dialect" => ("--dialect 0.1.x", ""),
        "--encoding" => ("--encoding simple_packing --bits 12 --masks all", ""),
        "--filter" => ("--codec zstd --filter shuffle", "--codec zstd --filter none"),
        "--masks" => ("--masks none", ""),
        "--profile" => ("--profile universal", ""),
        "--sparse native" => ("--sparse native", ""),
        "--shard-size" => ("--shard-size 1KB", ""),
        "--zarr" => ("--zarr 2", ""),
        "--shards" => ("--chunks 2,16 --shards 4,32", "--chunks 2,16"),
        _ => panic!("add arguments with {option} to this table"),
    };
    (words(with), words(without))
}

/// Where an option is taken and changes nothing: one dense array has no sparse form and one shard.
const WITHOUT_EFFECT: [(&str, &str); 2] =
    [("--sparse native", "zt"), ("--shard-size", "safetensors.index.json")];

/// An array of 4 x 8192 numbers, one of which is NaN.
fn array() -> Vec<u8> {
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 8192), }";
    let header = format!("{header:<117}\n");
    let len = u16::try_from(header.len()).expect("short").to_le_bytes();
    let number =
        |at: u32| if at == 5 { f64::NAN } else { f64::from(at % 90) + f64::from(at % 7) / 8.0 };
    let elements = (0..4 * 8192).flat_map(|at| number(at).to_le_bytes());
    [&b"\x93NUMPY\x01\x00"[..], &len, header.as_bytes()]
        .concat()
        .into_iter()
        .chain(elements)
        .collect()
}

/// All files of a folder and the folders in it.
fn files(folder: &Path, out: &mut Vec<(String, Vec<u8>)>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a name").path();
        if path.is_dir() {
            files(&path, out);
        } else {
            out.push((path.to_string_lossy().into_owned(), fs::read(&path).expect("a file")));
        }
    }
}

/// Converts the array with these options; the exit, what was printed, and the files.
fn convert(folder: &Path, suffix: &str, args: &[&str]) -> (Exit, String, Vec<(String, Vec<u8>)>) {
    let out = folder.join("out");
    fs::create_dir(&out).expect("a folder");
    let output = format!("out/v.{suffix}");
    let (exit, _, err) = fixtures::tet_in(folder, &[&["convert", "v.npy", &output], args].concat());
    let mut written = Vec::new();
    files(&out, &mut written);
    written.sort();
    fs::remove_dir_all(&out).expect("a folder");
    (exit, err, written)
}

#[test]
fn every_option_has_an_effect_or_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    fs::write(folder.join("v.npy"), array()).expect("a file");
    let outputs = outputs();
    let options: BTreeSet<&str> =
        outputs.iter().flat_map(|(_, options)| options).map(String::as_str).collect();
    assert!(20 < options.len() && 15 < outputs.len(), "the table is there");
    for option in options {
        let (with, without) = sample(option);
        let takes = |suffix: &str| {
            outputs.iter().any(|(it, options)| *it == suffix && options.contains(option))
        };
        for (suffix, _) in &outputs {
            let (exit, printed, written) = convert(folder, suffix, &with);
            if !takes(suffix) {
                assert_eq!(
                    (exit, written.len()),
                    (Exit::Usage, 0),
                    "{with:?} .{suffix}: {printed}"
                );
                let hint =
                    printed.lines().find(|line| line.contains(" is for ")).unwrap_or_default();
                let named = outputs.iter().filter(|(it, _)| hint.contains(&format!(".{it}")));
                assert_ne!(named.count(), 0, "{with:?} .{suffix}: {printed}");
                continue;
            }
            assert_eq!(exit, Exit::Done, "{with:?} .{suffix}: {printed}");
            let (exit, printed, plain) = convert(folder, suffix, &without);
            assert_eq!(exit, Exit::Done, "{without:?} .{suffix}: {printed}");
            let has_effect = !WITHOUT_EFFECT.contains(&(option, suffix));
            assert!(!has_effect || written != plain, "{with:?} is ignored by .{suffix}");
        }
    }
}
