//! Rules of the payloads.

use tet_format::Rule;

use crate::accept::square;
use crate::assemble::{Assembled, Dataset, Sheet, Stored, put};
use crate::case::{Noticed, Reject};
use crate::frame;

/// The rejected files of this region.
#[must_use]
pub fn cases() -> Vec<Reject> {
    [places(), frames(), vec![shared()]].concat()
}

fn places() -> Vec<Reject> {
    let one = Sheet::new(&[square()]).assemble();
    let offset = one.marks.rows[0] + 72;
    let halves = Sheet::new(&[Dataset::new("a", 2, 8, &[4, 4]).chunked(&[2, 4])]).assemble();
    let second = halves.marks.rows[1] + 72;
    let footed = Sheet::new(&[square()]).footer("{}").assemble();
    let at = |value: u64| one.with_u64(offset, value);
    let case = |name, bytes, rule, at, twin: &Assembled| {
        Reject::field(name, bytes, rule, at, &twin.bytes).noticed(Noticed::Chunk)
    };
    vec![
        case("a payload a byte late", at(233), Rule::PayloadBounds, offset, &one),
        case("a payload far away", at(1 << 62), Rule::PayloadBounds, offset, &one),
        case("a payload end that wraps", at(u64::MAX - 8), Rule::PayloadBounds, offset, &one),
        case(
            "a payload that reaches into the footer",
            footed.with_u64(offset, 233),
            Rule::PayloadBounds,
            offset,
            &footed,
        ),
        case("a payload in the superblock", at(0), Rule::PayloadStructure, offset, &one),
        case("a payload on the last row", at(231), Rule::PayloadStructure, offset, &one),
        case(
            "payloads that overlap in part",
            halves.with_u64(second, halves.marks.payloads[1].0 - 8),
            Rule::PayloadOverlap,
            second,
            &halves,
        )
        .noticed(Noticed::Verify),
        case(
            "payloads that overlap in a byte",
            halves.with_u64(second, halves.marks.payloads[1].0 - 1),
            Rule::PayloadOverlap,
            second,
            &halves,
        )
        .noticed(Noticed::Verify),
    ]
}

/// Two rows of 4000 bytes each in a file that is shorter than both.
fn shared() -> Reject {
    let halves = Dataset::new("a", 5, 1, &[8000]).chunked(&[4000]);
    let twin = Sheet::new(&[halves]).assemble();
    let [(first, _), (second, _)] = [twin.marks.payloads[0], twin.marks.payloads[1]];
    let mut bytes = twin.with_u64(twin.marks.rows[1] + 72, first);
    bytes.truncate(usize::try_from(second).unwrap());
    let (name, rule) = ("a file shorter than its raw payloads", Rule::RawSum);
    Reject::shape(name, bytes, rule, twin.marks.rows[0], twin.bytes).noticed(Noticed::Verify)
}

/// A file of one zstd chunk of `element_count` bytes, stored as `frame`.
pub(super) fn of_frame(element_count: u64, frame: &[u8]) -> Assembled {
    let elements = vec![0; usize::try_from(element_count).unwrap()];
    let sheet = Dataset::new("z", 5, 1, &[1]).elements(elements).stored(Stored::Other(1));
    let sheet = Dataset { shape: vec![element_count], chunk_shape: vec![element_count], ..sheet };
    let mut file = Sheet::new(&[sheet]).assemble();
    let (payload, _) = file.marks.payloads[0];
    let row = file.marks.rows[0];
    file.bytes.truncate(usize::try_from(payload).unwrap());
    file.bytes.extend(frame);
    file.bytes = put(&file.bytes, row + 88, &(frame.len() as u64).to_le_bytes());
    file.marks.payloads[0].1 = frame.len() as u64;
    file
}

fn frames() -> Vec<Reject> {
    let content = [7_u8; 40];
    let twin = of_frame(40, &frame::plain(&content));
    let payload = twin.marks.payloads[0].0;
    let row = twin.marks.rows[0];
    let case = |name, frame: &[u8], rule, at| {
        let file = of_frame(40, frame);
        Reject::shape(name, file.bytes, rule, at, twin.bytes.clone()).noticed(Noticed::Chunk)
    };
    let mut checked = frame::plain(&content);
    checked[4] |= 4;
    checked.extend([1, 2, 3, 4]);
    let mib = 1 << 20;
    let dense = of_frame(mib, &frame::bomb(8));
    vec![
        Reject::shape(
            "a mebibyte out of forty bytes of frame header",
            of_frame(mib, &frame::plain(&[7; 10])).bytes,
            Rule::ZstdBound,
            row + 80,
            dense.bytes,
        )
        .noticed(Noticed::Chunk),
        case("a frame that is too short", &frame::plain(&[7; 39]), Rule::ZstdLen, payload),
        case("a frame that is too long", &frame::plain(&[7; 41]), Rule::ZstdLen, payload),
        case("a frame of gigabytes", &frame::bomb(8192), Rule::ZstdLen, payload),
        case(
            "bytes after the frame",
            &[frame::plain(&content), vec![0]].concat(),
            Rule::ZstdFrames,
            payload,
        ),
        case("no frame at all", &content, Rule::ZstdFrames, payload),
        case("a frame that is cut", &frame::plain(&content)[..40], Rule::ZstdFrames, payload),
        case("a checksum that does not match", &checked, Rule::ZstdFrames, payload),
        case(
            "a content size that is a lie",
            &frame::stating(&content, 41),
            Rule::ZstdFrames,
            payload,
        ),
        case("a dictionary", &frame::with_dictionary(&content), Rule::ZstdWindow, payload),
        case("a window of 2^28", &frame::with_window(&content, 28), Rule::ZstdWindow, payload),
        case("a window of 2^31", &frame::with_window(&content, 31), Rule::ZstdWindow, payload),
    ]
}
