//! The codecs of chunks that are stored already, as documents name them.

use serde_json::{Map, Value, json};
use tet_codec::{NumcodecsCodec, NumcodecsPipeline};

/// The filters and the compressor of version 2.
pub(super) fn codecs_of_v2(stored: &NumcodecsPipeline) -> (Value, Value) {
    let codec = |codec: &NumcodecsCodec| {
        let mut members = settings(codec);
        members.insert("id".to_owned(), json!(codec.id));
        Value::Object(members)
    };
    match stored.codecs.split_last() {
        None => (Value::Null, Value::Null),
        Some((last, [])) => (Value::Null, codec(last)),
        Some((last, filters)) => (filters.iter().map(codec).collect(), codec(last)),
    }
}

/// The codecs of version 3, for chunks of this many axes. Those that its specification lacks have the names of numcodecs.
pub(super) fn codecs_of_v3(stored: &NumcodecsPipeline, rank: usize) -> Vec<Value> {
    let mut codecs = Vec::new();
    if stored.is_column_major {
        let order: Vec<usize> = (0..rank).rev().collect();
        codecs.push(json!({ "name": "transpose", "configuration": { "order": order } }));
    }
    let endian = if stored.is_big_endian { "big" } else { "little" };
    codecs.push(json!({ "name": "bytes", "configuration": { "endian": endian } }));
    codecs.extend(stored.codecs.iter().map(|codec| match codec.id {
        // Levels and checksums are for writers.
        "gzip" => json!({ "name": "gzip", "configuration": { "level": 5 } }),
        "zstd" => {
            json!({ "name": "zstd", "configuration": { "level": 0, "checksum": false } })
        }
        id => {
            let name = format!("numcodecs.{id}");
            json!({ "name": name, "configuration": settings(codec) })
        }
    }));
    codecs
}

fn settings(codec: &NumcodecsCodec) -> Map<String, Value> {
    codec.setting.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_have_the_names_of_both_versions() {
        let codecs = vec![
            NumcodecsCodec { id: "shuffle", setting: Some(("elementsize", 4)) },
            NumcodecsCodec::named("zlib"),
        ];
        let stored = NumcodecsPipeline { codecs, is_big_endian: true, is_column_major: true };
        let (filters, compressor) = codecs_of_v2(&stored);
        assert_eq!(filters, json!([{ "id": "shuffle", "elementsize": 4 }]));
        assert_eq!(compressor, json!({ "id": "zlib" }));
        let names = [
            json!({ "name": "transpose", "configuration": { "order": [1, 0] } }),
            json!({ "name": "bytes", "configuration": { "endian": "big" } }),
            json!({ "name": "numcodecs.shuffle", "configuration": { "elementsize": 4 } }),
            json!({ "name": "numcodecs.zlib", "configuration": {} }),
        ];
        assert_eq!(codecs_of_v3(&stored, 2), names);
        let raw = NumcodecsPipeline::default();
        assert_eq!(codecs_of_v2(&raw), (Value::Null, Value::Null));
        assert_eq!(codecs_of_v3(&raw, 3).len(), 1);
    }
}
