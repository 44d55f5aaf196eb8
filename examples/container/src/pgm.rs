//! PGM images, binary with 8 bits a pixel: `P5`, width, height and maximum, with a blank after each, and the pixels.

use std::path::Path;
use std::sync::Arc;

use tet_convert::export::{Encoding, write_lazy};
use tet_convert::{
    Capabilities, Container, Conversion, ConvertOptions, Error, Format, Input, OpenOptions, Opened,
    Output, Result, Slabs, Writer, chunking,
};
use tet_format::{DType, ForeignFault, ForeignRule, Grid, Shape, Span};
use tet_io::{Publisher, Source};
use tet_query::{Catalog, Dataset, Hyperslab, LazyArray};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, Report, VerifyOptions};

tet_format::foreign_rules! { pub(crate),
    "PGM-1" HEADER "header" Error Structure Hidden: "the header must have a width, a height and a maximum of at most 255", "";
    "PGM-2" PIXELS "pixels" Error Structure Decimal: "the file must end with its pixels", "the file is cut short";
}

const PGM: Format = Format::new("pgm", "a PGM image");

/// The container.
pub(crate) struct Pgm;

/// Width and height, and the offset of the first pixel.
fn header(bytes: &[u8]) -> Option<(u64, u64, u64)> {
    let blanks = bytes.iter().zip(0..).filter(|(byte, _)| byte.is_ascii_whitespace());
    let end: usize = blanks.map(|(_, at)| at).nth(3)?;
    let mut words = std::str::from_utf8(bytes.get(..end)?).ok()?.split_ascii_whitespace().skip(1);
    let (width, height) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let maximum: u64 = words.next()?.parse().ok()?;
    (1..=255).contains(&maximum).then_some((width, height, end as u64 + 1))
}

/// The image of a file as a dataset of shape (height, width), or the rule that the file breaks.
fn dataset(source: &Source, name: &str) -> Result<Result<Dataset, ForeignFault>> {
    let fault = |rule, at, found, wanted| Ok(Err(ForeignFault { rule, at, found, wanted }));
    let bytes = source.read_vec(0, source.len().min(64))?;
    let Some((width, height, at)) = header(&bytes) else { return fault(&HEADER, 0, 0, 0) };
    let stored = width.checked_mul(height).and_then(|len| Span::new(at, len));
    let shape = Shape::from(vec![height, width]);
    let grid = Grid::new(shape.clone(), Shape::from(chunking::in_place(&shape, 1)));
    let (Some(stored), Some(grid)) = (stored.filter(|it| it.end() == source.len()), grid) else {
        let wanted = width.saturating_mul(height).saturating_add(at);
        return fault(&PIXELS, at, source.len(), wanted);
    };
    let slabs = Arc::new(Slabs::new(grid.clone(), 8, stored));
    let dataset = Dataset::new(source.clone(), name.to_owned(), DType::UInt8, grid, slabs);
    Ok(Ok(Dataset { dims: vec!["y".to_owned(), "x".to_owned()], ..dataset }))
}

impl Container for Pgm {
    fn format(&self) -> Format {
        PGM
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["pgm"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"P5\n", b"P5 "]
    }

    fn open(&self, input: Input<'_>, _options: &OpenOptions) -> Result<Opened> {
        let Input { path, source } = input;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let foreign = |fault| Error::Foreign { path: path.to_path_buf(), format: PGM, fault };
        let dataset = dataset(&source, &name)?.map_err(foreign)?;
        Ok(Opened::new(PGM, Catalog::new(source, PGM.name(), vec![dataset])))
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        let mut findings = ForeignFindings::new(options);
        if let Err(fault) = dataset(source, "")? {
            findings.take(ForeignFound { fault, field: "header", len: 1, dataset: None });
        }
        let file_len = source.len();
        Ok(findings.report(&ForeignSeen { file_len, dataset_count: 1, ..ForeignSeen::default() }))
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        ALL
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Pgm {
    fn can(&self) -> Capabilities {
        Capabilities { several: false, attributes: false, ..Capabilities::ARRAYS }
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let encoding = PGM.name();
        let [dataset] = conversion.datasets[..] else { return Err(Error::OneDataset { encoding }) };
        let (&[height, width], Some(DType::UInt8)) = (dataset.shape(), dataset.dtype) else {
            let (dataset, why) = (dataset.name.clone(), "it is not two axes of uint8");
            return Err(Error::Unfit { dataset, encoding, why });
        };
        let publish = options.export().publish(conversion.catalog);
        let mut publisher = Publisher::begin(output, &publish)?;
        let header = format!("P5\n{width} {height}\n255\n");
        let file = publisher.file();
        file.write_all(header.as_bytes()).map_err(Error::Write)?;
        let pixels = LazyArray::values(dataset, &Hyperslab::whole(dataset.shape()))?;
        write_lazy(&pixels, Encoding::Raw, &options.execution, file)?;
        publisher.commit()?;
        let len = header.len() as u64 + height * width;
        Ok(Output { len, ..Output::default() })
    }
}
