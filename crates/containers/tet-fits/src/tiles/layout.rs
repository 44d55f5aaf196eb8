//! Layout in the header of a compressed image: its tiles, their codec, and how their numbers become pixels.

use tet_format::{ForeignFault, ForeignRule, Grid, Shape};

use super::codec::Codec;
use super::columns::{Column, Columns};
use super::dither::Dither;
use super::hcompress::Smoothing;
use super::rice::Rice;
use crate::header::Header;
use crate::rule;

/// The most bytes of a row of the table.
const ROW_LEN_MAX: u64 = 64 << 10;
/// The most parameters of a codec that are looked at.
const PARAMETERS_MAX: u64 = 999;

/// Why a compressed image is not read.
#[derive(Debug)]
pub(crate) enum Refused {
    /// It breaks a rule.
    Fault(ForeignFault),
    /// It is sound, but this is not supported: the end of a sentence.
    Unsupported(String),
}

/// The tiles of an image.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(super) grid: Grid,
    /// Bits of a pixel; negative for floats.
    pub(super) bitpix: i64,
    pub(super) codec: Codec,
    /// Bytes of a row.
    pub(super) row_len: u64,
    /// The offset of the heap, from the first row.
    pub(super) heap: u64,
    /// The bytes of tiles: by the codec, by gzip, and as they are.
    pub(super) columns: [Option<Column>; 3],
    /// How integers become floats, where the pixels were made integers.
    pub(super) scales: Option<Scales>,
}

/// Where the numbers are by which integers become floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scales {
    pub(super) scale: Number<f64>,
    pub(super) zero: Number<f64>,
    pub(super) blank: Option<Number<i64>>,
    pub(super) dither: Dither,
    /// ZDITHER0; `None` where that is none of the standard, as in files whose tiles are not dithered.
    pub(super) seed: Option<u64>,
}

/// A number of all tiles, or one of each.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number<T> {
    Of(T),
    In(Column),
}

/// Reads a header.
struct Reader<'a> {
    header: &'a Header,
}

impl Layout {
    /// The tiles of an image of this shape, the outer extent first. Its table has rows as NAXISn state them.
    pub(crate) fn read(header: &Header, shape: &[u64], data_len: u64) -> Result<Layout, Refused> {
        let reader = Reader { header };
        let bitpix = header.integer("ZBITPIX").unwrap_or(0);
        if ![8, 16, 32, 64, -32, -64].contains(&bitpix) {
            return Err(reader.wrong("ZBITPIX"));
        }
        let is_table = header.integer("BITPIX") == Some(8) && header.integer("NAXIS") == Some(2);
        let [row_len, rows] = ["NAXIS1", "NAXIS2"].map(|key| header.count(key, 0).unwrap_or(0));
        if !is_table {
            return Err(reader.wrong("NAXIS"));
        }
        if ROW_LEN_MAX < row_len {
            let why = format!("its table has rows of {row_len} bytes, more than {ROW_LEN_MAX}");
            return Err(Refused::Unsupported(why));
        }
        let grid = reader.grid(shape, bitpix)?;
        if rows < grid.chunk_count() {
            return Err(reader.fault(&rule::TILE_ROWS, "NAXIS2", rows, grid.chunk_count()));
        }
        let rows_len = row_len.saturating_mul(rows);
        let heap = header.count("THEAP", rows_len);
        let heap = heap.filter(|heap| (rows_len..=data_len).contains(heap));
        let heap = heap.ok_or_else(|| reader.wrong("THEAP"))?;
        let columns = Columns::read(header, row_len).map_err(|key| reader.wrong(&key))?;
        let scales = reader.scales(&columns, bitpix)?;
        let codec = reader.codec()?;
        let layout = Layout {
            grid,
            bitpix,
            codec,
            row_len,
            heap,
            columns: ["COMPRESSED_DATA", "GZIP_COMPRESSED_DATA", "UNCOMPRESSED_DATA"]
                .map(|name| columns.find(name)),
            scales,
        };
        layout.check(reader, &columns)?;
        Ok(layout)
    }

    /// Bits of a pixel; negative for floats.
    pub(crate) const fn bitpix(&self) -> i64 {
        self.bitpix
    }

    /// Bytes of a pixel.
    pub(super) fn size(&self) -> u64 {
        self.bitpix.unsigned_abs() / 8
    }

    /// Checks that the columns are what the codec and the pixels need.
    fn check(&self, reader: Reader<'_>, columns: &Columns) -> Result<(), Refused> {
        let unsupported = |why: &str| Err(Refused::Unsupported(why.to_owned()));
        let [coded, zipped, plain] = self.columns;
        if self.columns.iter().flatten().any(|column| column.element().is_none()) {
            return Err(reader.wrong("TFORM1"));
        }
        if self.columns.iter().flatten().next().is_none() {
            return Err(reader.wrong("TFIELDS"));
        }
        let element = if self.codec == Codec::Plio { 'I' } else { 'B' };
        let is_of =
            |column: Option<Column>, element| column.is_none_or(|it| it.element() == Some(element));
        if !is_of(coded, element) || !is_of(zipped, 'B') {
            return unsupported("the bytes of its tiles are in columns of another type");
        }
        let pixel = match self.bitpix {
            8 => 'B',
            16 => 'I',
            32 => 'J',
            64 => 'K',
            -32 => 'E',
            _ => 'D',
        };
        if !is_of(plain, pixel) {
            return unsupported("its column UNCOMPRESSED_DATA has another type than its pixels");
        }
        if reader.header.value("ZMASKCMP").is_some() {
            return unsupported("it has a compressed mask (ZMASKCMP)");
        }
        let is_integer_codec =
            matches!(self.codec, Codec::Rice(_) | Codec::Plio | Codec::Hcompress(_));
        if self.bitpix < 0 && self.scales.is_none() && is_integer_codec && coded.is_some() {
            return unsupported("its floats are compressed as integers, and ZSCALE is absent");
        }
        if self.bitpix > 0 && columns.find("ZBLANK").is_some() {
            return unsupported("its integers have another ZBLANK in each tile");
        }
        if self.bitpix > 0 && (columns.find("ZSCALE").or(columns.find("ZZERO"))).is_some() {
            return unsupported("its integers have another ZSCALE in each tile");
        }
        Ok(())
    }
}

impl Reader<'_> {
    fn fault(&self, rule: &'static ForeignRule, key: &str, found: u64, wanted: u64) -> Refused {
        Refused::Fault(ForeignFault { rule, at: self.header.place(key), found, wanted })
    }

    /// The fault of a card that is absent or has no such value.
    fn wrong(&self, key: &str) -> Refused {
        self.fault(&rule::TILE_CARDS, key, 0, 0)
    }

    /// The image, cut into tiles: rows of it where the header does not say.
    fn grid(&self, shape: &[u64], bitpix: i64) -> Result<Grid, Refused> {
        let mut tile = Vec::new();
        for (&extent, axis) in shape.iter().rev().zip(1..) {
            let key = format!("ZTILE{axis}");
            let usual = if axis == 1 { extent.max(1) } else { 1 };
            let len = self.header.count(&key, usual).filter(|len| *len > 0);
            tile.push(len.ok_or_else(|| self.wrong(&key))?);
        }
        tile.reverse();
        let product = || self.fault(&rule::SHAPE_PRODUCT, "ZNAXIS", u64::MAX, 1 << 63);
        let size = bitpix.unsigned_abs() / 8;
        tet_container::entry::byte_len(shape, 1, size).ok_or_else(product)?;
        Grid::new(Shape::from(shape), Shape::from(tile)).ok_or_else(product)
    }

    /// The codec that ZCMPTYPE names, with its parameters.
    fn codec(&self) -> Result<Codec, Refused> {
        let name = self.header.text("ZCMPTYPE").ok_or_else(|| self.wrong("ZCMPTYPE"))?;
        Ok(match name.trim() {
            "GZIP_1" => Codec::Gzip,
            "GZIP_2" => Codec::Shuffled,
            "PLIO_1" => Codec::Plio,
            "NOCOMPRESS" => Codec::Plain,
            "HCOMPRESS_1" => Codec::Hcompress(match self.parameter("SMOOTH", 0)? {
                0 => Smoothing::None,
                _ => Smoothing::Requested,
            }),
            "RICE_1" | "RICE_ONE" => {
                let block = self.parameter("BLOCKSIZE", 32)?;
                let width = self.parameter("BYTEPIX", 4)?;
                let rice = Rice::new(block, width).ok_or_else(|| {
                    let why = format!("RICE_1 with BLOCKSIZE {block} and BYTEPIX {width}");
                    Refused::Unsupported(format!("{why} is not decoded"))
                })?;
                Codec::Rice(rice)
            }
            other => {
                return Err(Refused::Unsupported(format!("its codec {other} is not decoded")));
            }
        })
    }

    /// A parameter of the codec, by its name in ZNAMEn; `usual` if it is not stated.
    fn parameter(&self, name: &str, usual: i64) -> Result<i64, Refused> {
        for number in 1..=PARAMETERS_MAX {
            let Some(known) = self.header.text(&format!("ZNAME{number}")) else { break };
            if known.trim().eq_ignore_ascii_case(name) {
                let key = format!("ZVAL{number}");
                return self.header.integer(&key).ok_or_else(|| self.wrong(&key));
            }
        }
        Ok(usual)
    }

    /// How the integers of an image of floats become floats; `None` where its pixels were kept.
    fn scales(&self, columns: &Columns, bitpix: i64) -> Result<Option<Scales>, Refused> {
        let scale = self.number(columns, "ZSCALE")?;
        let zero = self.number(columns, "ZZERO")?;
        if bitpix > 0 {
            return Ok(None);
        }
        let Some(scale) = scale else { return Ok(None) };
        let blank = match columns.find("ZBLANK") {
            Some(column) if column.is_integer() => Some(Number::In(column)),
            Some(_) => return Err(self.wrong("ZBLANK")),
            None => self.blank()?,
        };
        let dither = match self.header.text("ZQUANTIZ").map(str::trim) {
            None | Some("NO_DITHER") => Dither::Nothing,
            Some("SUBTRACTIVE_DITHER_1") => Dither::Random,
            Some("SUBTRACTIVE_DITHER_2") => Dither::RandomButZeros,
            Some(other) => {
                let why = format!("its floats were made integers by {other}, which is not known");
                return Err(Refused::Unsupported(why));
            }
        };
        let seed = self.header.count("ZDITHER0", 0).filter(|seed| (1..=10_000).contains(seed));
        let zero = zero.unwrap_or(Number::Of(0.0));
        Ok(Some(Scales { scale, zero, blank, dither, seed }))
    }

    /// The integer of the cards ZBLANK or BLANK.
    fn blank(&self) -> Result<Option<Number<i64>>, Refused> {
        let key = if self.header.value("ZBLANK").is_some() { "ZBLANK" } else { "BLANK" };
        match (self.header.value(key), self.header.integer(key)) {
            (None, _) => Ok(None),
            (Some(_), Some(blank)) => Ok(Some(Number::Of(blank))),
            (Some(_), None) => Err(self.wrong(key)),
        }
    }

    /// A number that is in a column, or a card.
    fn number(&self, columns: &Columns, name: &str) -> Result<Option<Number<f64>>, Refused> {
        match columns.find(name) {
            Some(column) if column.is_number() => return Ok(Some(Number::In(column))),
            Some(_) => return Err(self.wrong(name)),
            None => {}
        }
        let Some(value) = self.header.value(name) else { return Ok(None) };
        value.number().map(|it| Some(Number::Of(it))).ok_or_else(|| self.wrong(name))
    }
}

/// Whether a card describes the table or the tiles, and not the image.
pub(crate) fn is_card_of_table(name: &str) -> bool {
    const CARDS: [&str; 20] = [
        "TFIELDS", "THEAP", "ZIMAGE", "ZSIMPLE", "ZTENSION", "ZBITPIX", "ZNAXIS", "ZEXTEND",
        "ZBLOCKED", "ZPCOUNT", "ZGCOUNT", "ZHECKSUM", "ZDATASUM", "ZCMPTYPE", "ZMASKCMP",
        "ZQUANTIZ", "ZDITHER0", "ZBLANK", "ZSCALE", "ZZERO",
    ];
    const NUMBERED: [&str; 14] = [
        "TTYPE", "TFORM", "TUNIT", "TNULL", "TSCAL", "TZERO", "TDISP", "TBCOL", "TDIM", "TCOMM",
        "ZNAXIS", "ZTILE", "ZNAME", "ZVAL",
    ];
    let stem = name.trim_end_matches(|it: char| it.is_ascii_digit());
    CARDS.contains(&name) || (stem.len() < name.len() && NUMBERED.contains(&stem))
}
