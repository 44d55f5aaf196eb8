//! Digests of a sheet, by `docs/spec/format.md` section 6.2 and other programs' checksums.

use super::{Marks, push_u32, push_u64};

/// CRC-32C, then XXH3, both big-endian.
#[expect(clippy::big_endian_bytes, reason = "digests stand in the order of their digits")]
fn digest(bytes: &[u8]) -> [u8; 12] {
    let mut out = [0; 12];
    out[..4].copy_from_slice(&crc32c(bytes).to_be_bytes());
    out[4..].copy_from_slice(&xxhash_rust::xxh3::xxh3_64(bytes).to_be_bytes());
    out
}

/// By the table, a byte at a time: no library takes part.
fn crc32c(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 256] = {
        let mut table = [0; 256];
        let mut byte = 0;
        while byte < 256 {
            let (mut crc, mut bit) = (byte, 0);
            while bit < 8 {
                crc = (crc >> 1) ^ (0x82f6_3b78 * (crc & 1));
                bit += 1;
            }
            table[byte as usize] = crc;
            byte += 1;
        }
        table
    };
    let step = |crc: u32, &byte: &u8| (crc >> 8) ^ TABLE[usize::from((crc as u8) ^ byte)];
    !bytes.iter().fold(!0, step)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checksums of the bytes before the footer.
pub(super) struct Seal {
    head: String,
    index: String,
    chunks: String,
    block: (u64, u64),
}

impl Seal {
    /// Digests what was laid down, and lays the block down after it.
    pub(super) fn lay(out: &mut Vec<u8>, marks: &mut Marks) -> Self {
        let at = |at: u64| usize::try_from(at).unwrap();
        let has_rows = !marks.records.is_empty();
        let head_end = if has_rows { at(marks.index) + 32 } else { 32 };
        let head = hex(&digest(&out[..head_end]));
        let rows: Vec<Vec<u8>> =
            marks.rows.iter().map(|&row| out[at(row)..at(row) + 104].to_vec()).collect();
        let pages: Vec<u8> = rows.chunks(8192).flat_map(|page| digest(&page.concat())).collect();
        let payload = |&(start, len): &(u64, u64)| digest(&out[at(start)..at(start + len)]);
        let payloads: Vec<[u8; 12]> = marks.payloads.iter().map(payload).collect();
        let bound: Vec<u8> =
            rows.iter().zip(&payloads).flat_map(|(row, digest)| bound(row, digest)).collect();
        marks.block = out.len() as u64;
        out.extend(b"TDIG");
        push_u32(out, 1);
        push_u64(out, rows.len().div_ceil(8192) as u64);
        push_u64(out, rows.len() as u64);
        out.extend(&pages);
        out.extend(payloads.concat());
        let block = (marks.block, out.len() as u64 - marks.block);
        Seal { head, index: hex(&digest(&pages)), chunks: hex(&digest(&bound)), block }
    }

    /// The JSON with `integrity` at its end; the spills are given as offset and bytes.
    pub(super) fn json(&self, json: &str, spills: &[(u64, &[u8])], version: u32) -> String {
        let Seal { head, index, chunks, block: (offset, len) } = self;
        let spills: Vec<String> = spills
            .iter()
            .map(|(offset, bytes)| {
                let (len, digest) = (bytes.len(), hex(&digest(bytes)));
                format!("{{\"offset\":{offset},\"len\":{len},\"digest\":\"{digest}\"}}")
            })
            .collect();
        let members = json.trim_end_matches('}');
        let comma = if members.ends_with('{') { "" } else { "," };
        let depth = json.len() - members.len() - 1;
        let front = format!(
            "{members}{}{comma}\"integrity\":{{\"v\":1,\"alg\":\"crc32c+xxh3\",\"head\":\"{head}\",\
             \"index\":\"{index}\",\"chunks\":\"{chunks}\",\"block\":{{\"offset\":{offset},\
             \"len\":{len}}},\"spills\":[{}],\"self\":\"",
            "}".repeat(depth),
            spills.join(",")
        );
        seal(&format!("{front}{}\"}}}}", "0".repeat(24)), version)
    }
}

/// Bytes that `chunks` covers of a row and its payload.
fn bound(row: &[u8], digest: &[u8; 12]) -> Vec<u8> {
    [&row[..72], &row[96..100], &row[80..96], digest].concat()
}

/// The JSON with the zeros at its end replaced by what they should be.
fn seal(json: &str, version: u32) -> String {
    let mut tail = Vec::new();
    push_u64(&mut tail, json.len() as u64);
    push_u32(&mut tail, version);
    tail.extend(b"THST");
    let at = json.len() - 27;
    let zeroed = format!("{}{}{}", &json[..at], "0".repeat(24), &json[at + 24..]);
    let seal = hex(&digest(&[zeroed.as_bytes(), &tail].concat()));
    format!("{}{seal}{}", &json[..at], &json[at + 24..])
}

/// A whole file with this footer JSON in place of its own, whose `self` is made to match.
#[must_use]
pub fn resealed(bytes: &[u8], json_at: u64, json: &str) -> Vec<u8> {
    refooted(bytes, json_at, &seal(json, 1))
}

/// A whole file with this footer JSON in place of its own.
#[must_use]
pub fn refooted(bytes: &[u8], json_at: u64, json: &str) -> Vec<u8> {
    let mut out = bytes[..usize::try_from(json_at).unwrap()].to_vec();
    out.extend(json.as_bytes());
    push_u64(&mut out, json.len() as u64);
    push_u32(&mut out, 1);
    out.extend(b"THST");
    out
}
