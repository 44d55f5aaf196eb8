//! A query and a catalog -> the dataset, the hyperslab and the reduction that are meant.

use std::ops::Range;

use super::error::DocumentError;
use super::query::{Query, QueryReduction};
use crate::align::Alignment;
use crate::catalog::{Catalog, Dataset};
use crate::error::{Error, Result};
use crate::labels::{CatalogLabels, axis_text, find_axis};
use crate::lens::Choice;
use crate::reduction::{Axes, Reduction};
use crate::selection::{Hyperslab, SelectionError, SelectionFault};
use crate::transform::Transform;

/// A query with every name and label looked up.
#[derive(Clone, Debug)]
pub struct Resolved<'a> {
    /// The dataset.
    pub dataset: &'a Dataset,
    /// What is selected of it.
    pub slab: Hyperslab,
    /// What is asked of that.
    pub ask: Ask<'a>,
}

/// What is asked of the selected elements.
#[derive(Clone, Debug)]
pub enum Ask<'a> {
    /// The values.
    Values(Choice),
    /// A reduction of them.
    Reduce(Reduction),
    /// Every value transformed.
    Transform(Choice, Transform),
    /// How the axes compare with those of another dataset: nothing is left to be computed.
    Align(Alignment<'a>),
}

impl Resolved<'_> {
    /// The reduction, if one is asked for.
    #[must_use]
    pub const fn reduction(&self) -> Option<&Reduction> {
        match &self.ask {
            Ask::Reduce(reduction) => Some(reduction),
            _ => None,
        }
    }
}

impl Query {
    /// Looks up the dataset, the axes and the labels in `catalog`.
    ///
    /// # Errors
    ///
    /// No such dataset, axis or label, or a selection out of extent; a query that was read from a
    /// document points at the place. Labels that have to be read may fail as any read may.
    pub fn resolve<'a>(&self, catalog: &'a Catalog) -> Result<Resolved<'a>> {
        let dataset = catalog.find(&self.dataset)?;
        let labels = CatalogLabels::new(catalog, dataset);
        let slab = self.selection.resolve(dataset, &labels).map_err(|error| self.placed(error))?;
        let ask = match &self.reduction {
            None => Ask::Values(Choice::default()),
            Some(reduction) => Ask::Reduce(self.reduction_of(reduction, dataset, &slab)?),
        };
        Ok(Resolved { dataset, slab, ask })
    }

    fn reduction_of(
        &self,
        asked: &QueryReduction,
        dataset: &Dataset,
        slab: &Hyperslab,
    ) -> Result<Reduction> {
        let axes = reduced_axes(asked, &dataset.dims, slab)
            .map_err(|(place, fault)| self.placed_axis(place, fault))?;
        Ok(Reduction { axes, nan: self.nan.unwrap_or_default(), ..Reduction::all(asked.op) })
    }

    /// A wrong selection as an error at its place in the document, if there is one.
    fn placed(&self, error: Error) -> Error {
        let Error::Selection(error) = error else { return error };
        let SelectionError { entry, fault } = *error;
        let at_entry = entry.and_then(|entry| self.origin.entries.get(entry)).cloned();
        let whole = || Some((self.origin.selection.clone()?, "selection".to_owned()));
        match at_entry.or_else(whole) {
            Some(place) => self.document_error(&place, &fault),
            None => SelectionError { entry, fault }.into(),
        }
    }

    fn placed_axis(&self, place: usize, fault: Box<SelectionFault>) -> Error {
        match self.origin.axes.get(place).or(self.origin.reduction.as_ref()) {
            Some(place) => self.document_error(place, &fault),
            None => fault.of_all().into(),
        }
    }

    fn document_error(&self, place: &(Range<usize>, String), fault: &SelectionFault) -> Error {
        let (span, path) = place;
        let error = DocumentError::at(&self.origin.text, span, fault.to_string())
            .with_path(path.clone())
            .with_hint(fault.hint());
        Error::Document(Box::new(error))
    }
}

/// The axes by number, in order; the fault comes with the place of the axis that is wrong.
fn reduced_axes(
    asked: &QueryReduction,
    dims: &[String],
    slab: &Hyperslab,
) -> std::result::Result<Axes, (usize, Box<SelectionFault>)> {
    let rank = slab.axes().len();
    let mut axes = Vec::with_capacity(asked.axes.len());
    for (place, name) in asked.axes.iter().enumerate() {
        let axis = find_axis(name, dims, rank).map_err(|fault| (place, fault))?;
        if axes.contains(&axis) {
            let axis = axis_text(axis, dims);
            return Err((place, SelectionFault::AxisTwice { axis }.into()));
        }
        axes.push(axis);
    }
    axes.sort_unstable();
    // All axes that are left after the selection are all axes: the result is one cell, exact where
    // a whole selection is exact.
    let all = (0..rank).all(|axis| axes.contains(&axis) || !slab.axes()[axis].is_kept());
    Ok(if axes.is_empty() || all { Axes::All } else { Axes::Some(axes) })
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use tet_file::{OpenOptions, TetFile};
    use tet_format::write::{DatasetSpec, Declaration, FileWriter, FooterParts};
    use tet_format::{Codec, DType};
    use tet_io::Source;

    use super::*;
    use crate::labels::NoLabels;
    use crate::op::Op;
    use crate::selection::{AxisRef, Selection};

    /// `temp` of 3 x 4 along `time` (labels) and `lat` (a coordinate dataset), and the latter.
    fn catalog() -> Catalog {
        let specs = [
            DatasetSpec::new("temp", DType::Float32, [3, 4], [2, 3]),
            DatasetSpec::new("lat", DType::Float32, [4], [4]),
        ];
        let layout = Declaration::new(specs).layout().unwrap();
        let mut writer = FileWriter::new(Cursor::new(Vec::new()), layout).unwrap();
        for elements in [
            &[0.0, 1.0, 2.0, 10.0, 11.0, 12.0][..],
            &[3.0, 13.0],
            &[20.0, 21.0, f32::NAN],
            &[23.0],
            &[60.0, 50.1, 40.0, 30.0],
        ] {
            let stored: Vec<u8> = elements.iter().flat_map(|it: &f32| it.to_le_bytes()).collect();
            writer.push(Codec::Raw, stored.len() as u64, &stored).unwrap();
        }
        let json = br#"{"metadata":{"datasets":{"temp":{"dim_names":["time","lat"],
            "coords":{"time":{"labels":["mon","tue","wed"]}}}}}}"#;
        let footer = FooterParts { block: &[], spill: &[], json, version: 1 };
        let bytes = writer.finish(Some(footer)).unwrap().into_inner();
        let file = TetFile::open(Source::from_bytes(bytes), &OpenOptions::default()).unwrap();
        Catalog::from_tet(file).unwrap()
    }

    #[cfg(feature = "json")]
    #[test]
    fn documents_are_answered_as_the_oracle_does() {
        let catalog = catalog();
        for (rest, wanted) in [
            (r#""sum":[]"#, &[Some(f64::NAN)][..]),
            (r#""sum":[],"nan":"skip""#, &[Some(116.0)]),
            (r#""count":[],"nan":"skip""#, &[Some(11.0)]),
            (r#""max":"time""#, &[Some(20.0), Some(21.0), Some(f64::NAN), Some(23.0)]),
            (r#""mean":"lat","selection":"time='mon':'wed'""#, &[Some(1.5), Some(11.5)]),
            (
                r#""sum":"lat","selection":{"lat":{"start_label":"55","stop_label":"40"}}"#,
                &[Some(1.0), Some(11.0), Some(21.0)],
            ),
            (
                r#""min":true,"selection":{"lat":{"label":"50.1"},"time":{"index":-1}}"#,
                &[Some(21.0)],
            ),
            (r#""min":true,"selection":"2:2""#, &[None]),
            (r#""sum":"time","selection":[{"index":1},{"step":3}]"#, &[Some(10.0), Some(13.0)]),
        ] {
            check(&catalog, &format!("{{\"dataset\":\"temp\",{rest}}}"), wanted);
        }
    }

    /// The oracle gives what is wanted, and the engine what the oracle gives.
    #[cfg(feature = "json")]
    fn check(catalog: &Catalog, json: &str, wanted: &[Option<f64>]) {
        use crate::naive::{self, Cell};
        use crate::value::Scalar;

        let query = Query::from_json(json).unwrap();
        let resolved = query.resolve(catalog).unwrap();
        let reduction = resolved.reduction().unwrap().clone();
        let Resolved { dataset, slab, .. } = resolved;
        let cells = naive::reduce(catalog, dataset, &slab, &reduction).unwrap();
        let value = |cell: &Cell| match *cell {
            Cell::Null => None,
            Cell::Int(integer) => Some(f64::from(i32::try_from(integer).unwrap())),
            Cell::Float(float) => Some(float),
        };
        let found: Vec<Option<f64>> = cells.iter().map(value).collect();
        assert_eq!(format!("{found:?}"), format!("{wanted:?}"), "{json}");
        let how = crate::budget::Execution::default();
        let reduced = catalog.reduce(dataset, &slab, &reduction, &how).unwrap();
        let cell = |at| match reduced.values.get(at).unwrap() {
            Scalar::Null => Cell::Null,
            Scalar::Int(integer) => Cell::Int(integer),
            scalar => Cell::Float(scalar.to_f64().unwrap()),
        };
        assert_eq!((0..reduced.values.len()).map(cell).collect::<Vec<_>>(), cells, "{json}");
        let array = catalog.read(dataset, &slab, &how).unwrap();
        assert_eq!(array.bytes(), naive::read(catalog, dataset, &slab).unwrap(), "{json}");
    }

    #[cfg(feature = "json")]
    #[test]
    fn a_document_that_does_not_fit_points_at_the_place() {
        let catalog = catalog();
        for (rest, message, place) in [
            (r#","mean":["lat","tiem"]"#, "no axis \"tiem\" (time, lat)", "mean[1] 1:33"),
            (r#","mean":{"axes":["lat",1]}"#, "axis 1 \"lat\" is given twice", "mean.axes[1] 1:41"),
            (
                r#","selection":{"lat":{},"lot":{}}"#,
                "no axis \"lot\" (time, lat)",
                "selection.lot 1:41",
            ),
            (
                r#","selection":[{},{"start":9}]"#,
                "start 9 is outside axis 1 \"lat\" of extent 4",
                "selection[1] 1:35",
            ),
            (r#","selection":[{}]"#, "1 entry for 2 axes (time, lat)", "selection 1:31"),
            (
                r#","selection":"time='sun'""#,
                "no label \"sun\" on axis 0 \"time\" of extent 3",
                "selection 1:31",
            ),
            (
                r#","selection":"lat='41'""#,
                "no label \"41\" on axis 1 \"lat\" of extent 4",
                "selection 1:31",
            ),
        ] {
            let json = format!("{{\"dataset\":\"temp\"{rest}}}");
            let error = Query::from_json(&json).unwrap().resolve(&catalog).unwrap_err();
            let Error::Document(error) = error else { panic!("{json}: {error}") };
            let (line, column) = (error.line().unwrap(), error.column().unwrap());
            let found = (error.message(), format!("{} {line}:{column}", error.path()));
            assert_eq!(found, (message, place.to_owned()), "{json}");
        }
    }

    #[test]
    fn a_query_built_by_hand_fails_without_a_place() {
        let catalog = catalog();
        let built = Query::new("temp").with_selection(Selection::parse("9").unwrap());
        assert!(matches!(built.resolve(&catalog), Err(Error::Selection(_))));
        let missing = Query::new("tmep").resolve(&catalog).unwrap_err();
        assert!(matches!(missing, Error::NoSuchDataset { suggestion: Some(_), .. }));
    }

    #[test]
    fn axes_are_found_sorted_and_all_of_them_are_all() {
        let dims = ["t", "y", "x"].map(str::to_owned);
        let slab = |text: &str| {
            Selection::parse(text).unwrap().resolve_axes(&[4, 3, 2], &dims, &NoLabels).unwrap()
        };
        let axes = |text: &str, asked: &[&str]| {
            let asked = QueryReduction::new(Op::Sum, asked.iter().copied());
            reduced_axes(&asked, &dims, &slab(text))
        };
        assert_eq!(axes(":", &[]), Ok(Axes::All));
        assert_eq!(axes(":", &["x", "0"]), Ok(Axes::Some(vec![0, 2])));
        assert_eq!(axes(":", &["x", "y", "t"]), Ok(Axes::All));
        assert_eq!(axes("0", &["x", "y"]), Ok(Axes::All));
        assert_eq!(axes("0, :, 1", &["y"]), Ok(Axes::All));
        assert_eq!(axes("0", &["t", "x"]), Ok(Axes::Some(vec![0, 2])));
        assert_eq!(axes("0, 0, 0", &["t"]), Ok(Axes::All));
        let (place, fault) = axes(":", &["x", "-1"]).unwrap_err();
        assert_eq!((place, fault.to_string()), (1, "axis 2 \"x\" is given twice".to_owned()));
        let asked = QueryReduction::new(Op::Sum, [AxisRef::from(3)]);
        let (_, fault) = reduced_axes(&asked, &dims, &slab(":")).unwrap_err();
        assert_eq!(fault.to_string(), "no axis 3 (t, y, x)");
    }
}
