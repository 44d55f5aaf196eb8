//! Blocks, of which each chose how its elements are predicted.

use super::bytes::Bytes;
use super::fault::{corrupt, unsupported};
use super::head::{Generation, Head, Prediction};
use super::huffman::Symbols;
use super::lorenzo::Lorenzo;
use super::number::Value;
use super::quantizer::Residuals;
use super::regression::Regression;
use super::shape::{Coord, RANK_MAX, each};
use crate::error::Result;
use crate::scratch::index;

/// A prediction with what it needs.
#[derive(Clone, Debug)]
enum Predictor<'a, T> {
    Lorenzo(Lorenzo),
    Regression(Regression<'a, T>),
}

/// Decodes all elements.
pub(super) fn decode<T: Value>(
    head: &Head<'_>,
    bytes: &mut Bytes<'_>,
    data: &mut [T],
) -> Result<()> {
    let shape = &head.shape;
    let mut block_len = head.block_len;
    if head.generation == Generation::Bare {
        shape.check(bytes)?;
        block_len = bytes.u32()?;
    }
    if block_len == 0 {
        return Err(corrupt("a block has no elements"));
    }
    let mut predictors = Vec::new();
    for prediction in &head.predictions {
        predictors.push(predictor(*prediction, head, block_len, bytes)?);
    }
    let is_choice = 1 < predictors.len();
    let mut choices = if is_choice { choices(bytes)? } else { None };
    let mut residuals = Residuals::read::<T>(head, bytes)?;
    let fallback = Lorenzo::first(shape, &summed(head));

    shape.blocks(index(block_len.into()), |origin, extents| {
        let choice = match &mut choices {
            Some(choices) => usize::try_from(choices.next()?).ok(),
            None => (!is_choice).then_some(0),
        };
        let predictor = choice.and_then(|choice| predictors.get_mut(choice));
        let predictor = predictor.ok_or(corrupt("a block chose no prediction"))?;
        let is_thin = extents[shape.axes()].iter().any(|extent| *extent <= 1);
        let end = sum(origin, extents);
        let mut lorenzo = &fallback;
        match predictor {
            Predictor::Regression(_) if is_thin => {
                // The library then reads memory before the array.
                if !is_choice && head.generation == Generation::Headed {
                    return Err(unsupported(
                        "regression alone of blocks of one element along an axis",
                    ));
                }
            }
            Predictor::Regression(plane) => {
                plane.advance(head)?;
                return each(origin, &end, &[1; RANK_MAX], |place| {
                    let mut inside = *place;
                    inside.iter_mut().zip(origin).for_each(|(at, start)| *at -= start);
                    set(data, shape.at(place), residuals.next(plane.predict(head, &inside))?)
                });
            }
            Predictor::Lorenzo(chosen) => lorenzo = chosen,
        }
        each(origin, &end, &[1; RANK_MAX], |place| {
            let predicted = lorenzo.predict(data, shape, place);
            set(data, shape.at(place), residuals.next(predicted)?)
        })
    })?;
    residuals.finish()
}

/// Reads what a prediction needs.
fn predictor<'a, T: Value>(
    prediction: Prediction,
    head: &Head<'_>,
    block_len: u32,
    bytes: &mut Bytes<'a>,
) -> Result<Predictor<'a, T>> {
    let shape = &head.shape;
    let axes = summed(head);
    let is_bare = head.generation == Generation::Bare;
    if prediction == Prediction::Regression {
        return Ok(Predictor::Regression(Regression::read(head, bytes)?));
    }
    if is_bare {
        bytes.u8()?;
    }
    Ok(Predictor::Lorenzo(match prediction {
        Prediction::LorenzoOfTwo if axes.len() < RANK_MAX => {
            if is_bare && block_len == 1 {
                return Err(unsupported("blocks of one element that are predicted from two"));
            }
            Lorenzo::second(shape, &axes)
        }
        // The library has no second order for four axes: one layout has the first, the other has none.
        Prediction::LorenzoOfTwo if !is_bare => Lorenzo::nothing(),
        _ => Lorenzo::first(shape, &axes),
    }))
}

/// The axes in the order of the sums of Lorenzo. The layout of 3.3.2 has all but the last in the opposite order.
fn summed(head: &Head<'_>) -> Vec<usize> {
    let mut axes: Vec<usize> = head.shape.axes().collect();
    if head.generation == Generation::Headed
        && let Some((_, slower)) = axes.split_last_mut()
    {
        slower.reverse();
    }
    axes
}

/// Reads which prediction each block chose.
fn choices<'a>(bytes: &mut Bytes<'a>) -> Result<Option<Symbols<'a>>> {
    let count = bytes.u64()?;
    if count == 0 { Ok(None) } else { Symbols::read(bytes, count).map(Some) }
}

/// The sum of two places.
pub(super) fn sum(a: &Coord, b: &Coord) -> Coord {
    let mut sum = *a;
    sum.iter_mut().zip(b).for_each(|(a, b)| *a += b);
    sum
}

/// Sets an element.
pub(super) fn set<T>(data: &mut [T], at: usize, value: T) -> Result<()> {
    *data.get_mut(at).ok_or(corrupt("an element is outside the array"))? = value;
    Ok(())
}
