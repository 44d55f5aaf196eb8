use super::*;

/// The statistics of floats, one element after the other.
fn plain(elements: &[u64], bits: u32, infinity: u64) -> ChunkStatistics {
    let sign = 1_u64 << (bits - 1);
    let rank = |&it: &u64| if it & sign == 0 { i128::from(it) } else { -1 - i128::from(it ^ sign) };
    let (nan, values): (Vec<u64>, Vec<u64>) =
        elements.iter().partition(|&&it| it & (sign - 1) > infinity);
    let infinite = values.iter().filter(|&&it| it & (sign - 1) == infinity).count();
    ChunkStatistics {
        min: values.iter().copied().min_by_key(rank).unwrap_or(0),
        max: values.iter().copied().max_by_key(rank).unwrap_or(0),
        totals: [nan.len() as u64, infinite as u64],
    }
}

/// Numbers that look random.
fn noise(count: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..count).map(move |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    })
}

const COUNTS: [usize; 8] = [0, 1, 15, 64, 65, 4096, 4097, 9000];

#[test]
fn floats_are_those_of_one_after_the_other() {
    let cases = [
        (DType::Float16, 16, 0x7c00_u64),
        (DType::Float32, 32, 0x7f80_0000),
        (DType::Float64, 64, 0x7ff0_0000_0000_0000),
    ];
    for (dtype, bits, infinity) in cases {
        let (sign, all) = (1_u64 << (bits - 1), u64::MAX >> (64 - bits));
        let odd = [0, sign, infinity, infinity | sign, infinity + 1, all, 1, 1 | sign];
        for count in COUNTS {
            let elements: Vec<u64> = noise(count).map(|it| it & all).collect();
            let tame: Vec<u64> = elements.iter().map(|it| it & (infinity - 1) | 1).collect();
            let negative: Vec<u64> = tame.iter().map(|it| it | sign).collect();
            let finite: Vec<u64> =
                tame.iter().zip(&elements).map(|(tame, it)| tame | it & sign).collect();
            let last = |end: u64| {
                let mut elements = finite.clone();
                elements.last_mut().into_iter().for_each(|it| *it = end);
                elements
            };
            let (nan_last, infinite_last) = (last(sign | all), last(sign | infinity));
            let zeros: Vec<u64> = elements.iter().map(|it| it & sign).collect();
            let nan: Vec<u64> = elements.iter().map(|it| it | (infinity + 1)).collect();
            let mixed: Vec<u64> = odd
                .iter()
                .cycle()
                .zip(&tame)
                .map(|(&odd, it)| if it % 3 == 0 { odd } else { *it })
                .collect();
            let sets =
                [elements, tame, zeros, nan, mixed, negative, nan_last, infinite_last, finite];
            for elements in sets {
                let size = bits as usize / 8;
                let bytes: Vec<u8> =
                    elements.iter().flat_map(|it| it.to_le_bytes()[..size].to_vec()).collect();
                let found = statistics(dtype, &bytes).unwrap();
                assert_eq!(found, plain(&elements, bits, infinity), "{dtype} {count}");
            }
        }
    }
}

#[test]
fn integers_are_those_of_one_after_the_other() {
    macro_rules! check {
        ($($type:ty => $dtype:ident, $unsigned:ty;)+) => {$(
            for count in COUNTS {
                let wild: Vec<$type> = noise(count).map(|it| it as $type).collect();
                let least = vec![<$type>::MIN; count];
                let greatest = vec![<$type>::MAX; count];
                for elements in [wild, least, greatest] {
                    let bytes: Vec<u8> = elements.iter().flat_map(|it| it.to_le_bytes()).collect();
                    let bits = |it: Option<&$type>| it.map_or(0, |&it| u64::from(it as $unsigned));
                    let sum = elements.iter().map(|&it| i128::from(it)).sum();
                    let wanted = ChunkStatistics {
                        min: bits(elements.iter().min()),
                        max: bits(elements.iter().max()),
                        totals: ChunkStatistics::totals_of(sum),
                    };
                    assert_eq!(statistics(DType::$dtype, &bytes), Some(wanted), "{count}");
                }
            }
        )+};
    }
    check! {
        u8 => UInt8, u8; u16 => UInt16, u16; u32 => UInt32, u32; u64 => UInt64, u64;
        i16 => Int16, u16; i32 => Int32, u32; i64 => Int64, u64;
    }
}

#[test]
fn pieces_of_any_length_give_the_same() {
    let bytes: Vec<u8> = noise(300).flat_map(u64::to_le_bytes).collect();
    let dtypes = [DType::UInt8, DType::Int16, DType::Float16, DType::Float32, DType::UInt64];
    for dtype in dtypes {
        let wanted = statistics(dtype, &bytes);
        for len in [1, 3, 5, 7, 8, 9, 1001] {
            let mut counter = StatisticsCounter::new(dtype).unwrap();
            bytes.chunks(len).for_each(|piece| counter.update(piece));
            assert_eq!(Some(counter.finish()), wanted, "{dtype} in pieces of {len}");
        }
    }
    assert_eq!(statistics(DType::Bool, &bytes), None);
    assert_eq!(statistics(DType::Complex64, &bytes), None);
}
