//! Rules of the statistics.

use tet_format::Rule;

use crate::accept::square;
use crate::assemble::{Assembled, Dataset, Sheet, resealed};
use crate::case::{Noticed, Reject};

/// The rejected files of these rules.
#[must_use]
pub fn cases() -> Vec<Reject> {
    let good = file(&block(&square()));
    let wrong = |name, rule, at: u64, change: fn(&mut Vec<u8>)| {
        let mut block = block(&square());
        change(&mut block);
        let bad = file(&block);
        let at = bad.marks.spills[0] + at;
        Reject::shape(name, bound(&bad), rule, at, bound(&good)).noticed(Noticed::Verify)
    };
    let (form, record) = (Rule::StatisticsBlock, Rule::StatisticsRecord);
    vec![
        wrong("another magic of statistics", form, 0, |block| block[0] = b't'),
        wrong("statistics of version 2", form, 4, |block| block[4] = 2),
        wrong("statistics of two rows", form, 8, |block| block[8] = 2),
        wrong("statistics without their record", form, 0, |block| block.truncate(16)),
        wrong("a wrong minimum", record, 16, |block| block[16] ^= 1),
        wrong("a wrong maximum", record, 24, |block| block[31] ^= 0x80),
        wrong("a wrong count of NaN", record, 32, |block| block[32] += 1),
        wrong("a wrong count of infinities", record, 40, |block| block[40] += 1),
    ]
}

/// The statistics of a dataset of one chunk of float64, element by element.
#[must_use]
pub fn block(dataset: &Dataset) -> Vec<u8> {
    let elements = dataset.elements.as_chunks().0.iter().map(|&bytes| f64::from_le_bytes(bytes));
    let (nan, values): (Vec<f64>, Vec<f64>) = elements.partition(|element| element.is_nan());
    let least = values.iter().copied().min_by(f64::total_cmp).unwrap_or_default();
    let greatest = values.iter().copied().max_by(f64::total_cmp).unwrap_or_default();
    let infinite = values.iter().filter(|element| element.is_infinite()).count();
    let mut block = b"TSTA\x01\0\0\0\x01\0\0\0\0\0\0\0".to_vec();
    block.extend(least.to_le_bytes());
    block.extend(greatest.to_le_bytes());
    block.extend((nan.len() as u64).to_le_bytes());
    block.extend((infinite as u64).to_le_bytes());
    block
}

/// A file with a block of statistics that is not bound to its payloads yet.
#[must_use]
pub fn file(block: &[u8]) -> Assembled {
    let json = format!(
        r#"{{"statistics":{{"v":1,"offset":@0@,"len":#0#,"chunks":"{}"}}}}"#,
        "0".repeat(24)
    );
    Sheet::of(&[square()]).footer_of(1, &json, &[block]).sealed().assemble()
}

/// The same file, its statistics bound to its payloads.
#[must_use]
pub fn bound(file: &Assembled) -> Vec<u8> {
    let at = |at: u64| usize::try_from(at).unwrap();
    let json = str::from_utf8(&file.bytes[at(file.marks.json)..at(file.marks.tail)]).unwrap();
    let chunks = json.rfind("\"chunks\":\"").unwrap() + 10;
    let json = json.replacen(&"0".repeat(24), &json[chunks..chunks + 24], 1);
    resealed(&file.bytes, file.marks.json, &json)
}
