//! The filter: tests that elements must pass, all of them.

use tet_query::Filter;

use super::super::keys;
use super::{Cursor, Result};

/// Reads the value of `filter`.
pub(super) fn read(at: &Cursor<'_>) -> Result<Filter> {
    let mut filter = Filter::default();
    for member in at.members("a filter", keys::FILTER)? {
        let value = &member.value;
        match keys::COMPARE.iter().find(|(key, _)| *key == member.key) {
            Some((_, compare)) => {
                let number = value.number()?;
                if number.to_f64().is_nan() {
                    let hint = "write \"is_null\": true or \"is_not_null\": true";
                    return Err(value.wrong("nothing compares with NaN").advise(hint));
                }
                filter.tests.push((*compare, number));
            }
            None => {
                if !value.boolean()? {
                    let hint = "leave the key out, or write the other of the two";
                    return Err(value.wanted("`true`").advise(hint));
                }
                let is_null = member.key == "is_null";
                *(if is_null { &mut filter.is_null } else { &mut filter.is_not_null }) = true;
                if filter.is_null && filter.is_not_null {
                    let message = "no element is both null and not null";
                    return Err(member.wrong(message));
                }
            }
        }
    }
    if filter == Filter::default() {
        return Err(at.wrong("at least one test is wanted").with_allowed(keys::FILTER));
    }
    Ok(filter)
}
