//! Maps of curvilinear grids: each cell has a latitude and a longitude of its own (CF conventions, section 5.2).

use tet_document::{Ask, Resolved};
use tet_plot::{Mesh, PlotAxis, PlotMedium, PlotSource, Shown};
use tet_query::{
    AttrText, Catalog, Choice, CoordinateRole, Dataset, Execution, Hyperslab, LazyArray,
};

use super::style::Style;
use crate::command::query::answer::Subject;
use crate::escape::Escaped;
use crate::exit::Result;
use crate::labels;

/// The map of the values at the places of their cells, and a note on it; `None` without such places, and where an option
/// names an axis of the cells.
///
/// # Errors
///
/// Values or coordinates cannot be read.
pub(super) fn map(
    subject: &Subject,
    catalog: &Catalog,
    resolved: &Resolved,
    style: &Style,
    medium: PlotMedium,
    how: &Execution,
) -> Result<Option<(Shown, String)>> {
    let ([y, x], &[Some(row), Some(column)]) = (&subject.axes[..], &subject.numbers[..]) else {
        return Ok(None);
    };
    let is_chosen = matches!(&resolved.ask, Ask::Values(choice) if *choice != Choice::default());
    let Some([lat, lon]) = places(catalog, &resolved.dataset, [row, column]) else {
        return Ok(None);
    };
    let axes = [row, column].map(|axis| resolved.slab.axes().get(axis).copied());
    let [Some(rows), Some(columns)] = axes else { return Ok(None) };
    let extents = [y.extent(), x.extent()];
    if is_chosen || style.names_axis() || [rows.count(), columns.count()] != extents {
        return Ok(None);
    }
    let room = medium.room(y, x);
    let read = |dataset: &Dataset| -> Result<_> {
        let Some(slab) = Hyperslab::new(vec![rows, columns], dataset.shape()) else {
            return Ok(None);
        };
        let lazy = LazyArray::new(dataset, &slab, Choice::default(), None, how)?;
        Ok(Some(PlotSource::Lazy(&lazy).samples(extents, room, how)?))
    };
    let (Some(lats), Some(lons)) = (read(lat)?, read(lon)?) else { return Ok(None) };
    let field = subject.source().field(extents, room, how)?;
    let Some(mesh) = Mesh::new(field, lats, lons) else { return Ok(None) };
    let Some((field, lat_axis, lon_axis)) = mesh.map(medium) else { return Ok(None) };
    let [y, x] = [(lat_axis, lat), (lon_axis, lon)].map(|(axis, dataset)| described(axis, dataset));
    let y = if style.is_inverted { y.inverted() } else { y };
    Ok(Some((Shown::Heatmap { field, y, x }, note(subject, lat, lon, mesh.lost_count()))))
}

fn note(subject: &Subject, lat: &Dataset, lon: &Dataset, lost_count: usize) -> String {
    let [rows, columns] = [0, 1].map(|at| subject.axes.get(at).map_or("", PlotAxis::name));
    let lost = match lost_count {
        0 => String::new(),
        count => format!("; {count} without a place are left out"),
    };
    format!(
        "drawn at the nearest points of {} and {}{lost} (--x {columns} draws the cells of {rows} and {columns})",
        Escaped(&lat.name),
        Escaped(&lon.name)
    )
}

fn described(axis: PlotAxis, dataset: &Dataset) -> PlotAxis {
    let name = labels::long_name(dataset);
    let name = if name.is_empty() { &dataset.name } else { &name };
    axis.with_long_name(name).with_unit(&labels::unit(dataset))
}

/// Latitudes and longitudes of the cells of two axes: datasets of these axes that the attribute `coordinates` names, else others.
fn places<'c>(
    catalog: &'c Catalog,
    dataset: &Dataset,
    axes: [usize; 2],
) -> Option<[&'c Dataset; 2]> {
    let [rows, columns] = axes.map(|axis| dataset.dims.get(axis));
    let dims = [rows?, columns?];
    let extents = axes.map(|axis| dataset.shape().get(axis).copied());
    let named = match dataset.attrs.get("coordinates") {
        Some(AttrText::Text(names)) => names.as_str(),
        _ => "",
    };
    let named = named.split_whitespace().filter_map(|name| catalog.in_scope(&dataset.name, name));
    let others = catalog.datasets().iter().filter(|it| group(&it.name) == group(&dataset.name));
    let has_cells =
        |it: &&Dataset| it.dims.iter().eq(dims) && it.shape().iter().copied().map(Some).eq(extents);
    // Numbers that are still packed are no degrees.
    let is_plain = |it: &&Dataset| !labels::is_packed(it);
    let all: Vec<&Dataset> = named.chain(others).filter(has_cells).filter(is_plain).collect();
    let first = |role| all.iter().copied().find(|it| it.coordinate_role() == role);
    Some([first(CoordinateRole::Latitude)?, first(CoordinateRole::Longitude)?])
}

/// The group of a dataset.
fn group(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(group, _)| group)
}
