//! Prints every value of an array, one block in memory at a time.

use tet_query::{Execution, LazyArray};

use super::Answer;
use super::array::masked_in;
use crate::args::QueryFormat;
use crate::context::Context;
use crate::exit::Result;
use crate::render::number::Number;

/// The length of a block in bytes.
const BLOCK_LEN: u64 = 1 << 20;

impl Answer {
    /// Prints all values of the array: on one line, or in a table with one line for each value.
    ///
    /// # Errors
    ///
    /// The values cannot be read, or writing to standard output fails.
    pub(crate) fn print_all(
        mut self,
        lazy: &LazyArray,
        how: &Execution,
        format: QueryFormat,
        context: &mut Context<'_>,
    ) -> Result<Answer> {
        let is_table = format == QueryFormat::Table;
        if is_table {
            self.write_head(context)?;
        } else {
            write!(context.out(), "{}", self.quiet_name())?;
        }
        let masked = masked_in(lazy);
        let mut at = 0;
        let len_max = how.memory_budget.max(BLOCK_LEN);
        for block in lazy.blocks(BLOCK_LEN, len_max).into_iter().flatten() {
            context.check_cancelled()?;
            let array = lazy.read(&block, how)?;
            for nth in 0..array.len() {
                let number = Number::element(&array, nth, masked);
                if is_table {
                    self.write_table_row(at, number, context)?;
                } else {
                    let space = if at == 0 { "" } else { " " };
                    write!(context.out(), "{space}{}", number.exact())?;
                }
                at += 1;
            }
        }
        if !is_table {
            context.line("")?;
        }
        self.extras.is_printed = true;
        Ok(self)
    }
}
