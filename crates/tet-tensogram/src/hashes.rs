//! The hashes of all tensor frames in one list (section 3.4). Types 3 and 5.

use crate::error::{Fault, Sink};
use crate::item::Cbor;
use crate::limits::Limits;
use crate::rule;

/// The only algorithm: XXH3 of 64 bits, seed 0.
pub(crate) const ALGORITHM: &str = "xxh3";

/// A list of hashes as stored, correct or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HashList {
    algorithm: Option<String>,
    hashes: Vec<u64>,
}

impl HashList {
    /// Reads the CBOR of a hash frame that starts at `at` of the file.
    ///
    /// # Errors
    ///
    /// The bytes break a rule (TGM-M1 to TGM-M3, TGM-M14, TGM-L2, TGM-L3).
    pub(crate) fn read(bytes: &[u8], at: u64, limits: &Limits) -> Result<Self, Fault> {
        Self::read_with(bytes, at, limits, &mut |_, _| {})
    }

    pub(crate) fn read_with(
        bytes: &[u8],
        at: u64,
        limits: &Limits,
        sink: Sink<'_>,
    ) -> Result<Self, Fault> {
        let mut list = HashList::default();
        let (mut odd, mut is_there) = (None, false);
        let mut cbor = Cbor::new(bytes, at, limits, sink);
        cbor.whole(|cbor, key, key_at| match &*key {
            "algorithm" => {
                let algorithm = cbor.text(1, &rule::HASH_FIELDS)?.into_owned();
                if list.algorithm.replace(algorithm).is_some() {
                    cbor.note(&rule::KEY_TWICE, key_at, 2);
                }
                Ok(())
            }
            "hashes" => {
                list.hashes.clear();
                if std::mem::replace(&mut is_there, true) {
                    cbor.note(&rule::KEY_TWICE, key_at, 2);
                }
                cbor.array(1, &rule::HASH_FIELDS, |cbor| {
                    let at = cbor.place();
                    let text = cbor.text(2, &rule::HASH_FIELDS)?;
                    let hash = from_hex(&text);
                    if hash.is_none() && odd.is_none() {
                        odd = Some((at, text.len() as u64));
                    }
                    list.hashes.push(hash.unwrap_or_default());
                    Ok(())
                })
            }
            _ => cbor.skip(1),
        })?;
        // The spelling of hashes of another algorithm is unknown.
        match odd.filter(|_| list.is_known()) {
            Some((at, found)) => {
                Err(Fault { rule: &rule::HASH_FIELDS, at, found, wanted: HEX_LEN })
            }
            None => Ok(list),
        }
    }

    /// Whether the algorithm is known; a missing name means the known one.
    pub(crate) fn is_known(&self) -> bool {
        self.algorithm.as_deref().is_none_or(|algorithm| algorithm == ALGORITHM)
    }

    /// The hashes, object by object; meaningless if the algorithm is unknown.
    pub(crate) fn hashes(&self) -> &[u64] {
        &self.hashes
    }

    /// Appends the CBOR of a list.
    pub(crate) fn write(hashes: &[u64], out: &mut Vec<u8>) {
        tet_cbor::map_head(2, out);
        tet_cbor::text("hashes", out);
        tet_cbor::array_head(hashes.len() as u64, out);
        hashes.iter().for_each(|hash| tet_cbor::text(&format!("{hash:016x}"), out));
        tet_cbor::text("algorithm", out);
        tet_cbor::text(ALGORITHM, out);
    }
}

/// The digits of a hash.
const HEX_LEN: u64 = 16;

fn from_hex(text: &str) -> Option<u64> {
    let is_hex = text.len() == 16 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u64::from_str_radix(text, 16).ok()).flatten()
}
