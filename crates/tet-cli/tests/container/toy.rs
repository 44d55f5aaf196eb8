//! A toy container: `TOY1`, a line `NAME DTYPE EXTENT...` for each array, an empty line, the elements.

use std::path::Path;
use std::sync::Arc;

use tet_convert::{
    Capabilities, Container, Conversion, ConvertOptions, Error, Format, Input, OpenOptions, Opened,
    Output, Result, Slabs, Writer,
};
use tet_format::{DType, ForeignFault, ForeignRule, Grid, Shape, Span};
use tet_io::{Publish, Publisher, Source};
use tet_query::{Catalog, Dataset, Hyperslab};
use tet_verify::{ForeignFindings, ForeignFound, ForeignSeen, Report, VerifyOptions};

tet_format::foreign_rules! { pub(crate),
    "TOY-1" HEADER "header" Error Structure Hidden: "the header must list arrays", "";
    "TOY-2" LENGTH "elements" Error Structure Decimal: "the file must end with its arrays", "";
}

const TOY: Format = Format::new("toy", "a toy file");

/// The toy container.
pub(crate) struct Toy;

/// The arrays of a file, and its error.
fn datasets(source: &Source) -> Result<(Vec<Dataset>, Option<ForeignFault>)> {
    let bytes = source.read_vec(0, source.len().min(1 << 16))?;
    let broken = |rule: &'static ForeignRule, at, found, wanted| {
        Ok((Vec::new(), Some(ForeignFault { rule, at, found, wanted })))
    };
    let Some(end) = bytes.windows(2).position(|two| two == b"\n\n") else {
        return broken(&HEADER, 0, 0, 0);
    };
    let mut at = end as u64 + 2;
    let mut datasets = Vec::new();
    for line in String::from_utf8_lossy(&bytes[..end]).lines().skip(1) {
        let mut words = line.split(' ');
        let name = words.next().unwrap_or_default().to_owned();
        let dtype = words.next().and_then(DType::from_name);
        let shape: Option<Shape> = words.map(|word| word.parse::<u64>().ok()).collect();
        let (Some(dtype), Some(shape)) = (dtype, shape) else { return broken(&HEADER, 0, 0, 0) };
        let size = dtype.size().unwrap_or(1);
        let len = shape.iter().try_fold(size, |len, extent| len.checked_mul(*extent));
        let stored = len.and_then(|len| Span::new(at, len)).filter(|it| it.end() <= source.len());
        let chunk = Shape::from(tet_convert::chunking::in_place(&shape, size));
        let (Some(stored), Some(grid)) = (stored, Grid::new(shape, chunk)) else {
            return broken(&LENGTH, at, source.len(), u64::MAX);
        };
        at = stored.end();
        let chunks = Arc::new(Slabs::new(grid.clone(), size * 8, stored));
        datasets.push(Dataset::new(source.clone(), name, dtype, grid, chunks));
    }
    let (found, wanted) = (source.len(), at);
    let fault = ForeignFault { rule: &LENGTH, at, found, wanted };
    Ok((datasets, (found != wanted).then_some(fault)))
}

impl Container for Toy {
    fn format(&self) -> Format {
        TOY
    }

    fn suffixes(&self) -> &'static [&'static str] {
        &["toy"]
    }

    fn magics(&self) -> &'static [&'static [u8]] {
        &[b"TOY1\n"]
    }

    fn open(&self, input: Input<'_>, _options: &OpenOptions) -> Result<Opened> {
        let (datasets, fault) = datasets(&input.source)?;
        match fault {
            Some(fault) => {
                Err(Error::Foreign { path: input.path.to_path_buf(), format: TOY, fault })
            }
            None => Ok(Opened::new(TOY, Catalog::new(input.source, TOY.name(), datasets))),
        }
    }

    fn verify(&self, source: &Source, options: &VerifyOptions) -> Result<Report> {
        let (datasets, fault) = datasets(source)?;
        let mut findings = ForeignFindings::new(options);
        if let Some(fault) = fault {
            findings.take(ForeignFound { fault, field: "header", len: 1, dataset: None });
        }
        let dataset_count = datasets.len() as u64;
        let (file_len, seen) = (source.len(), ForeignSeen::default());
        Ok(findings.report(&ForeignSeen { file_len, dataset_count, ..seen }))
    }

    fn rules(&self) -> &'static [&'static ForeignRule] {
        ALL
    }

    fn writer(&self) -> Option<&dyn Writer> {
        Some(self)
    }
}

impl Writer for Toy {
    fn can(&self) -> Capabilities {
        Capabilities::ARRAYS
    }

    fn write(
        &self,
        conversion: &mut Conversion<'_>,
        output: &Path,
        options: &ConvertOptions,
    ) -> Result<Output> {
        let (force, sync) = (options.tet.overwrite, options.tet.sync);
        let inputs = conversion.catalog.stamps();
        let mut publisher =
            Publisher::begin(output, &Publish { force, sync, inputs, ..Publish::default() })?;
        let mut bytes = b"TOY1\n".to_vec();
        for dataset in &conversion.datasets {
            let extents = dataset.shape().iter().map(|extent| format!(" {extent}"));
            let line = [dataset.name.clone(), format!(" {}", dataset.dtype_name)];
            bytes.extend(
                line.into_iter().chain(extents).chain(["\n".into()]).collect::<String>().bytes(),
            );
        }
        bytes.push(b'\n');
        for dataset in &conversion.datasets {
            let slab = Hyperslab::whole(dataset.shape());
            let array = dataset.read(&slab, &options.execution)?;
            bytes.extend(array.bytes());
        }
        let len = bytes.len() as u64;
        publisher.file().write_all(&bytes).map_err(Error::Write)?;
        publisher.commit()?;
        options.execution.progress.begin(len).advance(len)?;
        Ok(Output { len, ..Output::default() })
    }
}
