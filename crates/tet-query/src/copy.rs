//! Copying a box of elements between two layouts.

/// One loop of the copy: how often, and elements between neighbors on both sides.
#[derive(Clone, Copy)]
struct Loop {
    count: usize,
    from: usize,
    to: usize,
}

/// Copies `counts` elements of `element_size` bytes from one layout to another.
///
/// Both sides are bytes from the first element on, and elements between neighbors along each axis.
pub(crate) fn copy_box(
    counts: &[usize],
    element_size: usize,
    from: &[u8],
    from_strides: &[usize],
    to: &mut [u8],
    to_strides: &[usize],
) {
    let mut loops: Vec<Loop> = Vec::with_capacity(counts.len());
    for (axis, &count) in counts.iter().enumerate() {
        let this = Loop { count, from: from_strides[axis], to: to_strides[axis] };
        match loops.last_mut() {
            _ if count == 1 => {}
            Some(outer) if outer.from == count * this.from && outer.to == count * this.to => {
                *outer = Loop { count: outer.count * count, ..this };
            }
            _ => loops.push(this),
        }
    }
    let inner = loops.pop().unwrap_or(Loop { count: 1, from: 1, to: 1 });
    let mut at = vec![0; loops.len()];
    let (mut source, mut target) = (0, 0);
    loop {
        copy_row(
            inner,
            element_size,
            &from[source * element_size..],
            &mut to[target * element_size..],
        );
        let mut axis = loops.len();
        loop {
            let Some(outer) = axis.checked_sub(1) else { return };
            axis = outer;
            let Loop { count, from, to } = loops[axis];
            at[axis] += 1;
            source += from;
            target += to;
            if at[axis] < count {
                break;
            }
            at[axis] = 0;
            source -= count * from;
            target -= count * to;
        }
    }
}

/// Copies one row.
fn copy_row(row: Loop, element_size: usize, from: &[u8], to: &mut [u8]) {
    if row.from == 1 && row.to == 1 {
        let len = row.count * element_size;
        to[..len].copy_from_slice(&from[..len]);
        return;
    }
    match element_size {
        1 => copy_steps::<1>(row, from, to),
        2 => copy_steps::<2>(row, from, to),
        4 => copy_steps::<4>(row, from, to),
        8 => copy_steps::<8>(row, from, to),
        16 => copy_steps::<16>(row, from, to),
        _ => {
            for at in 0..row.count {
                let from = &from[at * row.from * element_size..][..element_size];
                to[at * row.to * element_size..][..element_size].copy_from_slice(from);
            }
        }
    }
}

/// Copies one row of elements of `N` bytes.
fn copy_steps<const N: usize>(row: Loop, from: &[u8], to: &mut [u8]) {
    let from = from.as_chunks::<N>().0;
    let to = to.as_chunks_mut::<N>().0;
    let from_len = (row.count - 1) * row.from + 1;
    let (from, to) = (&from[..from_len], &mut to[..(row.count - 1) * row.to + 1]);
    match (row.from, row.to) {
        (2, 1) => copy_every::<N, 2>(from, to),
        (3, 1) => copy_every::<N, 3>(from, to),
        (4, 1) => copy_every::<N, 4>(from, to),
        (step, 1) => {
            to.iter_mut().zip(from.iter().step_by(step)).for_each(|(to, from)| *to = *from)
        }
        (1, step) => to.iter_mut().step_by(step).zip(from).for_each(|(to, from)| *to = *from),
        (from_step, to_step) => to
            .iter_mut()
            .step_by(to_step)
            .zip(from.iter().step_by(from_step))
            .for_each(|(to, from)| *to = *from),
    }
}

/// Copies every `STEP`-th element, a number the compiler knows and makes shuffles of.
fn copy_every<const N: usize, const STEP: usize>(from: &[[u8; N]], to: &mut [[u8; N]]) {
    let (groups, last) = from.as_chunks::<STEP>();
    for (to, group) in to.iter_mut().zip(groups) {
        *to = group[0];
    }
    if let (Some(last), Some(to)) = (last.first(), to.get_mut(groups.len())) {
        *to = *last;
    }
}
