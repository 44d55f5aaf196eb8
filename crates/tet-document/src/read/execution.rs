//! How a document wants to be carried out.

use super::super::keys;
use super::super::query::QueryExecution;
use super::super::tree::Value;
use super::{Cursor, Result};

/// All of memory, in hundredths of a percent.
const ALL_BPS: u16 = 10_000;

/// Devices without a number that documents may name.
const DEVICES: &[&str] = &["cpu", "auto", "metal", "cuda", "cuda:multi", "rocm", "rocm:multi"];

/// Reads the value of `execution`.
pub(super) fn read(at: &Cursor<'_>) -> Result<QueryExecution> {
    let mut execution = QueryExecution::default();
    for entry in at.table("`execution`")? {
        let value = at.child(entry);
        match entry.key.as_str() {
            "memory_budget_bytes" => {
                execution.memory_budget_bytes = Some(value.integer(0, u64::MAX.into())?);
            }
            "memory_budget_percent" | "memory_budget_percent_bps" => {
                let whole = entry.key == "memory_budget_percent_bps";
                let bps = if whole { value.integer(0, ALL_BPS.into())? } else { percent(&value)? };
                if execution.memory_budget_percent_bps.replace(bps).is_some() {
                    let message = "\"memory_budget_percent\" and \"memory_budget_percent_bps\" \
                                   mean the same; give one of them";
                    return Err(value.wrong_at(&entry.key_span, message));
                }
            }
            "threads" => execution.threads = Some(value.integer(0, u16::MAX.into())?),
            "fold_parallel" => execution.fold_parallel = Some(value.boolean()?),
            "device" => execution.device = Some(device(&value)?),
            _ => return Err(at.unknown_key(entry, keys::EXECUTION)),
        }
    }
    Ok(execution)
}

/// A percentage with a fraction, rounded to hundredths.
fn percent(at: &Cursor<'_>) -> Result<u16> {
    let percent = match at.node.value {
        Value::Float(percent) => percent,
        Value::Integer(_) => f64::from(at.integer::<u8>(0, 100)?),
        _ => return Err(at.wanted("a number from 0 to 100")),
    };
    if !(0.0..=100.0).contains(&percent) {
        return Err(at.wanted("a number from 0 to 100"));
    }
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a percentage in hundredths lies in 0..=10000"
    )]
    Ok((percent * 100.0).round() as u16)
}

fn device(at: &Cursor<'_>) -> Result<String> {
    let device = at.text("a device")?.trim().to_ascii_lowercase();
    let number = device.strip_prefix("cuda:").or_else(|| device.strip_prefix("rocm:"));
    let numbered = number.is_some_and(|number| number.parse::<u16>().is_ok());
    if numbered || DEVICES.contains(&device.as_str()) {
        return Ok(device);
    }
    Err(at.wanted("a device").with_allowed(&["cpu", "auto", "metal", "cuda", "cuda:N", "rocm"]))
}
