//! A histogram on one line, drawn with block characters of eight heights.

const BLOCKS: [char; 8] = [
    '\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}',
];

/// One block for each count: blank for zero, a full block for the largest.
#[must_use]
pub(crate) fn line(counts: &[f64]) -> String {
    let high = counts.iter().copied().filter(|count| count.is_finite()).fold(0.0, f64::max);
    let block = |&count: &f64| {
        if count.is_nan() || count <= 0.0 {
            return ' ';
        }
        // A small count is visible too.
        let eighth = super::layout::columns(count / high, BLOCKS.len()).max(1);
        BLOCKS.get(eighth - 1).copied().unwrap_or(' ')
    };
    counts.iter().map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_count_is_a_whole_block_and_none_is_blank() {
        assert_eq!(line(&[0.0, 1.0, 4.0, 8.0]), " \u{2581}\u{2584}\u{2588}");
        assert_eq!(line(&[1.0, 1e9]), "\u{2581}\u{2588}");
        assert_eq!(line(&[0.0, f64::NAN]), "  ");
        assert_eq!(line(&[]), "");
    }
}
