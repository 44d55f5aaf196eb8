//! FITS files that tests put together.

/// A header of cards `KEY=value`, padded to a block.
pub(crate) fn header(cards: &[&str]) -> Vec<u8> {
    let mut out = String::new();
    for card in cards.iter().chain(&["END"]) {
        let card = match card.split_once('=') {
            Some((key, value)) => format!("{key:8}= {value}"),
            None => (*card).to_owned(),
        };
        out.push_str(&format!("{card:80}"));
    }
    let mut out = out.into_bytes();
    out.resize(out.len().next_multiple_of(2880), b' ');
    out
}

pub(crate) const PRIMARY: [&str; 5] = ["SIMPLE=T", "BITPIX=16", "NAXIS=2", "NAXIS1=3", "NAXIS2=2"];

/// A unit of these cards and data.
pub(crate) fn unit(cards: &[&str], data: &[u8]) -> Vec<u8> {
    let mut out = header(cards);
    out.extend(data);
    out.resize(out.len().next_multiple_of(2880), 0);
    out
}

/// The cards with one in the place of another that has its keyword.
pub(crate) fn with(cards: &[&'static str], card: &'static str) -> Vec<&'static str> {
    let key = card.split('=').next().unwrap_or_default();
    let is_there = cards.iter().any(|it| it.split('=').next() == Some(key));
    let put = cards.iter().map(|it| if it.split('=').next() == Some(key) { card } else { *it });
    put.chain((!is_there).then_some(card)).collect()
}
