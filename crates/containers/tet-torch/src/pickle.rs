//! A pickle as data: its opcodes build values, and nothing is imported, called or executed.
//!
//! ```text
//!   opcodes -> stack and memo -> values: numbers, texts, lists, maps, tensors, and objects of other
//!                                classes with their arguments and states
//! ```
//!
//! The opcodes are those of protocols 0 to 5, as `pickletools` of Python describes them. Time and memory follow
//! from the length of the pickle, which has no loops: every opcode makes one value at most.

mod calls;
mod cursor;
mod lines;
mod machine;
pub(crate) mod value;

pub(super) use self::machine::read;
pub(super) use self::value::{Id, Object, Pickle, Rebuilt, Storage, Value, View};
