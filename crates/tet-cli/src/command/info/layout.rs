//! The regions of a file: their offsets and lengths.

use tet_convert::{FileRegion, Opened};
use tet_file::TetFile;

use crate::context::Context;
use crate::exit::Result;
use crate::render::json::LayoutEntry;
use crate::render::table::{Side, Table};
use crate::size::counted;

/// The regions of a file, in file order.
pub(crate) fn regions(opened: &Opened) -> Vec<LayoutEntry> {
    let Some(tet) = &opened.tet else { return opened.regions.iter().map(entry_of).collect() };
    let superblock = tet.superblock();
    let (directory, index) = (superblock.directory_span(), superblock.index_span());
    let entry = |region: &str, start: u64, end: u64, holds: String| LayoutEntry {
        region: region.to_owned(),
        offset: start,
        len: end.saturating_sub(start),
        holds,
    };
    let datasets = counted(u64::from(superblock.dataset_count), "dataset");
    let holds = format!("version {}, flags {:#x}", tet.version(), superblock.flags);
    let mut regions = vec![entry("superblock", 0, directory.start().min(32), holds)];
    if superblock.dataset_count > 0 {
        regions.push(entry("directory", directory.start(), directory.end(), datasets));
        let rows = counted(tet.index().row_count(), "row");
        let hint = memory_hint(tet).map_or(String::new(), |hint| format!(", memory hint {hint}"));
        regions.push(entry("index", index.start(), index.end(), rows + &hint));
    }
    let (index_end, payload_end) = (tet.index_end(), tet.payload_end());
    match tet.footer().integrity.key().map(|key| key.block) {
        Some(block) if (index_end..=payload_end).contains(&block.offset) => {
            regions.push(entry("payloads", index_end, block.offset, String::new()));
            let holds = counted(tet.index().row_count(), "chunk");
            regions.push(entry("digests", block.offset, payload_end, holds));
        }
        _ => regions.push(entry("payloads", index_end, payload_end, String::new())),
    }
    if payload_end < tet.file_len() {
        let holds = format!("version {}", tet.footer().version);
        regions.push(entry("footer", payload_end, tet.file_len(), holds));
    }
    regions
}

/// The memory hint of the index as text: bytes, or a share of the memory of the machine.
fn memory_hint(tet: &TetFile) -> Option<String> {
    let header = tet.index().header();
    match (header.memory_budget_len, header.memory_budget_bps) {
        (0, 0) => None,
        (0, bps) => Some(format!("{}.{:02} % of the memory", bps / 100, bps % 100)),
        (len, _) => Some(counted(len.into(), "byte")),
    }
}

fn entry_of(region: &FileRegion) -> LayoutEntry {
    LayoutEntry {
        region: region.name.to_owned(),
        offset: region.span.start(),
        len: region.span.len(),
        holds: region.holds.clone(),
    }
}

/// Prints the regions.
///
/// # Errors
///
/// Writing to standard output fails.
pub(crate) fn write(opened: &Opened, context: &mut Context<'_>) -> Result<()> {
    let columns = [
        ("region", Side::Left),
        ("offset", Side::Right),
        ("bytes", Side::Right),
        ("holds", Side::Left),
    ];
    let mut table = Table::new(&columns);
    for region in regions(opened) {
        let (offset, len) = (region.offset.to_string(), region.len.to_string());
        table.row([region.region, offset, len, region.holds]);
    }
    context.line(format!("\n{}", context.paint.strong("layout")))?;
    for line in table.lines(None, context.paint) {
        context.line(line)?;
    }
    Ok(())
}
