//! Whether the values of a coordinate continue in order.

use tet_format::DType;
use tet_query::{Dataset, Execution, Hyperslab, Labels};

use crate::merge::FileDataset;
use crate::{Error, Note, Result};

/// Longer coordinates are not compared.
const COUNT_MAX: u64 = 1 << 24;

/// Checks that a coordinate whose values increase or decrease does so with those of the inputs. Notes are of times that may
/// be missing between two files.
pub(super) fn check_order(
    file: FileDataset<'_>,
    parts: &[FileDataset<'_>],
    advice: &str,
    how: &Execution,
) -> Result<Vec<Note>> {
    let Some(mut keys) = keys(file.dataset, how)? else { return Ok(Vec::new()) };
    if !is_ordered(&keys) {
        return Ok(Vec::new());
    }
    let mut before = file.path;
    for &FileDataset { path, dataset } in parts {
        let Some(more) = self::keys(dataset, how)? else { return Ok(Vec::new()) };
        let (is_part, is_apart) = (is_ordered(&more), keys.last() != more.first());
        keys.extend(more);
        if !is_ordered(&keys) {
            let (name, path, before) =
                (&file.dataset.name, tet_io::shown(path), tet_io::shown(before));
            let leaf = name.rsplit('/').next().unwrap_or_default();
            return Err(unfit(if is_part {
                let begins = if is_apart { "begins before" } else { "begins where" };
                format!("{path} {begins} {before} ends along {leaf:?}: {advice}")
            } else {
                format!("the values of {name:?} in {path} do not continue those before")
            }));
        }
        before = path;
    }
    let files: Vec<_> = std::iter::once(file).chain(parts.iter().copied()).collect();
    let gaps = files.windows(2).map(|pair| gap(pair[0], pair[1], how));
    Ok(gaps.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
}

/// A note where times of a file begin later after those before than any two of them are apart: files may be missing.
fn gap(before: FileDataset<'_>, after: FileDataset<'_>, how: &Execution) -> Result<Option<Note>> {
    let labels = [before.dataset.as_labels(how)?, after.dataset.as_labels(how)?];
    let [Some(first), Some(second)] = &labels else { return Ok(None) };
    let [Some(one), Some(two)] = [first.moments(), second.moments()] else { return Ok(None) };
    let steps = [&one, &two].into_iter().flat_map(|it| it.nanoseconds.windows(2));
    let longest = steps.map(|pair| pair[1].abs_diff(pair[0])).max();
    let (Some(longest), Some(end), Some(begin)) =
        (longest, one.nanoseconds.last(), two.nanoseconds.first())
    else {
        return Ok(None);
    };
    let is_gap =
        one.calendar == two.calendar && longest.saturating_mul(3) / 2 < end.abs_diff(*begin);
    let text = |labels: &Labels<'_>, at: usize| labels.text(at).unwrap_or_default();
    Ok(is_gap.then(|| Note::Gap {
        before: tet_io::shown(before.path).to_string(),
        end: text(first, first.len().saturating_sub(1)),
        path: tet_io::shown(after.path).to_string(),
        begin: text(second, 0),
    }))
}

/// Whether numbers increase, or decrease, with every step.
fn is_ordered(keys: &[i128]) -> bool {
    keys.is_sorted_by(|a, b| a < b) || keys.is_sorted_by(|a, b| a > b)
}

/// Integers that have the order of the values; `None` where there is none, or too many values.
fn keys(dataset: &Dataset, how: &Execution) -> Result<Option<Vec<i128>>> {
    let (&[count], Some(dtype)) = (dataset.shape(), dataset.dtype) else { return Ok(None) };
    if COUNT_MAX < count {
        return Ok(None);
    }
    let array = dataset.read(&Hyperslab::whole(dataset.shape()), &how.silent())?.value;
    let size = dtype.size().and_then(|size| usize::try_from(size).ok()).unwrap_or(1).max(1);
    Ok(array.bytes().chunks_exact(size).map(|bytes| key(dtype, bytes)).collect())
}

fn key(dtype: DType, bytes: &[u8]) -> Option<i128> {
    Some(match dtype {
        DType::Int8 => i8::from_le_bytes(bytes.try_into().ok()?).into(),
        DType::Int16 => i16::from_le_bytes(bytes.try_into().ok()?).into(),
        DType::Int32 => i32::from_le_bytes(bytes.try_into().ok()?).into(),
        DType::Int64 => i64::from_le_bytes(bytes.try_into().ok()?).into(),
        DType::UInt8 => u8::from_le_bytes(bytes.try_into().ok()?).into(),
        DType::UInt16 => u16::from_le_bytes(bytes.try_into().ok()?).into(),
        DType::UInt32 => u32::from_le_bytes(bytes.try_into().ok()?).into(),
        DType::UInt64 => u64::from_le_bytes(bytes.try_into().ok()?).into(),
        DType::Float32 => float(f32::from_le_bytes(bytes.try_into().ok()?).into())?,
        DType::Float64 => float(f64::from_le_bytes(bytes.try_into().ok()?))?,
        _ => return None,
    })
}

/// The bits of a float as an integer with its order; `None` for NaN.
fn float(value: f64) -> Option<i128> {
    let magnitude = i128::from(value.abs().to_bits());
    (!value.is_nan()).then_some(if value < 0.0 { -magnitude } else { magnitude })
}

/// Treatment of files that are given in another order, and of one that is appended again.
pub(crate) const GIVE_IN_ORDER: &str = "give the files in the order of their values";
pub(super) const NOT_AGAIN: &str = "it may have been appended before, or files before it later";

/// The error for files that do not go together.
pub(crate) fn unfit(what: String) -> Error {
    tet_file::Error::Edit { what }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_values() {
        let floats =
            [f64::NEG_INFINITY, -1e300, -2.5, -1e-300, 0.0, 5e-324, 1.0, 1.5, f64::INFINITY];
        let keys: Vec<i128> = floats.iter().map(|it| float(*it).unwrap()).collect();
        assert!(is_ordered(&keys) && float(f64::NAN).is_none() && float(-0.0) == float(0.0));
        let big = [i64::MAX - 1, i64::MAX].map(|it| key(DType::Int64, &it.to_le_bytes()).unwrap());
        assert!(
            is_ordered(&big) && !is_ordered(&[1, 1]) && is_ordered(&[3, 2]) && is_ordered(&[7])
        );
        assert!(!is_ordered(&[1, 2, 0]));
    }
}
