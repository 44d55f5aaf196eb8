//! The values of another dataset along an axis, in place of the labels of the axis.

use super::Labels;
use super::coordinates::read_labels;
use crate::budget::{DigestPolicy, Execution};
use crate::catalog::{Catalog, Dataset};
use crate::error::Result;
use crate::scalar::Scalar;
use crate::selection::{Hyperslab, shared_axis};
use tet_format::DType;

impl Catalog {
    /// The dataset of this name that has one value for each position of an axis of `dataset`, decoded, and that axis:
    /// another column of a table, another member of a structure, a variable along the same dimension.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn example(catalog: &tet_query::Catalog) -> tet_query::Result<()> {
    /// let flow = catalog.find("flow")?;
    /// if let Some((axis, state)) = catalog.values_along(flow, "state") {
    ///     assert_eq!(state.shape(), &flow.shape()[axis..=axis]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn values_along(&self, dataset: &Dataset, name: &str) -> Option<(usize, Dataset)> {
        let structure =
            |name: &str| name.rsplit_once('.').map(|(structure, _)| structure.to_owned());
        let own = structure(&dataset.name).filter(|it| self.has(it));
        let member = || self.part(&format!("{}.{name}", own.as_ref()?));
        let found = self.in_scope(&dataset.name, name).or_else(member);
        let found = found.or_else(|| self.find(name).ok())?;
        let &[extent] = found.shape() else { return None };
        let is_member = own.is_some() && own == structure(&found.name);
        let is_shared = |&axis: &usize| {
            let axis_of = shared_axis(self, dataset, axis);
            let is_named = axis_of.is_some() && axis_of == shared_axis(self, found, 0);
            dataset.shape()[axis] == extent && (is_named || is_member && axis == 0)
        };
        let mut axes = (0..dataset.shape().len()).filter(is_shared);
        axes.next().filter(|_| axes.next().is_none()).map(|axis| (axis, self.decoded(found)))
    }
}

impl Dataset {
    /// The values of a dataset of one axis as labels; `None` where they are neither texts nor real numbers. They are always
    /// compared with their digests, as they choose what is read.
    ///
    /// # Errors
    ///
    /// They cannot be read, or are too many.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # fn example(state: &tet_query::Dataset) -> tet_query::Result<()> {
    /// use tet_query::Execution;
    ///
    /// let labels = state.as_labels(&Execution::default())?;
    /// assert_eq!(labels.and_then(|it| it.text(0)).as_deref(), Some("idle"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn as_labels(&self, how: &Execution) -> Result<Option<Labels<'static>>> {
        let how = Execution { digests: DigestPolicy::Always, ..how.silent() };
        let slab = Hyperslab::whole(self.shape());
        if self.dtype != Some(DType::Bool) {
            return read_labels(self, &slab, &how);
        }
        let truths = self.read(&slab, &how)?.value;
        let text = |at| match truths.get(at) {
            Some(Scalar::Bool(truth)) => truth.to_string(),
            _ => String::new(),
        };
        Ok(Some(Labels::Text((0..truths.len()).map(text).collect())))
    }
}

#[cfg(test)]
mod tests {
    use tet_format::Grid;
    use tet_io::Source;

    use super::*;
    use crate::catalog::OneChunk;

    fn dataset(name: &str, dtype: DType, axes: &[(&str, u64)]) -> Dataset {
        let shape: Vec<u64> = axes.iter().map(|(_, extent)| *extent).collect();
        let grid = Grid::new(shape.clone().into(), shape.into()).unwrap();
        let (source, chunk) = OneChunk::new(vec![1, 0, 1]).unwrap();
        let dims = axes.iter().filter(|(name, _)| !name.is_empty());
        let dims = dims.map(|(name, _)| (*name).to_owned()).collect();
        Dataset { dims, ..Dataset::new(source, name, dtype, grid, chunk) }
    }

    #[test]
    fn values_are_along_an_axis_that_both_datasets_have() {
        let (t, x) = (("t", 3), ("x", 2));
        let all = [
            ("t", vec![t]),
            ("flow", vec![x, t]),
            ("state", vec![t]),
            ("short", vec![("t", 2)]),
            ("square", vec![t, t]),
            // Their `t` is another one.
            ("g/t", vec![t]),
            ("g/flow", vec![t]),
            ("g/state", vec![t]),
            ("unnamed", vec![("", 3)]),
            ("rows", vec![("", 3)]),
        ];
        let datasets = all.map(|(name, axes)| dataset(name, DType::UInt8, &axes));
        let parts = ["rows.t", "rows.code", "rows.position"];
        let parts = parts.map(|name| {
            let axes: &[_] =
                if name.ends_with("position") { &[("", 3), ("", 3)] } else { &[("", 3)] };
            dataset(name, DType::UInt8, axes)
        });
        let catalog = Catalog::new(Source::from_bytes(Vec::new()), "tet", datasets.into());
        let catalog = catalog.with_parts(parts.into());
        let along = |of: &str, name: &str| {
            let found = catalog.values_along(catalog.find(of).unwrap(), name)?;
            Some((found.0, found.1.name))
        };
        let found = |axis: usize, name: &str| Some((axis, name.to_owned()));
        assert_eq!(along("flow", "state"), found(1, "state"));
        assert_eq!(along("g/flow", "state"), found(0, "g/state"));
        assert_eq!(along("rows.t", "code"), found(0, "rows.code"));
        assert_eq!(along("rows.position", "rows.code"), found(0, "rows.code"));
        for (of, name) in [
            ("flow", "g/state"),
            ("g/flow", "/state"),
            ("flow", "short"),
            ("square", "state"),
            ("flow", "unnamed"),
            ("flow", "rows.code"),
            ("flow", "square"),
            ("flow", "none"),
        ] {
            assert_eq!(along(of, name), None, "{of} by {name}");
        }
    }

    #[test]
    fn truth_values_are_labels() {
        let flags = dataset("flag", DType::Bool, &[("t", 3)]);
        let labels = flags.as_labels(&Execution::default()).unwrap().unwrap();
        let texts: Vec<String> = (0..3).filter_map(|at| labels.text(at)).collect();
        assert_eq!(texts, ["true", "false", "true"]);
    }
}
