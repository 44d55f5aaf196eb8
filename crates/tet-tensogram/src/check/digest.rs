//! Compares bytes with their hashes: the body of every frame whose slot holds a hash, and tensors
//! whose hash is only in a hash list.

use std::collections::BTreeSet;

use tet_codec::{Digester, Strength};
use tet_format::{ForeignRule, Span};
use tet_io::{Progress, Source};
use tet_report::Pool;

use super::message::Hashes;
use super::{Collector, VerifyOptions, finding};
use crate::error::{Error, Fault, Result, Sink};
use crate::message::Message;
use crate::rule;

/// The most tasks that are run together.
const TASK_COUNT_MAX: usize = 4096;

/// Bytes that should have a hash.
#[derive(Clone, Copy, Debug)]
struct HashCheck {
    message: usize,
    object: Option<usize>,
    body: Span,
    wanted: u64,
    /// Where the hash is stored.
    at: u64,
    rule: &'static ForeignRule,
}

#[derive(Debug, Default)]
pub(super) struct Tasks(Vec<HashCheck>);

impl Tasks {
    /// Adds the frames and the hash lists of a message.
    pub(super) fn take(&mut self, number: usize, message: &Message, all: &Hashes, sink: Sink<'_>) {
        let mut object = None;
        let mut objects = message.objects().iter().enumerate().peekable();
        for (position, frame) in message.frames().iter().enumerate() {
            let is_object = objects.next_if(|(_, object)| object.frame == position);
            if let Some((number, _)) = is_object {
                object = Some(number);
            }
            let object = object.filter(|_| is_object.is_some());
            if let Some(wanted) = message.hash(frame) {
                let (body, at, rule) = (frame.body(), frame.hash_at(), &rule::HASH);
                self.0.push(HashCheck { message: number, object, body, wanted, at, rule });
            }
        }
        for (list, at) in &all.lists {
            for (object, wanted) in list.hashes().iter().enumerate() {
                let Some(frame) = message.object_frame(object) else { break };
                let (wanted, at, rule) = (*wanted, *at, &rule::HASH_LISTED);
                match message.hash(frame) {
                    Some(found) if found != wanted => {
                        sink(Fault { rule, at, found: wanted, wanted: found }, Some(object));
                    }
                    Some(_) => {}
                    None => {
                        let (body, object) = (frame.body(), Some(object));
                        self.0.push(HashCheck { message: number, object, body, wanted, at, rule });
                    }
                }
            }
        }
    }

    pub(super) fn is_full(&self) -> bool {
        TASK_COUNT_MAX <= self.0.len()
    }

    /// Runs all comparisons. Returns the number of bytes compared, and the damaged objects by
    /// message.
    pub(super) fn run(
        &mut self,
        source: &Source,
        options: &VerifyOptions,
        spoiled: &mut BTreeSet<(usize, usize)>,
        progress: &Progress,
        out: &mut Collector,
    ) -> Result<u64> {
        let tasks = std::mem::take(&mut self.0);
        let all = tasks.iter().fold(0_u64, |sum, task| sum.saturating_add(task.body.len()));
        let pool = Pool::new(options.threads, tasks.len(), all);
        let found =
            pool.map(&tasks, Vec::new, |window, task| compare(source, task, window, progress))?;
        for (task, found) in tasks.iter().zip(found) {
            if let Some(fault) = found {
                spoiled.extend(task.object.map(|object| (task.message, object)));
                out.push(finding(fault, Some(task.message), task.object, task.body.len()));
            }
        }
        Ok(all)
    }
}

fn compare(
    source: &Source,
    task: &HashCheck,
    window: &mut Vec<u8>,
    progress: &Progress,
) -> Result<Option<Fault>> {
    let mut digester = Digester::new(Strength::Fast);
    progress.pieces::<Error>(source, task.body, window, |_, bytes| {
        digester.update(bytes);
        true
    })?;
    let (found, HashCheck { wanted, at, rule, .. }) = (digester.finish().xxh3, *task);
    Ok((found != wanted).then_some(Fault { rule, at, found, wanted }))
}
