//! All datasets as one `.npz`: a zip archive of `.npy` members.

use std::collections::BTreeMap;
use std::path::Path;

use tet_io::vfs::VfsFile;
use tet_query::{Catalog, Dataset, LazyArray};
use zip::CompressionMethod;

use tet_container::model::notes;
use tet_container::write::archive;
use tet_container::write::array::{self, Encoding, Written};
use tet_container::write::file::{self, Compression, ExportOptions};
use tet_container::write::stream;
use tet_container::{Error, Note, Result};

/// Writes `datasets` to the archive `path`.
///
/// A member is named after its dataset; a name that would be unsafe as a path is escaped, and a
/// note says so. The bytes depend on the datasets alone: members have no time of writing.
///
/// # Errors
/// A dataset cannot be read, two would become one member, or the file cannot be published.
pub fn write_npz_file(
    catalog: &Catalog,
    datasets: &[&Dataset],
    path: &Path,
    options: &ExportOptions,
) -> Result<Written> {
    let mut notes = Vec::new();
    let members = members(datasets, &mut notes)?;
    let arrays = datasets.iter().map(|it| stream::whole(it)).collect::<Result<Vec<_>>>()?;
    let ((), bytes) = file::publish_seekable(catalog, path, options, |out| {
        write(&arrays, &members, out, options, &mut notes)
    })?;
    notes.extend(notes::unchecked(&arrays));
    Ok(Written { bytes, notes })
}

fn write(
    arrays: &[LazyArray],
    members: &[String],
    out: &mut dyn VfsFile,
    options: &ExportOptions,
    notes: &mut Vec<Note>,
) -> Result<()> {
    let execution = options.execution.begin(stream::total_len(arrays));
    let method = match options.compression {
        Compression::Stored => CompressionMethod::Stored,
        Compression::Deflated => CompressionMethod::Deflated,
    };
    archive::write(out, |zip| {
        for (lazy, member) in arrays.iter().zip(members) {
            let how = archive::member(method, stream::len_of(lazy));
            zip.start_file(format!("{member}.npy"), how).map_err(archive::fault)?;
            notes.extend(array::write_elements(lazy, Encoding::Npy, &execution, zip)?);
        }
        Ok(())
    })
}

/// One safe and different name per dataset, without its `.npy`.
fn members(datasets: &[&Dataset], notes: &mut Vec<Note>) -> Result<Vec<String>> {
    let mut taken = BTreeMap::new();
    let mut members = Vec::new();
    for dataset in datasets {
        let member = safe(&dataset.name);
        if let Some(first) = taken.insert(member.clone(), &dataset.name) {
            let (first, second) = (first.clone(), dataset.name.clone());
            return Err(Error::Collision { first, second, member });
        }
        if member != dataset.name {
            notes.push(Note::Renamed { from: dataset.name.clone(), to: member.clone() });
        }
        members.push(member);
    }
    Ok(members)
}

/// `name` as a relative path that stays below where it is unpacked, on any system.
pub(super) fn safe(name: &str) -> String {
    let mut safe = String::new();
    for (at, part) in name.split('/').enumerate() {
        if at > 0 {
            safe.push('/');
        }
        let is_special = matches!(part, "" | "." | "..");
        for c in part.chars() {
            // `Debug` leaves alone what is visible; the rest has no place in a file's name.
            let is_visible = c == ' ' || c.escape_debug().len() == 1;
            if is_special || !is_visible || matches!(c, '\\' | ':' | '%' | '"' | '\'') {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    safe.push_str(&format!("%{byte:02X}"));
                }
            } else {
                safe.push(c);
            }
        }
        if part.is_empty() {
            safe.push('%');
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn member_names_stay_below_their_folder() {
        for (name, wanted) in [
            ("temp", "temp"),
            ("group/temp", "group/temp"),
            ("my temp (K)", "my temp (K)"),
            ("t\u{e9}mp", "t\u{e9}mp"),
            ("..", "%2E%2E"),
            ("../../etc/passwd", "%2E%2E/%2E%2E/etc/passwd"),
            ("/etc/passwd", "%/etc/passwd"),
            ("a//b", "a/%/b"),
            ("", "%"),
            ("C:\\x", "C%3A%5Cx"),
            ("50%", "50%25"),
            ("a\0\u{1b}\n", "a%00%1B%0A"),
            ("\u{202e}", "%E2%80%AE"),
        ] {
            assert_eq!(safe(name), wanted, "{name:?}");
        }
    }
}
