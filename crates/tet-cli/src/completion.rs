//! Completion in a shell: with the names of datasets, axes and labels of the file that stands on the line.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use clap_complete::CompleteEnv;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use tet_query::{
    AxisSelection, Catalog, CatalogLabels, Dataset, Execution, LabelLookup, Position, Selection,
    SelectionForm,
};

use crate::target;

/// More candidates are of no help.
const CANDIDATES_MAX: usize = 1000;

/// Answers a shell that asks what could be completed, and ends the process then.
///
/// Shells ask by the variable `COMPLETE`, as the scripts of `tet completions` do.
pub fn answer_shell() {
    CompleteEnv::with_factory(|| with_names(crate::command())).complete();
}

/// The command line with completers where datasets, slices and axes are given.
fn with_names(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let name = arg.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
        match name.as_deref().unwrap_or_default() {
            "DATASET[SLICE]" | "DATASET" | "DOCUMENT|DATASET" => completed(arg, datasets),
            "SLICE" => completed(arg, slices),
            "AXES" | "AXIS" => completed(arg, axes),
            "NAME" | "NAME|PATTERN" if ["dataset", "exclude"].contains(&arg.get_id().as_str()) => {
                completed(arg, datasets)
            }
            _ => arg,
        }
    });
    command.mut_subcommands(with_names)
}

fn completed(arg: clap::Arg, candidates: fn(&Catalog, &str) -> Vec<String>) -> clap::Arg {
    arg.add(ArgValueCompleter::new(move |current: &OsStr| {
        let (Some(current), Some(catalog)) = (current.to_str(), catalog()) else {
            return Vec::new();
        };
        let texts = candidates(&catalog, current).into_iter();
        let fitting = texts.filter(|text| text.starts_with(current)).take(CANDIDATES_MAX);
        fitting.map(CompletionCandidate::new).collect()
    }))
}

/// The datasets of the first file on the line.
fn catalog() -> Option<Catalog> {
    let path = words().into_iter().map(PathBuf::from).find(|path| path.exists())?;
    Some(tet_convert::open(path, &tet_convert::OpenOptions::default()).ok()?.catalog)
}

/// The words of the line after the name of the program, which stand after `--`.
fn words() -> Vec<OsString> {
    std::env::args_os().skip_while(|word| word != "--").skip(2).collect()
}

/// Names of datasets; after a bracket what can be selected of one.
fn datasets(catalog: &Catalog, current: &str) -> Vec<String> {
    let closed = format!("{current}]");
    let (name, Some(slice)) = target::split(&closed, |_| false) else {
        return catalog.datasets().iter().map(|dataset| dataset.name.clone()).collect();
    };
    let Ok(dataset) = catalog.find(name) else { return Vec::new() };
    let texts = entries(catalog, &[dataset], slice).into_iter();
    texts.map(|text| format!("{name}[{text}")).collect()
}

/// Slices of the dataset on the line, or of any.
fn slices(catalog: &Catalog, current: &str) -> Vec<String> {
    let words = words();
    let named = words.iter().find_map(|word| catalog.find(word.to_str()?).ok());
    let all = || catalog.datasets().iter().collect();
    let datasets: Vec<&Dataset> = named.map_or_else(all, |dataset| vec![dataset]);
    entries(catalog, &datasets, current)
}

/// Continuations of a selection: names of axes, or the labels of the last one that is named.
fn entries(catalog: &Catalog, datasets: &[&Dataset], current: &str) -> Vec<String> {
    let (before, entry) = last_entry(current);
    let Some((axis, _)) = entry.split_once('=') else {
        return dims(datasets).into_iter().map(|dim| format!("{before}{dim}=")).collect();
    };
    let Some(dataset) = datasets.iter().find(|it| it.dims.iter().any(|dim| dim == axis)) else {
        return Vec::new();
    };
    let at = dataset.dims.iter().position(|dim| dim == axis).unwrap_or_default();
    let labels = CatalogLabels::new(catalog, dataset, &Execution::default());
    let Ok(Some(labels)) = labels.labels(at) else { return Vec::new() };
    let texts = (0..labels.len().min(CANDIDATES_MAX)).filter_map(|at| labels.text(at));
    let is_quoted = entry.ends_with(|last: char| last != '=') && entry.contains('"');
    let label =
        |text: String| if is_quoted || !is_bare(&text) { format!("\"{text}\"") } else { text };
    texts.map(|text| format!("{before}{axis}={}", label(text))).collect()
}

/// Whether a label is read without quotes.
fn is_bare(label: &str) -> bool {
    let entry = Selection::parse(&format!("axis={label}")).map(|selection| selection.form);
    let Ok(SelectionForm::Named(entries)) = entry else { return false };
    match &entries[..] {
        [(_, AxisSelection::Point(Position::Number(number)))] => number.to_string() == label,
        [(_, AxisSelection::Point(Position::Label(read)))] => read == label,
        _ => false,
    }
}

/// Names of axes; before the last comma others are given already.
fn axes(catalog: &Catalog, current: &str) -> Vec<String> {
    let (before, _) = last_entry(current);
    let given: Vec<&str> = before.split(',').map(str::trim).collect();
    let datasets: Vec<&Dataset> = catalog.datasets().iter().collect();
    let others = dims(&datasets).into_iter().filter(|dim| !given.contains(&dim.as_str()));
    others.map(|dim| format!("{before}{dim}")).collect()
}

/// The names of the axes of datasets, each once.
fn dims(datasets: &[&Dataset]) -> Vec<String> {
    let mut dims: Vec<String> = Vec::new();
    for dim in datasets.iter().flat_map(|dataset| &dataset.dims) {
        if !dims.contains(dim) {
            dims.push(dim.clone());
        }
    }
    dims
}

/// Splits a text before the last of several entries.
fn last_entry(text: &str) -> (&str, &str) {
    let at = text.rfind(',').map_or(0, |comma| comma + 1);
    let entry = text[at..].trim_start();
    text.split_at(text.len() - entry.len())
}
