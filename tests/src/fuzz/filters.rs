//! The filters of HDF5 and numcodecs: chains of one to three with any parameters, undone on any bytes.
//!
//! ```text
//!   count - 1 | for each filter: its number, its parameters | element size | order | decoded length (2) | stored bytes
//! ```

use std::sync::Arc;

use tet_codec::{
    ConfigValue, Decode, ElementLayout, Pipeline, Room, Stage, hdf5_stage, numcodecs_stage,
};

use super::feed::Feed;

/// The filters of HDF5 by their registered numbers.
const HDF5: [u16; 12] = [1, 2, 3, 4, 5, 6, 32_000, 32_001, 32_004, 32_008, 32_015, 32_026];
/// Filters of HDF5 whose numbers come after those of the codecs, so that kept inputs keep their meaning.
const LATER: [u16; 2] = [32_013, 32_024];
/// The codecs of numcodecs.
const NUMCODECS: [&str; 16] = [
    "zlib",
    "gzip",
    "blosc",
    "lz4",
    "zstd",
    "shuffle",
    "fletcher32",
    "crc32",
    "adler32",
    "crc32c",
    "packbits",
    "delta",
    "fixedscaleoffset",
    "quantize",
    "astype",
    "bitround",
];
const TYPES: [&str; 14] = [
    "|u1", "<u2", "<u4", "<u8", "|i1", "<i2", "<i4", "<i8", "<f2", "<f4", "<f8", ">i2", ">f4",
    "|b1",
];

/// Undoes a chain of filters; what is decoded depends on the stored bytes alone.
pub fn pipeline(bytes: &[u8]) {
    let mut feed = Feed(bytes);
    let count = 1 + feed.below(3);
    let mut stages = Vec::new();
    for _ in 0..count {
        match stage(&mut feed) {
            Some(Ok(stage)) => stages.extend(stage),
            Some(Err(refused)) => assert!(!refused.is_empty()),
            None => return,
        }
    }
    let size = [1, 2, 4, 8][feed.below(4)];
    let is_swapped = feed.below(2) == 1;
    let len = feed.wide();
    let stored = feed.0;
    for stage in &stages {
        alone(stage.as_ref(), stored, len);
    }
    let layout = ElementLayout::new(size);
    let layout = if is_swapped { layout.with_width(size) } else { Some(layout) };
    let Some(layout) = layout else { return };
    let pipeline = Pipeline::new(stages, layout);
    assert!(!pipeline.full_name().is_empty());
    let mut out = [vec![0x55; len], vec![0xAA; len]];
    let done = [0, 1].map(|at| pipeline.decode(stored, &mut out[at]).is_ok());
    assert_eq!(done[0], done[1]);
    assert!(!done[0] || out[0] == out[1], "every byte is written");
}

/// One filter decodes within its room, and to no more than it says.
fn alone(stage: &dyn Stage, stored: &[u8], len: usize) {
    let len = len as u64;
    for room in [Room::AtMost(len), Room::Exact(len)] {
        let mut out = Vec::new();
        if stage.undo(stored, room, &mut out).is_err() {
            continue;
        }
        let found = out.len() as u64;
        assert!(found <= room.max(), "{}: {found} of {room:?}", stage.name());
        let most = stage.decoded_max(stored.len() as u64);
        assert!(found <= most, "{}: {found} of {most}", stage.name());
    }
}

type Made = Result<Option<Arc<dyn Stage>>, String>;

/// The next filter; `None` when the bytes end.
fn stage(feed: &mut Feed<'_>) -> Option<Made> {
    if feed.0.is_empty() {
        return None;
    }
    let named = HDF5.len() + NUMCODECS.len();
    let number = feed.below(named + LATER.len());
    let later = number.checked_sub(named).and_then(|at| LATER.get(at));
    if let Some(&id) = HDF5.get(number).or(later) {
        let count = feed.below(24);
        let value = |value: usize| if value == 0xFFFF { u32::MAX } else { value as u32 };
        let values: Vec<u32> = (0..count).map(|_| value(feed.wide())).collect();
        let made = hdf5_stage(id, &values, 4);
        return Some(made.map(Some).map_err(|refused| refused.to_string()));
    }
    let name = NUMCODECS.get(number - HDF5.len())?;
    let [dtype, astype] = [feed.below(TYPES.len()), feed.below(TYPES.len())].map(|at| TYPES[at]);
    let place = ["", "start", "end"][feed.below(3)];
    let [size, scale, offset] = [0, 0, 0].map(|_| feed.below(256) as f64);
    let config = |key: &str| {
        let text = |text: &str| Some(ConfigValue::Text(text.to_owned()));
        match key {
            "dtype" | "decode_dtype" => text(dtype),
            "astype" | "encode_dtype" => text(astype),
            "location" if !place.is_empty() => text(place),
            "elementsize" => Some(ConfigValue::Number(size)),
            "scale" => Some(ConfigValue::Number(scale)),
            "offset" => Some(ConfigValue::Number(offset)),
            _ => None,
        }
    };
    Some(numcodecs_stage(name, &config).map_err(|refused| refused.to_string()))
}
