//! A sheet of datasets, laid down as bytes by the tables of `docs/spec/format.md` alone.
//!
//! ```text
//! superblock 32 | blob_len u64 | records | index header 32 | rows 104 each | payloads | footer
//! ```
//!
//! The numbers of the layout are written out here once more on purpose: this is the second
//! opinion about them.

mod dataset;
mod seal;
pub mod statistics;

pub use dataset::{Dataset, Stored};
use seal::Seal;
pub use seal::{refooted, resealed};

/// A footer at the end of the file.
#[derive(Clone, Debug)]
pub struct Footer {
    /// `history_version`.
    pub version: u32,
    /// The JSON, where `@0@` stands for the offset of the first spill and `#0#` for its length.
    pub json: String,
    /// Bytes between the last payload and the JSON.
    pub spills: Vec<Vec<u8>>,
}

/// A whole file, not yet laid down.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// The datasets in file order.
    pub datasets: Vec<Dataset>,
    /// Flag bits beside the footer's.
    pub flags: u32,
    /// The footer, if there is one; its flag is set.
    pub footer: Option<Footer>,
    /// Zero bytes before each payload.
    pub gap_len: usize,
    /// Whether the footer has digests.
    pub sealed: bool,
    /// Rows and payloads in this order; rows of the row-major order when empty.
    pub row_order: Vec<usize>,
}

/// Where the structures of a laid-down file are, in bytes from its start.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    /// Each directory record.
    pub records: Vec<u64>,
    /// The index header.
    pub index: u64,
    /// Each index row.
    pub rows: Vec<u64>,
    /// Each payload: offset and length, in the order of the rows.
    pub payloads: Vec<(u64, u64)>,
    /// The block of digests.
    pub block: u64,
    /// Each spill.
    pub spills: Vec<u64>,
    /// The footer's JSON.
    pub json: u64,
    /// The last 16 bytes, or the end of the file.
    pub tail: u64,
}

/// A laid-down file.
#[derive(Clone, Debug)]
pub struct Assembled {
    /// The file.
    pub bytes: Vec<u8>,
    /// Where things are in it.
    pub marks: Marks,
}

struct IndexRow {
    dataset: u64,
    coord: Vec<u64>,
    raw_len: u64,
    codec: u32,
    stored: Vec<u8>,
}

impl Sheet {
    /// A sheet of these datasets and no footer.
    #[must_use]
    pub fn new(datasets: &[Dataset]) -> Self {
        Self { datasets: datasets.to_vec(), ..Self::default() }
    }

    /// This sheet with a footer of version 1.
    #[must_use]
    pub fn footer(self, json: &str) -> Self {
        self.footer_of(1, json, &[])
    }

    /// This sheet with any footer.
    #[must_use]
    pub fn footer_of(mut self, version: u32, json: &str, spills: &[&[u8]]) -> Self {
        let spills = spills.iter().map(|spill| spill.to_vec()).collect();
        self.footer = Some(Footer { version, json: json.to_owned(), spills });
        self
    }

    /// This sheet with digests in its footer.
    #[must_use]
    pub fn sealed(self) -> Self {
        Self { sealed: true, ..self }
    }

    /// Lays the sheet down.
    #[must_use]
    pub fn assemble(&self) -> Assembled {
        let mut marks = Marks::default();
        let mut out = Vec::new();
        let directory = self.directory(&mut marks);
        let rows = self.rows();
        let index_offset = 32 + directory.len() as u64;
        let index_len = if self.datasets.is_empty() { 0 } else { 32 + 104 * rows.len() as u64 };
        out.extend(b"TETR");
        push_u32(&mut out, 1);
        push_u32(&mut out, u32::try_from(self.datasets.len()).unwrap());
        push_u32(&mut out, self.flags | u32::from(self.footer.is_some()));
        push_u64(&mut out, index_offset);
        push_u64(&mut out, index_len);
        out.extend(directory);
        marks.index = index_offset;
        if !self.datasets.is_empty() {
            self.index(&rows, index_offset + index_len, &mut out, &mut marks);
        }
        let seal = self.sealed.then(|| Seal::lay(&mut out, &mut marks));
        if let Some(footer) = &self.footer {
            footer.lay(seal.as_ref(), &mut out, &mut marks);
        }
        if self.footer.is_none() {
            marks.json = out.len() as u64;
            marks.tail = out.len() as u64;
        }
        Assembled { bytes: out, marks }
    }

    fn directory(&self, marks: &mut Marks) -> Vec<u8> {
        if self.datasets.is_empty() {
            return Vec::new();
        }
        let mut blob = Vec::new();
        for dataset in &self.datasets {
            marks.records.push(40 + blob.len() as u64);
            blob.extend(dataset.record());
        }
        let mut out = Vec::new();
        push_u64(&mut out, blob.len() as u64);
        out.extend(blob);
        out
    }

    fn rows(&self) -> Vec<IndexRow> {
        let mut rows = Vec::new();
        for (dataset, sheet) in self.datasets.iter().enumerate() {
            for (coord, elements) in sheet.chunks() {
                rows.push(Some(IndexRow {
                    dataset: dataset as u64,
                    coord,
                    raw_len: elements.len() as u64,
                    codec: sheet.stored.tag(),
                    stored: sheet.stored.encode(&elements),
                }));
            }
        }
        if self.row_order.is_empty() {
            return rows.into_iter().flatten().collect();
        }
        self.row_order.iter().map(|&row| rows[row].take().unwrap()).collect()
    }

    fn index(&self, rows: &[IndexRow], payloads: u64, out: &mut Vec<u8>, marks: &mut Marks) {
        out.extend(b"TIDX");
        push_u32(out, 1);
        push_u64(out, rows.len() as u64);
        out.extend([0; 16]);
        let mut body = Vec::new();
        for row in rows {
            body.extend(vec![0; self.gap_len]);
            let at = payloads + body.len() as u64;
            marks.rows.push(out.len() as u64);
            marks.payloads.push((at, row.stored.len() as u64));
            push_u64(out, row.dataset);
            for axis in 0..8 {
                push_u64(out, row.coord.get(axis).copied().unwrap_or(0));
            }
            push_u64(out, at);
            push_u64(out, row.raw_len);
            push_u64(out, row.stored.len() as u64);
            push_u32(out, row.codec);
            push_u32(out, 0);
            body.extend(&row.stored);
        }
        out.extend(body);
    }
}

impl Footer {
    fn lay(&self, seal: Option<&Seal>, out: &mut Vec<u8>, marks: &mut Marks) {
        let mut json = self.json.clone();
        for (number, spill) in self.spills.iter().enumerate() {
            marks.spills.push(out.len() as u64);
            json = json.replace(&format!("@{number}@"), &out.len().to_string());
            json = json.replace(&format!("#{number}#"), &spill.len().to_string());
            out.extend(spill);
        }
        if let Some(seal) = seal {
            let spills = self.spills.iter().map(Vec::as_slice);
            let spills: Vec<_> = marks.spills.iter().copied().zip(spills).collect();
            json = seal.json(&json, &spills, self.version);
        }
        marks.json = out.len() as u64;
        out.extend(json.as_bytes());
        marks.tail = out.len() as u64;
        push_u64(out, json.len() as u64);
        push_u32(out, self.version);
        out.extend(b"THST");
    }
}

impl Assembled {
    /// The file with four bytes at `at` replaced.
    #[must_use]
    pub fn with_u32(&self, at: u64, value: u32) -> Vec<u8> {
        self.with(at, &value.to_le_bytes())
    }

    /// The file with eight bytes at `at` replaced.
    #[must_use]
    pub fn with_u64(&self, at: u64, value: u64) -> Vec<u8> {
        self.with(at, &value.to_le_bytes())
    }

    /// The file with the bytes at `at` replaced.
    #[must_use]
    pub fn with(&self, at: u64, new: &[u8]) -> Vec<u8> {
        put(&self.bytes, at, new)
    }

    /// The eight-byte number at `at`.
    #[must_use]
    pub fn u64_at(&self, at: u64) -> u64 {
        let at = usize::try_from(at).unwrap();
        u64::from_le_bytes(self.bytes[at..at + 8].try_into().unwrap())
    }
}

/// `bytes` with those at `at` replaced by `new`.
#[must_use]
pub fn put(bytes: &[u8], at: u64, new: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    let at = usize::try_from(at).unwrap();
    out[at..at + new.len()].copy_from_slice(new);
    out
}

/// Every coordinate below `counts`, last axis fastest.
#[must_use]
pub fn every_coord(counts: &[u64]) -> Vec<Vec<u64>> {
    let mut coords = vec![Vec::new()];
    for &count in counts {
        coords = coords
            .iter()
            .flat_map(|front| {
                (0..count).map(move |last| {
                    let mut coord = front.clone();
                    coord.push(last);
                    coord
                })
            })
            .collect();
    }
    coords
}

fn push_u32(out: &mut Vec<u8>, value: u32) {
    out.extend(value.to_le_bytes());
}

fn push_u64(out: &mut Vec<u8>, value: u64) {
    out.extend(value.to_le_bytes());
}
