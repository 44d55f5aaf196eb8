//! `tet tgm ls` and `tet tgm get`: print the metadata of objects.

use std::path::Path;

use serde_json::{Map, Value as Json};
use tet_convert::json_of_field;
use tet_tensogram::edit::{Filter, Key, Row, Rows, split_outside, text_of};
use tet_tensogram::{DescriptorStage, Pairs, RESERVED_KEY, TensogramFile};

use super::{filter, open_file};
use crate::args::{TgmGetArgs, TgmLsArgs};
use crate::context::Context;
use crate::escape::Escaped;
use crate::exit::{Exit, Failure, Result};
use crate::render::json::{TgmObject, write_line};
use crate::render::table::{Side, Table};

/// Runs `tet tgm ls`.
///
/// # Errors
///
/// A file cannot be read, or a key or a clause is invalid.
pub(super) fn list(args: &TgmLsArgs, context: &mut Context<'_>) -> Result<Exit> {
    let filter = filter(&args.filter)?;
    let keys = args.keys.as_deref().map(keys).transpose()?;
    let many = args.files.len() != 1;
    let mut table = table(keys.as_deref(), many);
    let failures = each(&args.files, &filter, context, |path, row, context| {
        if args.json {
            return Ok(write_line(context.out(), &shape(path, row, keys.as_deref()))?);
        }
        let file = many.then(|| tet_io::shown(path).to_string());
        table.row(file.into_iter().chain(cells(row, keys.as_deref())));
        Ok(())
    })?;
    if !args.json {
        for line in table.lines(context.table_width(), context.paint) {
            context.line(line)?;
        }
    }
    Ok(report_failures(&failures, args.json, context))
}

/// Runs `tet tgm get`.
///
/// # Errors
///
/// A file cannot be read, a key is missing, or a key or a clause is invalid.
pub(super) fn get(args: &TgmGetArgs, context: &mut Context<'_>) -> Result<Exit> {
    let (filter, keys) = (filter(&args.filter)?, keys(&args.keys)?);
    let failures = each(&args.files, &filter, context, |path, row, context| {
        if let Some(key) = keys.iter().find(|key| row.value(key).is_none()) {
            let object = row.object().map(|object| format!(", object {object}"));
            let place = format!("message {}{}", row.message(), object.unwrap_or_default());
            let text = format!("no key \"{}\" in {place}", Escaped(key.text()));
            let failure = Failure::usage("no-such-key", text).about(path);
            return Err(failure.hint("`tet tgm ls -j` shows all keys"));
        }
        if args.json {
            return Ok(write_line(context.out(), &asked(row, &keys))?);
        }
        let texts = keys.iter().filter_map(|key| row.value(key));
        let texts: Vec<String> = texts.map(|value| Escaped(&text_of(&value)).to_string()).collect();
        context.line(texts.join(" "))
    })?;
    Ok(report_failures(&failures, args.json, context))
}

/// Prints the failures after the objects; returns the worst exit code.
fn report_failures(failures: &[Failure], is_json: bool, context: &mut Context<'_>) -> Exit {
    failures.iter().for_each(|failure| context.fail(failure, is_json));
    failures.iter().map(|failure| failure.exit).max().unwrap_or(Exit::Done)
}

/// Visits the matching objects, file by file. Returns the failures of unreadable files and messages; the
/// others are visited.
fn each<P: AsRef<Path>>(
    files: &[P],
    filter: &Filter,
    context: &mut Context<'_>,
    mut visit: impl FnMut(&Path, &Row<'_>, &mut Context<'_>) -> Result<()>,
) -> Result<Vec<Failure>> {
    let mut failures = Vec::new();
    for path in files {
        let path = path.as_ref();
        let file = match open_file(path, context) {
            Ok(file) => file,
            Err(failure) if files.len() == 1 => return Err(failure),
            Err(failure) => {
                failures.push(failure);
                continue;
            }
        };
        for number in 0..file.len() {
            context.check_cancelled()?;
            let rows = match Rows::of(&file, number) {
                Ok(rows) => rows,
                Err(error) => {
                    failures.push(Failure::from(error).about(path));
                    continue;
                }
            };
            for row in rows.iter().filter(|row| filter.matches(row)) {
                visit(path, &row, context)?;
            }
        }
        failures.extend(damage(&file, path));
    }
    Ok(failures)
}

/// The failure of the first damaged message.
fn damage(file: &TensogramFile, path: &Path) -> Option<Failure> {
    let first = file.damages().first()?;
    let failure = Failure::from(tet_tensogram::Error::Format(first.fault)).about(path);
    Some(failure.hint("`tet verify` lists all errors"))
}

fn keys(text: &str) -> Result<Vec<Key>> {
    split_outside(text, ',').into_iter().map(|key| Ok(Key::parse(key.trim())?)).collect()
}

/// The columns if no keys are requested.
const COLUMNS: [(&str, Side); 8] = [
    ("message", Side::Right),
    ("object", Side::Right),
    ("name", Side::Left),
    ("dtype", Side::Left),
    ("shape", Side::Left),
    ("stages", Side::Left),
    ("stored", Side::Right),
    ("hash", Side::Left),
];

fn table(keys: Option<&[Key]>, many: bool) -> Table {
    let file = many.then_some(("file", Side::Left));
    let Some(keys) = keys else {
        let columns: Vec<_> = file.into_iter().chain(COLUMNS).collect();
        return Table::new(&columns);
    };
    // A heading of a column must be a static name, so the keys are the first row.
    let columns = vec![("", Side::Left); keys.len().saturating_add(usize::from(many))];
    let mut table = Table::new(&columns);
    let file = file.map(|(name, _)| name);
    table.row(file.into_iter().chain(keys.iter().map(Key::text)));
    table
}

fn cells(row: &Row<'_>, keys: Option<&[Key]>) -> Vec<String> {
    if let Some(keys) = keys {
        let text = |key| row.value(key).map_or_else(|| "-".to_owned(), |value| text_of(&value));
        return keys.iter().map(text).collect();
    }
    let number = |number: usize| number.to_string();
    let mut cells = vec![number(row.message()), row.object().map(number).unwrap_or_default()];
    let (Some(place), Some(name)) = (row.place(), row.name()) else { return cells };
    cells.push(name.into_owned());
    cells.extend(row.descriptor().map_or_else(Default::default, |descriptor| {
        let stages = DescriptorStage::ALL.map(|stage| descriptor.stage(stage));
        let stages: Vec<&str> = stages.into_iter().filter(|word| *word != "none").collect();
        let shape: Vec<String> = descriptor.shape().iter().map(u64::to_string).collect();
        let shape =
            if shape.len() == 1 { format!("{},", shape.join("")) } else { shape.join(", ") };
        [descriptor.dtype_word().to_owned(), format!("({shape})"), stages.join(" ")]
    }));
    cells.push(place.region.len().to_string());
    cells.push(place.hash.map(|hash| format!("{hash:016x}")).unwrap_or_default());
    cells
}

/// The requested keys; missing ones are null.
fn asked(row: &Row<'_>, keys: &[Key]) -> Map<String, Json> {
    let value = |key| row.value(key).map_or(Json::Null, |it| json_of_field(it.into_owned()));
    keys.iter().map(|key| (key.text().to_owned(), value(key))).collect()
}

fn shape(path: &Path, row: &Row<'_>, keys: Option<&[Key]>) -> TgmObject {
    let (place, descriptor) = (row.place(), row.descriptor());
    let stage = |stage| descriptor.map(|it| it.stage(stage).to_owned());
    let metadata = |pairs: &Pairs| {
        let own = pairs.iter().filter(|(key, _)| key != RESERVED_KEY);
        own.map(|(key, value)| (key.clone(), json_of_field(value.clone()))).collect()
    };
    TgmObject {
        schema: "tet.tgm/1",
        file: tet_io::without_secrets(path).into_owned(),
        message: row.message(),
        object: row.object(),
        name: row.name().map(std::borrow::Cow::into_owned),
        dtype: descriptor.map(|it| it.dtype_word().to_owned()),
        shape: descriptor.map(|it| it.shape().to_vec()),
        encoding: stage(DescriptorStage::Encoding),
        filter: stage(DescriptorStage::Filter),
        compression: stage(DescriptorStage::Compression),
        offset: place.map(|it| it.region.start()),
        stored_len: place.map(|it| it.region.len()),
        hash: place.and_then(|it| it.hash).map(|hash| format!("{hash:016x}")),
        keys: keys.map(|keys| asked(row, keys)),
        metadata: row.entry().filter(|_| keys.is_none()).map(metadata),
        extra: keys.is_none().then(|| metadata(row.extra())),
    }
}
