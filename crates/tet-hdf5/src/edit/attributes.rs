//! Attributes that are set and removed (sections IV.A.2.m and IV.A.2.v).

use std::collections::BTreeSet;

use super::{Hdf5Edit, NewMessage, NewMessages};
use crate::error::{Result, refused};
use crate::header::{self, kind};
use crate::message::attribute;
use crate::write::attribute::message;
use crate::write::{DraftAttribute, UNDEFINED};

/// The attribute with the scales of each axis, and the bytes of a list of them.
const SCALES: &str = "DIMENSION_LIST";
const LIST_LEN: usize = 16;

impl Hdf5Edit {
    /// Sets an attribute of the object at an address, in the place of one of the same name.
    ///
    /// # Errors
    ///
    /// Returns an error when the value does not fit, or the object cannot be read.
    pub fn set_attribute(&mut self, address: u64, attribute: &DraftAttribute) -> Result<()> {
        let unfit = || refused(format!("{:?} is longer than a header holds", attribute.name));
        if !attribute.fits() {
            return Err(unfit());
        }
        let body = message(attribute, &mut self.heaps).ok_or_else(unfit)?;
        let messages = self.with_attributes(address)?;
        match messages.list.iter_mut().find(|it| it.is_attribute(&attribute.name)) {
            Some(old) => (old.body, old.flags) = (body, 0),
            None => {
                let order = messages.next_order()?;
                messages.list.push(NewMessage { kind: kind::ATTRIBUTE, flags: 0, order, body });
            }
        }
        Ok(())
    }

    /// Removes an attribute of the object at an address.
    ///
    /// # Errors
    ///
    /// Returns an error when the object cannot be read.
    pub fn remove_attribute(&mut self, address: u64, name: &str) -> Result<()> {
        self.with_attributes(address)?.list.retain(|it| !it.is_attribute(name));
        Ok(())
    }

    /// Takes the dimension scales off some axes of the dataset at an address.
    ///
    /// # Errors
    ///
    /// Returns an error when the object cannot be read.
    pub fn detach_scales(&mut self, address: u64, axes: &BTreeSet<usize>) -> Result<()> {
        let messages = self.with_attributes(address)?;
        let list = messages.list.iter_mut().find(|it| it.is_attribute(SCALES));
        let Some(NewMessage { body, .. }) = list else { return Ok(()) };
        let lists = attribute::elements_at(body).and_then(|start| body.get_mut(start..));
        let lists = lists.ok_or_else(|| refused("the scales of an axis are damaged"))?;
        let (lists, _) = lists.as_chunks_mut::<LIST_LEN>();
        for (_, list) in lists.iter_mut().enumerate().filter(|(axis, _)| axes.contains(axis)) {
            *list = [0; LIST_LEN];
        }
        if lists.iter().all(|list| *list == [0; LIST_LEN]) {
            messages.list.retain(|it| !it.is_attribute(SCALES));
        }
        Ok(())
    }

    /// The messages of an object, among them all of its attributes.
    fn with_attributes(&mut self, address: u64) -> Result<&mut NewMessages> {
        if self.headers.contains_key(&address) && !self.has_dense_attributes(address) {
            return self.messages(address);
        }
        let file = self.file.clone();
        let mut dense = Vec::new();
        for message in header::raw(file.reader(), address)?.messages {
            if message.kind == kind::ATTRIBUTE_INFO {
                file.dense_attributes(&message, &mut |order, body| {
                    let (order, body) = (order.unwrap_or(0), body.bytes.clone());
                    dense.push(NewMessage { kind: kind::ATTRIBUTE, flags: 0, order, body });
                    Ok(())
                })?;
            }
        }
        let messages = self.messages(address)?;
        for message in &mut messages.list {
            if message.kind == kind::ATTRIBUTE && message.flags & 2 != 0 {
                let what = "its attributes are stored together with those of other objects";
                return Err(refused(what));
            }
            if message.kind == kind::ATTRIBUTE_INFO {
                let start = message.addresses_at();
                message.body.truncate(start);
                let count = if message.body.get(1).is_some_and(|it| it & 2 != 0) { 3 } else { 2 };
                message
                    .body
                    .extend([UNDEFINED; 3].iter().take(count).flat_map(|it| it.to_le_bytes()));
            }
        }
        dense.sort_by_key(|it| it.order);
        messages.list.extend(dense);
        messages.add_info();
        Ok(messages)
    }

    /// Whether attributes of an object are still in a heap.
    fn has_dense_attributes(&self, address: u64) -> bool {
        let list = self.headers.get(&address).map(|it| &it.list);
        list.into_iter().flatten().any(|it| {
            let heap = it.body.get(it.addresses_at()..).and_then(|rest| rest.first_chunk());
            it.kind == kind::ATTRIBUTE_INFO
                && heap.is_some_and(|it| u64::from_le_bytes(*it) != UNDEFINED)
        })
    }
}

impl NewMessage {
    fn is_attribute(&self, name: &str) -> bool {
        self.kind == kind::ATTRIBUTE && attribute::name(&self.body).as_deref() == Some(name)
    }

    /// Where a message on attributes names the heap: behind version, flags, and the highest number if that is kept.
    fn addresses_at(&self) -> usize {
        if self.body.get(1).is_some_and(|flags| flags & 1 != 0) { 4 } else { 2 }
    }
}

impl NewMessages {
    /// Adds the message without which headers of version 2 have no attributes.
    fn add_info(&mut self) {
        let Some(flags) = self.first.flags else { return };
        if self.list.iter().any(|it| it.kind == kind::ATTRIBUTE_INFO) {
            return;
        }
        let (is_tracked, is_indexed) = (flags & 4 != 0, flags & 8 != 0);
        let mut info = vec![0, u8::from(is_tracked) | (u8::from(is_indexed) << 1)];
        if is_tracked {
            info.extend([0, 0]);
        }
        let count = if is_indexed { 3 } else { 2 };
        info.extend([UNDEFINED; 3].iter().take(count).flat_map(|it| it.to_le_bytes()));
        self.push(kind::ATTRIBUTE_INFO, info);
    }

    /// The number of the next attribute, where the order is kept.
    fn next_order(&mut self) -> Result<u16> {
        let orders = self.list.iter().filter(|it| it.kind == kind::ATTRIBUTE).map(|it| it.order);
        let behind = orders.max().map_or(0, |order| order.saturating_add(1));
        if !self.has_order() {
            return Ok(0);
        }
        let mut order = behind;
        for info in self.list.iter_mut().filter(|it| it.kind == kind::ATTRIBUTE_INFO) {
            if let Some([_, flags, low, high, ..]) = info.body.get_mut(..)
                && *flags & 1 != 0
            {
                order = order.max(u16::from_le_bytes([*low, *high]));
                let what = "an object had too many attributes";
                let next = order.checked_add(1).ok_or_else(|| refused(what))?;
                [*low, *high] = next.to_le_bytes();
            }
        }
        Ok(order)
    }
}
