//! Prints the arrays of a Zarr hierarchy and the places of their chunks as JSON.

#![allow(clippy::print_stdout, reason = "an example prints")]

use serde_json::{Value, json};
use tet_io::{Folder, Source};
use tet_zarr::{Hierarchy, Store, check};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: places PATH")?;
    let store = if std::path::Path::new(&path).is_dir() {
        Store::folder(&path)?
    } else if path.ends_with(".json") {
        let folder = std::path::Path::new(&path).parent().ok_or("no folder")?;
        Store::references(&Source::open(&path)?, Folder::open(folder)?)?
    } else {
        Store::zip(Source::open(&path)?)?
    };
    let hierarchy = Hierarchy::open(store)?;
    let mut findings: Vec<Value> = Vec::new();
    for found in hierarchy.findings() {
        findings.push(json!([found.fault.rule.id, found.key, found.path]));
    }
    let mut arrays = Vec::new();
    for array in hierarchy.arrays() {
        let finder = hierarchy.finder(array);
        let mut chunks = Vec::new();
        for number in 0..array.chunk_count().min(10_000) {
            let mut rest = number;
            let mut at = vec![0; array.shape.rank()];
            for (at, count) in at.iter_mut().zip(array.grid.counts()).rev() {
                (*at, rest) = (rest % count, rest / count);
            }
            if let Some(found) = finder.find(&at)? {
                let source = finder.object(found.object)?;
                let bytes = source.read_vec(found.span.start(), found.span.len())?;
                chunks.push(json!([at, bytes, found.inflated_len]));
            }
        }
        let counts = check(&finder, &mut |found| {
            findings.push(json!([found.fault.rule.id, found.key, found.path]));
        })?;
        let codecs: Vec<Value> =
            array.codecs.iter().map(|it| json!([it.name, it.configuration])).collect();
        arrays.push(json!({
            "path": array.path, "shape": array.shape.as_slice(),
            "chunks": array.grid.chunk_shape().as_slice(),
            "dtype": array.element.dtype().map(|it| it.name()),
            "element": format!("{:?} {:?}", array.element, array.byte_order),
            "fill": array.fill, "codecs": codecs, "dims": array.dimension_names,
            "attributes": array.attributes, "at": chunks, "stored": counts.stored,
            "wanted": counts.wanted, "stray": counts.stray,
        }));
    }
    let groups: Vec<&str> = hierarchy.groups().iter().map(|it| it.path.as_str()).collect();
    let metadata = format!("{:?}", hierarchy.metadata());
    println!(
        "{}",
        json!({"arrays": arrays, "groups": groups, "findings": findings, "metadata": metadata})
    );
    Ok(())
}
