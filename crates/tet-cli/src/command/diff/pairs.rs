//! Which datasets of two files are compared, and which of their values.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;

use tet_convert::{NameMap, Opened, catalog_diff, only_pair, with_members};
use tet_query::{Catalog, CatalogDiff, Dataset, Execution, Hyperslab};

use crate::args::DiffArgs;
use crate::command::edit::split_names;
use crate::exit::{Failure, Result};
use crate::target;

/// Pairs of datasets to compare.
pub(super) struct Compared {
    pub(super) files: CatalogDiff,
    /// The selections of the datasets that both files have.
    pub(super) slabs: Vec<[Hyperslab; 2]>,
    /// The catalogs that datasets are of, by their place, where these are not the files': of positions that are
    /// taken one by one.
    pub(super) catalogs: BTreeMap<usize, [Catalog; 2]>,
    /// Assumptions; with each note whether it is a warning.
    pub(super) notes: Vec<(String, bool)>,
}

impl Compared {
    pub(super) fn new(args: &DiffArgs, files: &[Opened; 2], how: &Execution) -> Result<Compared> {
        let [left, right] = [&files[0].catalog, &files[1].catalog];
        let (names, note) = name_map(args, [left, right])?;
        let notes = note.into_iter().collect();
        if args.datasets.is_empty() {
            let files = catalog_diff(left, right, &names);
            let whole = |both: &[Dataset; 2]| {
                [&both[0], &both[1]].map(|dataset| Hyperslab::whole(dataset.shape()))
            };
            let slabs = files.both.iter().map(whole).collect();
            return Ok(Compared { files, slabs, catalogs: BTreeMap::new(), notes });
        }
        let (files, slabs, catalogs) = (CatalogDiff::default(), Vec::new(), BTreeMap::new());
        let mut found = Compared { files, slabs, catalogs, notes };
        for asked in &args.datasets {
            found.add(asked, &names, [(left, &args.left), (right, &args.right)], how)?;
        }
        Ok(found)
    }

    /// Adds the datasets that a selector names, in one of the files at least.
    fn add(
        &mut self,
        asked: &str,
        names: &NameMap,
        sides: [(&Catalog, &Path); 2],
        how: &Execution,
    ) -> Result<()> {
        let catalogs = sides.map(|(catalog, _)| catalog);
        let (name, slice) = split(asked, catalogs);
        for pair in named(name, names, catalogs) {
            self.add_named(&pair, names, slice, sides, how)?;
        }
        Ok(())
    }

    /// Adds the dataset of a name in each file, which one of the files has at least.
    fn add_named<'c>(
        &mut self,
        pair: &[Option<String>; 2],
        names: &NameMap,
        slice: Option<&str>,
        [left, right]: [(&'c Catalog, &Path); 2],
        how: &Execution,
    ) -> Result<()> {
        let found = |(catalog, _): (&'c Catalog, &Path), name: &Option<String>| {
            let name = name.as_ref().filter(|name| catalog.has(name))?;
            Some(catalog.find(name))
        };
        match [found(left, &pair[0]), found(right, &pair[1])] {
            [Some(Ok(a)), Some(Ok(b))] => {
                let notes = &mut self.notes;
                let mut part = |(catalog, path): (&Catalog, &Path), dataset: &mut Dataset| {
                    let whole = dataset.clone();
                    let target = target::resolve(catalog, &whole, slice, how)
                        .map_err(|failure| failure.about(path))?;
                    let shown = tet_io::without_secrets(path);
                    let note =
                        |it: &tet_query::SelectionNote| (format!("{shown}: {it}"), it.is_warning());
                    notes.extend(target.notes.iter().map(note));
                    let is_taken = matches!(target.catalog, target::Lent::Owned(_));
                    *dataset = target.dataset.into_owned();
                    Ok::<_, Failure>((target.slab, is_taken, target.catalog.into_owned()))
                };
                let members = [(left.0, a), (right.0, b)].map(|(it, of)| with_members(it, [of]));
                let pairs = names.pairs(members, [&BTreeMap::new(), &BTreeMap::new()]);
                for mut both in pairs.both {
                    let (one, is_taken, catalog) = part(left, &mut both[0])?;
                    let (two, is_other_taken, other) = part(right, &mut both[1])?;
                    if is_taken || is_other_taken {
                        self.catalogs.insert(self.slabs.len(), [catalog, other]);
                    }
                    self.slabs.push([one, two]);
                    self.files.both.push(both);
                }
                let only = self.files.only.iter_mut().zip(pairs.only);
                only.for_each(|(all, more)| all.extend(more));
            }
            [Some(Ok(a)), None] => self.files.only[0].push(a.clone()),
            [None, Some(Ok(b))] => self.files.only[1].push(b.clone()),
            [Some(Err(error)), _] => return Err(Failure::from(error).about(left.1)),
            [_, Some(Err(error))] => return Err(Failure::from(error).about(right.1)),
            [None, None] => {
                let name = pair[0].as_deref().unwrap_or_default();
                left.0.find(name).map_err(|error| Failure::from(error).about(left.1)).map(drop)?
            }
        }
        Ok(())
    }

    /// The bytes of the values of the first file.
    pub(super) fn len(&self) -> u64 {
        let pairs = self.files.both.iter().zip(&self.slabs);
        let len = |(both, slabs): (&[Dataset; 2], &[Hyperslab; 2])| both[0].selected_len(&slabs[0]);
        pairs.map(len).fold(0, u64::saturating_add)
    }
}

/// The names of the first file in the second one, and the note where these were not given.
fn name_map(
    args: &DiffArgs,
    [left, right]: [&Catalog; 2],
) -> Result<(NameMap, Option<(String, bool)>)> {
    if !args.map.is_empty() {
        let rules = args.map.iter().map(|text| {
            let (from, to) = split_names(text, left)?;
            Ok((from.to_owned(), to.to_owned()))
        });
        let rules = rules.collect::<Result<Vec<_>>>()?;
        let map = NameMap::new(left, &rules);
        return Ok((map.map_err(|error| Failure::from(error).about(&args.left))?, None));
    }
    let asked: Vec<&str> = args.datasets.iter().map(|it| split(it, [left, right]).0).collect();
    let Some([a, b]) = only_pair(left, right, &asked) else {
        return Ok((NameMap::default(), None));
    };
    let [one, two] = [&args.left, &args.right].map(|it| tet_io::without_secrets(it));
    let note = format!(
        "{:?} of {} is compared with {:?} of {}: there are no others to compare",
        a.name, one, b.name, two
    );
    Ok((NameMap::of_pair(a, b), Some((note, false))))
}

/// Splits a selector into the name and the slice.
fn split<'t>(asked: &'t str, catalogs: [&Catalog; 2]) -> (&'t str, Option<&'t str>) {
    target::split(asked, |name: &str| catalogs.iter().any(|catalog| catalog.has(name)))
}

/// The names in both files of the datasets that a text names in one of them at least, those of the first before
/// others; a text that is no pattern, or that nothing matches, is a name.
fn named(asked: &str, names: &NameMap, catalogs: [&Catalog; 2]) -> Vec<[Option<String>; 2]> {
    let of_first = |name: &str| [Some(name.to_owned()), Some(names.second(name).to_owned())];
    let of_second = |name: &str| [names.first(name).map(str::to_owned), Some(name.to_owned())];
    let [left, right] = catalogs;
    if left.has(asked) {
        return vec![of_first(asked)];
    }
    if right.has(asked) {
        return vec![of_second(asked)];
    }
    let matching = |catalog: &Catalog| -> Vec<String> {
        let matching = catalog.matching(asked).unwrap_or_default();
        matching.into_iter().map(|dataset| dataset.name.clone()).collect()
    };
    let first = matching(left).into_iter().map(|name| of_first(&name));
    let second = matching(right).into_iter().map(|name| of_second(&name));
    let mut listed = HashSet::new();
    let pairs: Vec<_> = first.chain(second).filter(|pair| listed.insert(pair.clone())).collect();
    if pairs.is_empty() { vec![of_first(asked)] } else { pairs }
}
