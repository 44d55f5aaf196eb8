//! The coastlines of `tet-plot`, made of `land-110m.json` of the npm package `world-atlas`: a `TopoJSON` file, whose arcs are
//! lines of whole numbers, each but the first the difference to the one before.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::run;

/// Where they are.
const PATH: &str = "crates/tet-plot/coast/coastlines-110m.bin";
/// Hundredths of a degree from here on are those of an edge that closes a polygon.
const EDGE: i16 = 17_999;
/// Points that are as far from each other are on either side of 180 degrees.
const ROUND: u16 = 18_000;

/// Which file.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// land-110m.json of world-atlas 2.0.2
    land: PathBuf,
}

/// Writes the coastlines.
pub(crate) fn run(options: &Options) -> Result<()> {
    let land: Value = serde_json::from_slice(&std::fs::read(&options.land)?)?;
    let pair = |name: &str| -> Result<[f64; 2]> {
        let value = land["transform"][name].clone();
        Ok(serde_json::from_value(value)?)
    };
    let (scale, start) = (pair("scale")?, pair("translate")?);
    let arcs: Vec<Vec<[i64; 2]>> = serde_json::from_value(land["arcs"].clone())?;
    let mut out = Vec::new();
    for arc in arcs {
        let mut at = [0, 0];
        let points = arc.into_iter().map(|step| {
            at = [at[0] + step[0], at[1] + step[1]];
            [0, 1].map(|axis| hundredths(at[axis], scale[axis], start[axis]))
        });
        for line in coasts(&points.collect::<Vec<_>>()) {
            let count = i16::try_from(line.len()).context("a line is too long")?;
            out.extend(count.to_le_bytes());
            out.extend(line.iter().flatten().flat_map(|number| number.to_le_bytes()));
        }
    }
    ensure!(!out.is_empty(), "there are no lines");
    println!("{PATH}: {} bytes", out.len());
    Ok(std::fs::write(run::root().join(PATH), out)?)
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "degrees of the earth in hundredths"
)]
fn hundredths(at: i64, scale: f64, start: f64) -> i16 {
    ((at as f64 * scale + start) * 100.0).round() as i16
}

/// The parts of a line that are no edges along 180 degrees or steps over it, without points that follow their equal.
fn coasts(line: &[[i16; 2]]) -> Vec<Vec<[i16; 2]>> {
    let mut coasts = vec![Vec::new()];
    for pair in line.windows(2) {
        let is_round = ROUND <= pair[0][0].abs_diff(pair[1][0]);
        let is_edge = is_round || pair.iter().all(|at| EDGE <= at[0].abs());
        let Some(coast) = coasts.last_mut() else { continue };
        match is_edge {
            true if !coast.is_empty() => coasts.push(Vec::new()),
            false if coast.is_empty() => coast.extend(pair),
            false if pair[0] != pair[1] => coast.push(pair[1]),
            _ => {}
        }
    }
    coasts.retain(|coast| coast.len() > 1);
    coasts
}
