//! Unpacks numbers of any width, highest bit first and without gaps.

/// The bytes that are enough for a number of up to 57 bits, at any bit offset.
const WINDOW_LEN: usize = 8;
/// The widest number for which that is true.
const NARROW_BITS: u32 = 57;

/// Packed numbers, to be read in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers<'a> {
    packed: &'a [u8],
    /// 1 to 64.
    bits: u32,
    first_bit: u32,
}

impl<'a> Numbers<'a> {
    pub(super) const fn new(packed: &'a [u8], bits: u32, first_bit: u32) -> Self {
        Numbers { packed, bits, first_bit }
    }

    /// Writes the value of each number to `out`; bytes past the end read as zeros.
    pub(super) fn each(self, out: &mut [[u8; 8]], value: impl Fn(u64) -> [u8; 8]) {
        let Numbers { packed, bits, first_bit } = self;
        let (mut at, mut bit) = (0_usize, first_bit);
        let (step, step_bits) = ((bits / 8) as usize, bits % 8);
        let mut places = out.iter_mut();
        let shift = u64::BITS - bits;
        while let Some(window) = packed.get(at..).and_then(<[u8]>::first_chunk::<WINDOW_LEN>) {
            let word = u64::from_le_bytes(*window).swap_bytes() << bit;
            let beyond = if bits <= NARROW_BITS { 0 } else { self.ninth(at, bit) };
            let Some(place) = places.next() else { return };
            *place = value((word | beyond) >> shift);
            at += step;
            bit += step_bits;
            at += (bit / 8) as usize;
            bit %= 8;
        }
        for place in places {
            let rest = packed.get(at..).unwrap_or_default();
            let word = rest.iter().chain(std::iter::repeat(&0)).take(WINDOW_LEN);
            let word = word.fold(0_u64, |word, byte| word << 8 | u64::from(*byte)) << bit;
            *place = value((word | self.ninth(at, bit)) >> shift);
            at += step;
            bit += step_bits;
            at += (bit / 8) as usize;
            bit %= 8;
        }
    }

    /// The bits of a number after the window that starts at `at`.
    fn ninth(&self, at: usize, bit: u32) -> u64 {
        let byte = at.checked_add(WINDOW_LEN).and_then(|at| self.packed.get(at));
        u64::from(byte.copied().unwrap_or_default()) >> (8 - bit)
    }
}
