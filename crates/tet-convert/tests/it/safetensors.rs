//! Safetensors written: the bytes of the reference library, and those that came in.

use std::fs;
use std::path::Path;
use tet_io::Progress;

use crate::common::world::World;
use tet_convert::{ConvertOptions, Error, Note, OpenOptions, Opened, Result, convert, open};
use tet_file::metadata::{AttrValue, Metadata};
use tet_file::write::{WriteOptions, Writer};
use tet_format::write::DatasetSpec;
use tet_format::{DType, Shape};

fn file(header: &str, buffer: &[u8]) -> Vec<u8> {
    let len = u64::try_from(header.len()).expect("short");
    [&len.to_le_bytes()[..], header.as_bytes(), buffer].concat()
}

/// Headers of the same two tensors; the first is that of the reference library.
const HEADERS: [&str; 6] = [
    "{\"__metadata__\":{\"k\":\"v\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[8,11]}}    ",
    "{\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[8,11]},\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"__metadata__\":{\"k\":\"v\"}}",
    "{\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]},\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[3,11]},\"__metadata__\":{\"k\":\"v\"}}",
    "{\n \"\\u0062\" : {\"shape\":[3], \"dtype\":\"U8\", \"more\":[{}], \"data_offsets\":[8,11]},\n \"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}\n",
    "{\"__metadata__\":{},\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[8,11]}}",
    "{\"__metadata__\":{\"z\":\"1\",\"a\":\"2\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},\"b\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[8,11]}}",
];
const BUFFER: [u8; 11] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];

impl World {
    fn put_sound(&self, name: &str, bytes: &[u8]) -> Opened {
        self.put(name, bytes);
        self.opened(name)
    }

    fn export(&self, opened: &Opened, names: &[&str]) -> Result<(Vec<u8>, Vec<Note>)> {
        let path = self.path("out.safetensors");
        let _ = fs::remove_file(&path);
        let notes = convert_some(opened, names, &path)?;
        Ok((fs::read(path).expect("the output"), notes))
    }
}

/// Converts the datasets of these names, or all.
fn convert_some(opened: &Opened, names: &[&str], output: &Path) -> Result<Vec<Note>> {
    let mut options = ConvertOptions::default();
    options.tet.include = names.iter().map(|name| (*name).to_owned()).collect();
    let input = opened.catalog.source().path().expect("a file");
    Ok(convert(input, output, &options)?.notes)
}

#[test]
fn a_file_that_is_exported_whole_gives_itself() {
    let world = World::new(&[]);
    for header in HEADERS {
        let bytes = file(header, &BUFFER);
        let opened = world.put_sound("in.safetensors", &bytes);
        let (out, notes) = world.export(&opened, &[]).expect("exported");
        assert!(out == bytes && notes.is_empty(), "{header}");
        // The order in which they are asked for does not matter.
        assert_eq!(world.export(&opened, &["w", "b"]).expect("exported").0, bytes);
    }
}

#[test]
fn a_part_stands_as_the_reference_library_writes_it() {
    let world = World::new(&[]);
    let opened = world.put_sound("in.safetensors", &file(HEADERS[2], &BUFFER));
    let (out, _) = world.export(&opened, &["w"]).expect("exported");
    let header = "{\"__metadata__\":{\"k\":\"v\"},\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}";
    let header = format!("{header:<len$}", len = header.len().next_multiple_of(8));
    assert_eq!(out, file(&header, &BUFFER[3..]));
}

#[test]
fn bytes_that_nothing_computes_with_are_copied() {
    let world = World::new(&[]);
    let header = "{\"q\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[0,4]},\
        \"h\":{\"dtype\":\"F4\",\"shape\":[2,3],\"data_offsets\":[4,7]},\
        \"c\":{\"dtype\":\"C64\",\"shape\":[],\"data_offsets\":[7,15]},\
        \"n\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[15,17]}}";
    // A signaling NaN with a payload stays what it is.
    let buffer: Vec<u8> = (0..15).chain([0x81, 0x7f]).collect();
    let bytes = file(header, &buffer);
    let opened = world.put_sound("in.safetensors", &bytes);
    assert_eq!(world.export(&opened, &[]).expect("exported").0, bytes);
    let (out, _) = world.export(&opened, &["h", "n"]).expect("exported");
    let again = world.put_sound("again.safetensors", &out);
    let names: Vec<&str> = again.catalog.datasets().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["n", "h"]);
    assert!(out.ends_with(&[0x81, 0x7f, 4, 5, 6]));
}

/// A `.tet` file with these datasets, one chunk each, and the attributes of the file.
fn tet(path: &Path, datasets: &[(&str, DType, &[u64], &[u8])], attrs: &[(&str, &str)]) -> Opened {
    let specs = datasets.iter().map(|(name, dtype, shape, _)| {
        let shape = Shape::from(*shape);
        DatasetSpec::new(*name, *dtype, shape.clone(), shape)
    });
    let mut writer =
        Writer::create(path, specs.collect(), &WriteOptions::default()).expect("a file");
    for (id, (_, _, _, elements)) in datasets.iter().enumerate() {
        let mut fill = |_: tet_file::write::ChunkAt<'_>, out: &mut Vec<u8>| {
            out.extend_from_slice(elements);
            Ok(())
        };
        writer.write_dataset(id, &mut fill, &Progress::default()).expect("written");
    }
    let mut metadata = Metadata::new();
    for (key, value) in attrs {
        metadata.file.insert((*key).to_owned(), AttrValue::Text((*value).to_owned()));
    }
    writer.finish(&metadata, &[]).expect("finished");
    open(path, &OpenOptions::default()).expect("it is sound")
}

#[test]
fn a_header_that_came_along_is_written_again_if_it_fits() {
    let world = World::new(&[]);
    let (w, b): (&[u8], &[u8]) = (&BUFFER[..8], &BUFFER[8..]);
    let both: [(&str, DType, &[u64], &[u8]); 2] =
        [("b", DType::UInt8, &[3], b), ("w", DType::Float32, &[2], w)];
    let canonical = file(HEADERS[0], &BUFFER);
    let plain = tet(&world.path("plain.tet"), &both, &[("k", "v")]);
    assert_eq!(world.export(&plain, &[]).expect("exported").0, canonical);
    let kept = |header| [("k", "v"), ("safetensors:header", header)];
    let opened = tet(&world.path("kept.tet"), &both, &kept(HEADERS[1]));
    assert_eq!(world.export(&opened, &[]).expect("exported").0, file(HEADERS[1], &BUFFER));
    // Other strings, another dtype, nonsense: the header of the tensors as they are.
    let other = HEADERS[1].replace("F32", "I32");
    for (at, header) in [HEADERS[4], &other, "{", "[]"].into_iter().enumerate() {
        let opened = tet(&world.path(&format!("other{at}.tet")), &both, &kept(header));
        assert_eq!(world.export(&opened, &[]).expect("exported").0, canonical, "{header}");
    }
}

#[test]
fn what_the_format_lacks_is_refused_or_noted() {
    let world = World::new(&[]);
    let one: &[u8] = &[1];
    let reserved = [("__metadata__", DType::UInt8, &[1][..], one)];
    let opened = tet(&world.path("reserved.tet"), &reserved, &[]);
    assert!(matches!(world.export(&opened, &[]), Err(Error::Reserved { .. })));
    let header = "{\"n\":{\"dtype\":\"NEW\",\"shape\":[1],\"data_offsets\":[0,1]},\
        \"b\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}";
    let opened = world.put_sound("in.safetensors", &file(header, &[1, 2]));
    assert!(matches!(world.export(&opened, &[]), Err(Error::Query(_))));
    assert!(world.export(&opened, &["b"]).is_ok());
    for (name, is_known) in [("out.npz", true), ("out.npy", true), ("out.nothing", false)] {
        let path = world.path(name);
        let done = convert_some(&opened, &["b"], &path);
        assert_eq!(done.is_ok(), is_known, "{name}");
        assert_eq!(path.exists(), is_known, "{name}");
    }
}

/// Elements that nothing computes with are written as the bytes that they are.
#[test]
fn opaque_elements_are_written_raw() {
    let world = World::new(&[]);
    let header = "{\"k\":{\"dtype\":\"F8_E4M3\",\"shape\":[2,3],\"data_offsets\":[0,6]},\"f\":{\"dtype\":\"F4\",\"shape\":[10],\"data_offsets\":[6,11]}}";
    let opened = world.put_sound("x.safetensors", &file(header, &BUFFER));
    for (name, range) in [("k", 0..6), ("f", 6..11)] {
        let dataset = opened.catalog.find(name).expect("it is there");
        assert!(tet_convert::as_bytes(dataset).is_some());
        let path = world.path(&format!("{name}.raw"));
        convert_some(&opened, &[name], &path).expect("bytes");
        assert_eq!(fs::read(path).expect("the output"), BUFFER[range]);
    }
    let plain = world.put_sound("y.safetensors", &file(HEADERS[0], &BUFFER));
    let dataset = plain.catalog.find("w").expect("it is there");
    assert!(tet_convert::as_bytes(dataset).is_none());
}
