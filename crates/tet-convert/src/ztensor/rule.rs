//! The rules of zTensor in the shape that all containers share.

use std::sync::LazyLock;

use tet_format::{Digits, ForeignFault, ForeignRule, Reach};
use tet_ztensor::{Fault, Region, Rule};

static RULES: LazyLock<Vec<ForeignRule>> =
    LazyLock::new(|| Rule::ALL.iter().map(|&rule| shared(rule)).collect());

/// Every rule, in the order of the document.
pub(crate) fn all() -> Vec<&'static ForeignRule> {
    RULES.iter().collect()
}

/// A rule as all containers tell theirs.
pub(crate) fn of(rule: Rule) -> &'static ForeignRule {
    RULES.iter().find(|shared| shared.id == rule.id()).unwrap_or(&RULES[0])
}

/// A broken rule as all containers tell theirs.
pub(super) fn fault(fault: Fault) -> ForeignFault {
    let Fault { rule, at, found, wanted } = fault;
    ForeignFault { rule: of(rule), at, found, wanted }
}

fn shared(rule: Rule) -> ForeignRule {
    let digits = match rule {
        Rule::Magic | Rule::OtherVersion | Rule::BlobChecksum => Digits::Hexadecimal,
        rule if rule.is_bare() => Digits::Hidden,
        _ => Digits::Decimal,
    };
    // What lies in blobs and between them is looked at when elements are.
    let is_of_place = matches!(
        rule,
        Rule::BlobAligned | Rule::BlobBounds | Rule::BlobLen | Rule::Overlap | Rule::BlobShared
    );
    let is_inside = matches!(rule.region(), Region::Blob | Region::Gap) && !is_of_place;
    ForeignRule {
        id: rule.id(),
        region: rule.region().name(),
        text: rule.text(),
        hint: rule.hint(),
        severity: rule.severity(),
        reach: if is_inside { Reach::Elements } else { Reach::Structure },
        digits,
    }
}
