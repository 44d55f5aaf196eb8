//! Where an array result goes: a word, an object, or the path of `spill`.

use super::super::keys;
use super::super::query::{Write, WriteBase, WriteTarget};
use super::super::tree::Value;
use super::{Cursor, Result};

/// Reads the value of `write`.
pub(super) fn write(at: &Cursor<'_>) -> Result<Write> {
    let mut write = Write::default();
    let mut target = None;
    let (mut path, mut timestamp) = (None, None);
    match &at.node.value {
        Value::Text(_) => target = Some(at.word(keys::TARGET)?),
        Value::Table(_) => {
            for member in at.members("where the result goes", keys::WRITE)? {
                match member.key {
                    "target" => target = Some(member.value.word(keys::TARGET)?),
                    "path" => path = Some((file(&member.value)?, member)),
                    _ => timestamp = Some((member.value.boolean()?, member)),
                }
            }
        }
        _ => return Err(at.wanted("a target, or an object with \"target\" and \"path\",")),
    }
    let given = target.is_some();
    (write.target, write.base) = target.unwrap_or_default();
    if let Some((timestamp, member)) = timestamp {
        if timestamp && (write.target != WriteTarget::Tet || path.is_some()) {
            let message = "\"timestamp\" needs a name chosen by tet, which only .tet files get";
            return Err(member
                .wrong(message)
                .advise("write \"target\": \"sidecar\" without a path"));
        }
        write.timestamp = timestamp;
    }
    if let Some((path, member)) = path {
        if write.target == WriteTarget::Memory {
            let message =
                if given { "\"ram\" writes no file" } else { "the format of the file is missing" };
            let hint = "write \"target\": \"npy\", \"raw\" or \"tet\"";
            return Err(member.wrong(message).advise(hint));
        }
        write.path = Some(path);
    } else if write.base == WriteBase::Working && write.target != WriteTarget::Memory {
        let name = write.target.name();
        let hint = format!("write {{\"target\": {name:?}, \"path\": \"result.{name}\"}}");
        return Err(at.missing("path").advise(hint));
    }
    Ok(write)
}

/// Reads the value of `spill`, which is a path relative to the file that is queried.
pub(super) fn spill(at: &Cursor<'_>) -> Result<Write> {
    let path = Some(file(at)?);
    Ok(Write { target: WriteTarget::Raw, path, base: WriteBase::File, timestamp: false })
}

fn file(at: &Cursor<'_>) -> Result<String> {
    let path = at.named("a path")?;
    if path.contains('\0') { Err(at.wrong("a path holds no zero byte")) } else { Ok(path) }
}
