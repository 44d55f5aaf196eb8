//! Chunks that libhdf5 and numcodecs encoded, made by `xtask/interop/codec_cases.py`.

use std::sync::Arc;

use crate::{
    ChecksumKind, ConfigValue, Decode, Deflate, ElementLayout, Pipeline, Room, Stage, Unsupported,
    hdf5_stage, numcodecs_stage,
};

const CASES: &[u8] = include_bytes!("cases.tsv.gz");

/// A chunk.
pub(super) struct Case {
    pub(super) name: &'static str,
    pub(super) pipeline: Pipeline,
    pub(super) decoded_len: usize,
    pub(super) stored: Vec<u8>,
    crc: u32,
}

/// All chunks.
pub(super) fn all() -> Vec<Case> {
    let mut text = Vec::new();
    Deflate::gzip().undo(CASES, Room::AtMost(1 << 30), &mut text).unwrap();
    let lines = String::from_utf8(text).unwrap().leak().lines();
    lines.map(case).collect()
}

fn case(line: &'static str) -> Case {
    let fields: Vec<&str> = line.split('\t').collect();
    let [name, family, filters, element_size, decoded_len, crc, stored] = fields[..] else {
        panic!("{line}");
    };
    let element_size = element_size.parse().unwrap();
    let stages = filters.split(';').filter(|it| !it.is_empty()).filter_map(|filter| match family {
        "hdf5" => Some(hdf5(filter, element_size).unwrap()),
        _ => numcodecs(filter).unwrap(),
    });
    let pipeline = Pipeline::new(stages.collect::<Vec<_>>(), ElementLayout::new(element_size));
    let (decoded_len, crc) = (decoded_len.parse().unwrap(), crc.parse().unwrap());
    Case { name, pipeline, decoded_len, stored: bytes(stored), crc }
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|it| it.to_digit(16).unwrap() as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn hdf5(filter: &str, element_size: u64) -> Result<Arc<dyn Stage>, Unsupported> {
    let (id, values) = filter.split_once(':').unwrap();
    let values = values.split(',').filter(|it| !it.is_empty());
    let values: Vec<u32> = values.map(|it| it.parse().unwrap()).collect();
    hdf5_stage(id.parse().unwrap(), &values, element_size)
}

fn numcodecs(codec: &'static str) -> Result<Option<Arc<dyn Stage>>, Unsupported> {
    let mut words = codec.split(' ');
    let id = words.next().unwrap();
    let config: Vec<(&str, &str)> = words.map(|word| word.split_once('=').unwrap()).collect();
    numcodecs_stage(id, &|key| {
        let (_, value) = config.iter().find(|(name, _)| *name == key)?;
        let number = value.parse().map(ConfigValue::Number);
        Some(number.unwrap_or_else(|_| ConfigValue::Text((*value).to_owned())))
    })
}

#[test]
fn chunks_of_other_libraries_decode_to_their_bytes() {
    let mut wrong = Vec::new();
    for case in all() {
        let mut out = vec![0xEE; case.decoded_len];
        match case.pipeline.decode(&case.stored, &mut out) {
            Ok(()) if ChecksumKind::Crc32.compute(&out) == case.crc => {}
            Ok(()) => wrong.push(format!("{}: other bytes", case.name)),
            Err(error) => wrong.push(format!("{}: {error}", case.name)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
