//! Fixed-size records, each defined once (format section 1).

/// A value with a fixed little-endian form.
pub trait Wire: Copy {
    /// The length of the value in the file.
    const WIDTH: usize;
    /// Reads the value from exactly `WIDTH` bytes.
    fn get(bytes: &[u8]) -> Self;
    /// Writes the value to exactly `WIDTH` bytes.
    fn put(self, bytes: &mut [u8]);
}

macro_rules! wire_int {
    ($($int:ty)*) => {$(
        impl Wire for $int {
            const WIDTH: usize = size_of::<$int>();
            #[inline]
            fn get(bytes: &[u8]) -> Self {
                let mut le = [0; Self::WIDTH];
                le.copy_from_slice(bytes);
                Self::from_le_bytes(le)
            }
            #[inline]
            fn put(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
wire_int! { u16 u32 u64 }

impl<const N: usize> Wire for [u8; N] {
    const WIDTH: usize = N;
    #[inline]
    fn get(bytes: &[u8]) -> Self {
        let mut out = [0; N];
        out.copy_from_slice(bytes);
        out
    }
    #[inline]
    fn put(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self);
    }
}

impl<const N: usize> Wire for [u64; N] {
    const WIDTH: usize = 8 * N;
    #[inline]
    fn get(bytes: &[u8]) -> Self {
        let (values, _) = bytes.as_chunks::<8>();
        let mut out = [0; N];
        for (out, &value) in out.iter_mut().zip(values) {
            *out = u64::from_le_bytes(value);
        }
        out
    }
    #[inline]
    fn put(self, bytes: &mut [u8]) {
        let (values, _) = bytes.as_chunks_mut::<8>();
        for (out, value) in values.iter_mut().zip(self) {
            *out = value.to_le_bytes();
        }
    }
}

/// One row of a record's table, used by byte maps and errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name in the format document.
    pub name: &'static str,
    /// The offset in the record.
    pub offset: u64,
    /// The length of the field.
    pub width: u64,
}

/// The field of a table that contains the byte at `offset` of the record.
#[must_use]
pub fn field_at(fields: &[Field], offset: u64) -> Option<Field> {
    fields
        .iter()
        .copied()
        .find(|field| field.offset <= offset && offset < field.offset.saturating_add(field.width))
}

/// The offset of the field `name`; for use in a `const`, where a wrong name does not compile.
#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs at compile time, where a panic is a failed build"
)]
pub(crate) const fn offset_in(fields: &[Field], name: &str) -> u64 {
    let mut at = 0;
    while at < fields.len() {
        if same(fields[at].name.as_bytes(), name.as_bytes()) {
            return fields[at].offset;
        }
        at += 1;
    }
    panic!("the record has no field of this name")
}

#[allow(
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "runs at compile time, where a panic is a failed build"
)]
const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The length of bytes in memory as a `u64`.
#[allow(clippy::cast_possible_truncation, reason = "usize is at most 64 bits wide")]
pub(crate) const fn len_of(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

/// Declares a fixed-size record like its table in `docs/spec/format.md`.
///
/// The compiler checks the offsets: a gap, an overlap or a wrong total does not compile.
/// `offset_of("field")` returns an offset by name, so that none is written twice.
macro_rules! record {
    (
        $(#[$meta:meta])*
        pub struct $name:ident[$len:literal] {
            $( $(#[$field_meta:meta])* $offset:literal $field:ident: $ty:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $name { $( $(#[$field_meta])* pub $field: $ty, )* }

        impl $name {
            /// The record's length in the file.
            pub const LEN: usize = $len;

            /// The record's fields in file order.
            pub const FIELDS: &'static [$crate::wire::Field] = &[
                $( $crate::wire::Field {
                    name: stringify!($field),
                    offset: $offset,
                    width: <$ty as $crate::wire::Wire>::WIDTH as u64,
                }, )*
            ];

            /// The offset of the field with this name in the record.
            ///
            /// # Panics
            ///
            /// If there is no such field: call it in a `const`, then that does not compile.
            #[must_use]
            pub const fn offset_of(name: &str) -> u64 {
                $crate::wire::offset_in(Self::FIELDS, name)
            }

            /// Decodes the record. Any bytes can be decoded; readers check the values.
            #[must_use]
            #[inline]
            #[allow(
                clippy::indexing_slicing, clippy::arithmetic_side_effects,
                reason = "constant ranges, checked at compile time below"
            )]
            pub fn decode(bytes: &[u8; $len]) -> Self {
                Self { $( $field: $crate::wire::Wire::get(
                    &bytes[$offset..$offset + <$ty as $crate::wire::Wire>::WIDTH]
                ), )* }
            }

            /// Encodes the record.
            #[must_use]
            #[inline]
            #[allow(
                clippy::indexing_slicing, clippy::arithmetic_side_effects,
                reason = "constant ranges, checked at compile time below"
            )]
            pub fn encode(&self) -> [u8; $len] {
                let mut bytes = [0; $len];
                $( $crate::wire::Wire::put(
                    self.$field,
                    &mut bytes[$offset..$offset + <$ty as $crate::wire::Wire>::WIDTH],
                ); )*
                bytes
            }
        }

        #[allow(clippy::arithmetic_side_effects, reason = "an overflow here does not compile")]
        const _: () = {
            let mut end = 0;
            $(
                assert!($offset == end, concat!("gap or overlap before `", stringify!($field), "`"));
                end += <$ty as $crate::wire::Wire>::WIDTH;
            )*
            assert!(end == $len, concat!("fields of `", stringify!($name), "` do not add up"));
        };
    };
}

#[cfg(test)]
#[allow(unreachable_pub, reason = "records are public wherever they are")]
mod tests {
    record! {
        /// A record for these tests.
        pub struct Pair[12] {
            /// First.
            0 head: u32,
            /// Second.
            4 rest: u64,
        }
    }

    #[test]
    fn any_bytes_go_both_ways() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
        let pair = Pair::decode(&bytes);
        assert_eq!(pair, Pair { head: 0x0403_0201, rest: 0x0c0b_0a09_0807_0605 });
        assert_eq!(pair.encode(), bytes);
        assert_eq!(Pair::LEN, 12);
    }

    #[test]
    fn fields_are_found_by_name_and_by_place() {
        assert_eq!(const { Pair::offset_of("rest") }, 4);
        let names = [0, 3, 4, 11, 12].map(|at| super::field_at(Pair::FIELDS, at).map(|f| f.name));
        assert_eq!(names, [Some("head"), Some("head"), Some("rest"), Some("rest"), None]);
    }
}
