//! Messages that the reference wrote, against what is known of them.

use crate::testing::objects::{decode, frames, plan, samples};
use crate::{
    Compressing, Descriptor, DescriptorStage, Limits, MaskKind, NonFinite, Recipe, Value, encode,
};

/// Every object with its facts, descriptor and region.
fn each(mut check: impl FnMut(&str, &serde_json::Value, &Descriptor, &[u8], &[u8])) {
    let samples = samples();
    assert_eq!(samples.len(), 23);
    for sample in samples {
        let frames = frames(&sample.bytes);
        assert_eq!(frames.len(), sample.objects.len(), "{}", sample.name);
        for (frame, facts) in frames.iter().zip(&sample.objects) {
            let cbor = &sample.bytes[frame.descriptor.clone()];
            let at = frame.descriptor.start as u64;
            let descriptor = Descriptor::read(cbor, at, &Limits::default()).unwrap();
            assert_eq!(descriptor.stored_len(), cbor.len() as u64);
            assert_eq!(descriptor.encode().unwrap(), cbor, "{}: canonical", sample.name);
            let name = format!("{} {}", sample.name, facts["npz_key"]);
            let key = facts["npz_key"].as_str().unwrap();
            let len = descriptor.decoded_len().unwrap() as usize;
            let values = sample.values(key, len);
            check(&name, facts, &descriptor, &sample.bytes[frame.region.clone()], &values);
        }
    }
}

#[test]
fn every_sample_says_what_is_known_of_it() {
    each(|name, facts, descriptor, _, _| {
        assert_eq!(descriptor.fault(), None, "{name}");
        assert_eq!(descriptor.faults(), [], "{name}");
        assert_eq!(descriptor.dtype_word(), facts["dtype"], "{name}");
        assert_eq!(serde_json::json!(descriptor.shape()), facts["shape"]);
        assert_eq!(serde_json::json!(descriptor.strides()), facts["strides"]);
        assert_eq!(descriptor.byte_order().word(), facts["byte_order"]);
        for stage in DescriptorStage::ALL {
            assert_eq!(descriptor.stage(stage), facts[stage.key()], "{name}");
        }
        let wanted = facts["params"].as_object().unwrap();
        assert_eq!(descriptor.parameters().count(), wanted.len(), "{name}");
        for (key, value) in descriptor.parameters() {
            match value {
                Value::Int(number) => assert_eq!(wanted[key].to_string(), number.to_string()),
                Value::Float(number) => assert_eq!(wanted[key].as_f64(), Some(*number)),
                Value::Text(text) => assert_eq!(wanted[key], *text),
                Value::Array(items) => {
                    assert_eq!(wanted[key].as_array().unwrap().len(), items.len())
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    });
}

#[test]
fn every_value_of_every_sample_is_decoded() {
    each(|name, _, descriptor, region, values| {
        let found = decode(descriptor, region).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(found == values, "{name}");
    });
}

#[test]
fn every_part_of_every_sample_is_that_part_of_the_whole() {
    each(|name, _, descriptor, region, values| {
        let whole = plan(descriptor, region).unwrap();
        let masks = whole.masks();
        let blobs = &region[masks.start as usize..masks.end as usize];
        let masks = whole.read_masks(blobs).unwrap();
        let whole = whole.with_masks(masks);
        let Some(size) = whole.dtype().size() else { return };
        let count = whole.element_count();
        for (start, end) in [(0, count), (count / 3, count - count / 4), (count, count), (0, 0)] {
            let range = whole.payload_range(&(start..end)).unwrap().unwrap_or(whole.payload());
            let stored = &region[range.start as usize..range.end as usize];
            let mut out = vec![0xEE; ((end - start) * size) as usize];
            whole.decode_range(stored, &(start..end), &mut out).unwrap();
            assert!(out == values[(start * size) as usize..(end * size) as usize], "{name}");
        }
        assert!(whole.payload_range(&(count..count + 1)).is_err());
    });
}

#[test]
fn masks_of_samples_are_where_elements_are_not_finite() {
    let mut seen = 0;
    each(|name, _, descriptor, region, values| {
        if descriptor.masks().is_empty() {
            return;
        }
        seen += 1;
        let whole = plan(descriptor, region).unwrap();
        let range = whole.masks();
        let masks = whole.read_masks(&region[range.start as usize..range.end as usize]).unwrap();
        let size = whole.dtype().size().unwrap() as usize;
        for (element, bytes) in values.chunks(size).enumerate() {
            let value = match size {
                4 => f32::from_le_bytes(bytes.try_into().unwrap()).into(),
                _ => f64::from_le_bytes(bytes.try_into().unwrap()),
            };
            for (kind, wanted) in [
                (MaskKind::Nan, value.is_nan()),
                (MaskKind::PosInf, value == f64::INFINITY),
                (MaskKind::NegInf, value == f64::NEG_INFINITY),
            ] {
                let byte = masks.bits(kind).map_or(0, |bits| bits[element / 8]);
                assert_eq!(byte << (element % 8) & 0x80 != 0, wanted, "{name} {element} {kind}");
            }
        }
    });
    assert_eq!(seen, 2);
}

/// Objects without a codec that is specific to the reference are stored in equal bytes.
#[test]
fn samples_are_written_as_the_reference_wrote_them() {
    let mut seen = 0;
    each(|name, _, descriptor, region, values| {
        let compression = match descriptor.stage(DescriptorStage::Compression) {
            "none" => Compressing::None,
            "rle" => Compressing::Rle,
            "roaring" => Compressing::Roaring,
            _ => return,
        };
        if descriptor.stage(DescriptorStage::Encoding) != "none" {
            return;
        }
        let recipe = Recipe {
            compression,
            byte_order: descriptor.byte_order(),
            nan: NonFinite::Masked,
            infinity: NonFinite::Masked,
            ..Recipe::default()
        };
        let dtype = descriptor.dtype().unwrap();
        let found = encode(dtype, descriptor.shape(), values, &recipe).unwrap();
        assert!(found.region == region, "{name}");
        assert_eq!(found.descriptor.encode().unwrap(), descriptor.encode().unwrap(), "{name}");
        seen += 1;
    });
    assert_eq!(seen, 20);
}
