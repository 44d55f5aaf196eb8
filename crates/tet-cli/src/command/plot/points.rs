//! Maps of curvilinear grids: each cell has a latitude and a longitude of its own (CF conventions, section 5.2).

use tet_document::{Ask, Resolved};
use tet_plot::{Mesh, PlotAxis, PlotMedium, PlotSource, Shown};
use tet_query::{
    AttrText, AxisSlice, Catalog, Choice, CoordinateRole, Dataset, Execution, Hyperslab, LazyArray,
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
    let extents = [y.extent(), x.extent()];
    let count = |axis: usize| resolved.slab.axes().get(axis).map(AxisSlice::count);
    if is_chosen || style.names_axis() || [row, column].map(count) != extents.map(Some) {
        return Ok(None);
    }
    let Some([lat, lon]) = places(catalog, resolved, [row, column]) else { return Ok(None) };
    let room = medium.room(y, x);
    let read = |(dataset, slab): &(&Dataset, Hyperslab)| -> Result<_> {
        let lazy = LazyArray::new(dataset, slab, Choice::default(), None, how)?;
        Ok(PlotSource::Lazy(&lazy).samples(extents, room, how)?)
    };
    let (lats, lons) = (read(&lat)?, read(&lon)?);
    let [lat, lon] = [lat.0, lon.0];
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

/// Latitudes and longitudes of the cells of two axes, and what of them is selected: of the datasets that the attribute
/// `coordinates` names, else of others.
fn places<'c>(
    catalog: &'c Catalog,
    resolved: &Resolved,
    cells: [usize; 2],
) -> Option<[(&'c Dataset, Hyperslab); 2]> {
    let dataset = &resolved.dataset;
    let named = match dataset.attrs.get("coordinates") {
        Some(AttrText::Text(names)) => names.as_str(),
        _ => "",
    };
    let named = named.split_whitespace().filter_map(|name| catalog.in_scope(&dataset.name, name));
    let others = catalog.datasets().iter().filter(|it| group(&it.name) == group(&dataset.name));
    let with_slab = |it: &'c Dataset| Some((it, selected(it, resolved, cells)?));
    let all: Vec<_> = named.chain(others).filter_map(with_slab).collect();
    let first = |role| all.iter().find(|(it, _)| it.coordinate_role() == role).cloned();
    Some([first(CoordinateRole::Latitude)?, first(CoordinateRole::Longitude)?])
}

/// Selected coordinates of two axes; `None` of others, also of those that change along a third axis of which
/// several positions are selected.
fn selected(coordinates: &Dataset, resolved: &Resolved, cells: [usize; 2]) -> Option<Hyperslab> {
    let (dataset, slab) = (&resolved.dataset, &resolved.slab);
    // Numbers that are still packed are no degrees.
    if coordinates.dims.len() < 2 || labels::is_packed(coordinates) {
        return None;
    }
    let axis = |dim: &String| dataset.dims.iter().position(|it| it == dim);
    let axes: Vec<usize> = coordinates.dims.iter().map(axis).collect::<Option<_>>()?;
    let extents = axes.iter().map(|&axis| dataset.shape().get(axis));
    let slices: Vec<AxisSlice> =
        axes.iter().map(|&axis| slab.axes().get(axis).copied()).collect::<Option<_>>()?;
    let is_one = |(axis, slice): (&usize, &AxisSlice)| cells.contains(axis) || slice.count() == 1;
    let has_cells = axes.iter().filter(|axis| cells.contains(axis)).eq(&cells);
    let fits = has_cells
        && axes.iter().zip(&slices).all(is_one)
        && extents.eq(coordinates.shape().iter().map(Some));
    Hyperslab::new(slices, coordinates.shape()).filter(|_| fits)
}

/// The group of a dataset.
fn group(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(group, _)| group)
}
