//! Links that get other names, and links that are removed (sections IV.A.2.c, IV.A.2.g and III.C).

use std::collections::{BTreeMap, BTreeSet};

use super::{Hdf5Edit, NewMessage, NewMessages};
use crate::error::{Result, refused};
use crate::group;
use crate::header::{self, kind};
use crate::message::link::{self, Target};
use crate::rule;
use crate::walk::ObjectKind;
use crate::write::UNDEFINED;

/// The words that say that the place of the links of a group is known besides.
const IS_CACHED: u32 = 1;

impl Hdf5Edit {
    /// Gives links of the group at an address other names; those without one are removed.
    ///
    /// # Errors
    ///
    /// Returns an error when the group has no such link, two links would have one name, or the group cannot be read.
    pub fn rename_links(
        &mut self,
        group: u64,
        names: &BTreeMap<String, Option<String>>,
    ) -> Result<()> {
        let Links { links, was_table } = self.links_of(group)?;
        let (mut taken, mut left) = (BTreeSet::new(), names.len());
        let mut renamed = Vec::new();
        for (name, body) in links {
            let new = names.get(&name);
            left -= usize::from(new.is_some());
            let (name, body) = match new {
                None => (name, body),
                Some(None) => continue,
                Some(Some(new)) => {
                    let body = with_name(&body, new).ok_or_else(|| refused("a link is damaged"))?;
                    (new.clone(), body)
                }
            };
            if !taken.insert(name.clone()) {
                return Err(refused(format!(
                    "{name:?} is the name of another object of the group"
                )));
            }
            renamed.push(NewMessage { kind: kind::LINK, flags: 0, order: 0, body });
        }
        if left != 0 {
            return Err(refused("a group has no link of this name"));
        }
        let messages = self.messages(group)?;
        messages.put_links(renamed);
        if was_table {
            self.forget_table(group)?;
        }
        Ok(())
    }

    /// The links of a group.
    fn links_of(&mut self, group: u64) -> Result<Links> {
        let file = self.file.clone();
        let reader = file.reader();
        let messages = header::raw(reader, group)?.messages;
        let was_table = messages.iter().any(|it| it.kind == kind::SYMBOL_TABLE);
        let mut links: Vec<(String, Vec<u8>)> = Vec::new();
        if was_table {
            let mut fault = None;
            let found =
                group::links(reader, &messages, &mut |it| fault = fault.or(Some(it.fault)))?;
            if let Some(fault) = fault {
                return Err(fault.into());
            }
            for link in found {
                let body = message(&link.name, &link.target)
                    .ok_or_else(|| refused("a name of a group is no UTF-8"))?;
                links.push((link.name, body));
            }
            return Ok(Links { links, was_table });
        }
        let mut take = |body: &crate::reader::Piece| -> Result<()> {
            let name = link::read(&mut body.fields().with_rule(&rule::GROUP_CUT))?.name;
            links.push((name, body.bytes.clone()));
            Ok(())
        };
        for message in &messages {
            match message.kind {
                kind::LINK => take(&message.body)?,
                kind::LINK_INFO => group::dense_links(reader, message, &mut take)?,
                _ => {}
            }
        }
        Ok(Links { links, was_table })
    }

    /// Takes back what links to a group tell of its table of symbols, which it has no more.
    fn forget_table(&mut self, group: u64) -> Result<()> {
        let superblock = *self.file.superblock();
        if superblock.root == group
            && let Some(at) = superblock.root_cache()
        {
            self.image.put(at, [0; 4]);
        }
        let file = self.file.clone();
        let (objects, _) = file.objects()?;
        for object in objects.iter().filter(|it| it.kind == ObjectKind::Group) {
            let messages = header::raw(file.reader(), object.address)?.messages;
            if !messages.iter().any(|it| it.kind == kind::SYMBOL_TABLE) {
                continue;
            }
            for link in group::links(file.reader(), &messages, &mut |_| {})? {
                // Behind the name and the address of the object.
                let at = link.at.saturating_add(16);
                let mut cached = [0; 4];
                if link.target == Target::Object(group) {
                    file.source().read_exact_at(at, &mut cached)?;
                }
                if u32::from_le_bytes(cached) == IS_CACHED {
                    self.image.put(at, [0; 4]);
                }
            }
        }
        Ok(())
    }
}

/// The links of a group: their names and messages.
struct Links {
    links: Vec<(String, Vec<u8>)>,
    /// Whether they are in a table of symbols.
    was_table: bool,
}

impl NewMessages {
    /// Replaces all links.
    fn put_links(&mut self, links: Vec<NewMessage>) {
        self.list.retain(|it| ![kind::LINK, kind::SYMBOL_TABLE].contains(&it.kind));
        for info in self.list.iter_mut().filter(|it| it.kind == kind::LINK_INFO) {
            let flags = info.body.get(1).copied().unwrap_or(0);
            info.body.truncate(if flags & 1 == 0 { 2 } else { 10 });
            let count = if flags & 2 == 0 { 2 } else { 3 };
            info.body.extend([UNDEFINED; 3].iter().take(count).flat_map(|it| it.to_le_bytes()));
        }
        if !self.list.iter().any(|it| it.kind == kind::LINK_INFO) {
            let none = [UNDEFINED; 2].iter().flat_map(|it| it.to_le_bytes());
            self.push(kind::LINK_INFO, [0, 0].into_iter().chain(none).collect());
        }
        if !self.list.iter().any(|it| it.kind == kind::GROUP_INFO) {
            self.push(kind::GROUP_INFO, vec![0, 0]);
        }
        self.list.extend(links);
    }
}

/// The message of a link; `None` for one whose name or target is not known, or not as it is stored.
fn message(name: &str, target: &Target) -> Option<Vec<u8>> {
    // The type and the set of characters are there, and the length has two bytes.
    let head = |kind: u8| vec![1, 0x08 | 0x10 | 0x01, kind, u8::from(!name.is_ascii())];
    let len = u16::try_from(name.len()).ok()?;
    let with_name = |kind| [&head(kind)[..], &len.to_le_bytes(), name.as_bytes()].concat();
    if name.contains(char::REPLACEMENT_CHARACTER) {
        return None;
    }
    match target {
        Target::Object(address) => Some([&with_name(0)[..], &address.to_le_bytes()].concat()),
        Target::Path(path) if !path.contains(char::REPLACEMENT_CHARACTER) => {
            let len = u16::try_from(path.len()).ok()?.to_le_bytes();
            Some([&with_name(1)[..], &len, path.as_bytes()].concat())
        }
        Target::Path(_) | Target::Elsewhere => None,
    }
}

/// The message of a link with another name.
fn with_name(body: &[u8], name: &str) -> Option<Vec<u8>> {
    let flags = *body.get(1)?;
    let kind_len = usize::from(flags & 8 != 0);
    let order_len = if flags & 4 == 0 { 0 } else { 8 };
    let charset_len = usize::from(flags & 16 != 0);
    let len_at = 2 + kind_len + order_len + charset_len;
    let width = 1 << (flags & 3);
    let mut len = [0; 8];
    let stored = body.get(len_at..len_at + width)?;
    len.get_mut(..width)?.copy_from_slice(stored);
    let rest_at = usize::try_from(u64::from_le_bytes(len)).ok()?.checked_add(len_at + width)?;
    let rest = body.get(rest_at..)?;
    // The set of characters is there, and the length has two bytes.
    let mut new = vec![1, (flags & !3) | 0x10 | 0x01];
    new.extend(body.get(2..2 + kind_len + order_len)?);
    new.push(u8::from(!name.is_ascii()));
    new.extend(u16::try_from(name.len()).ok()?.to_le_bytes());
    new.extend(name.as_bytes());
    new.extend(rest);
    Some(new)
}
