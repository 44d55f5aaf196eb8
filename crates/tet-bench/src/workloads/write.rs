//! W1, writing raw, and W2, writing zstd.

use anyhow::Result;
use tet_file::write::Writer;
use tet_file::{CodecChoice, DigestChoice, Metadata, WriteOptions};
use tet_format::DType;
use tet_io::Progress;

use super::Measured;
use crate::data;
use crate::limit;
use crate::measure::paired;
use crate::report::{Figure, ReportRow};

/// Chunks of a file, each 2 MiB.
const CHUNK_COUNT: usize = 64;
const CHUNK_ELEMENTS: usize = 1 << 19;
const LEVEL: i32 = 3;

/// Float32 elements of all chunks; `levels` of them are different, as in measurements.
fn elements(levels: u64) -> Vec<u8> {
    let mut out = Vec::new();
    let len = (CHUNK_COUNT * CHUNK_ELEMENTS * 4) as u64;
    data::fill_elements(DType::Float32, 7, len, &mut out);
    let (values, _) = out.as_chunks_mut::<4>();
    for value in values {
        let fine = f32::from_le_bytes(*value);
        *value = ((fine * levels as f32).round() / levels as f32).to_le_bytes();
    }
    out
}

fn write(path: &std::path::Path, bytes: &[u8], options: &WriteOptions) -> Result<()> {
    let shape = [CHUNK_COUNT as u64, CHUNK_ELEMENTS as u64];
    let spec = data::spec("x", DType::Float32, &shape, &[1, CHUNK_ELEMENTS as u64]);
    let mut writer = Writer::create(path, vec![spec], options)?;
    let mut chunks = bytes.chunks(CHUNK_ELEMENTS * 4);
    let mut fill = |_: tet_file::write::ChunkAt<'_>, out: &mut Vec<u8>| {
        out.extend_from_slice(chunks.next().unwrap_or_default());
        Ok(())
    };
    writer.write_dataset(0, &mut fill, &Progress::default())?;
    writer.finish(&Metadata::default(), &[])?;
    Ok(())
}

/// W1: raw chunks from memory into a durable file, and what their digests cost.
pub(super) fn raw(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let bytes = elements(1 << 20);
    let (path, plain) = (run.folder.scratch("w1.tet"), run.folder.scratch("w1.bin"));
    let options = data::replacing(CodecChoice::Raw);
    let bare = WriteOptions { digests: DigestChoice::Left, ..options.clone() };
    let anew = |options: &WriteOptions| {
        let _ = std::fs::remove_file(&path);
        write(&path, &bytes, options)
    };
    let limit = || {
        let _ = std::fs::remove_file(&plain);
        limit::write(&plain, [&bytes[..]])
    };
    let beside_write = paired(run.rounds, limit, || anew(&options));
    let beside_bare = paired(run.rounds, || anew(&bare), || anew(&options));
    let _ = (std::fs::remove_file(&path), std::fs::remove_file(&plain));
    let row = |work, limit, rounds| ReportRow::new("W1", work, limit, Figure::Ratio, rounds, 0.9);
    Ok(vec![
        row("128 MiB raw, synced", "write", beside_write?),
        row("128 MiB raw, synced, with digests", "bare", beside_bare?),
    ])
}

/// W2: zstd chunks, all threads.
pub(super) fn compressed(run: Measured<'_>) -> Result<Vec<ReportRow>> {
    let bytes = elements(16);
    let chunks: Vec<&[u8]> = bytes.chunks(CHUNK_ELEMENTS * 4).collect();
    let path = run.folder.scratch("w2.tet");
    let options = WriteOptions {
        sync: tet_io::publish::Sync::None,
        ..data::replacing(CodecChoice::Zstd { level: LEVEL })
    };
    let limit = || {
        limit::compress(&chunks, LEVEL);
        Ok(())
    };
    let rounds = paired(run.rounds, limit, || write(&path, &bytes, &options));
    let _ = std::fs::remove_file(&path);
    Ok(vec![ReportRow::new("W2", "128 MiB as zstd level 3", "zstd", Figure::Ratio, rounds?, 0.9)])
}
