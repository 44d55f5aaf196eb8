//! Bytes against their hashes: the body of every frame whose slot holds one, and of tensors that only
//! a list has a hash of.

use std::collections::BTreeSet;

use tet_codec::{Digester, Strength};
use tet_format::{ForeignRule, Span};
use tet_io::{Progress, Source};
use tet_report::Pool;

use super::message::Said;
use super::{Collector, VerifyOptions, finding};
use crate::error::{Error, Fault, Result, Sink};
use crate::message::Message;
use crate::rule;

/// How much is looked at together.
const TASK_COUNT_MAX: usize = 4096;

/// Bytes that should have a hash.
#[derive(Clone, Copy, Debug)]
struct Task {
    message: usize,
    object: Option<usize>,
    body: Span,
    wanted: u64,
    /// Where that is said.
    at: u64,
    rule: &'static ForeignRule,
}

/// What is to be compared.
#[derive(Debug, Default)]
pub(super) struct Tasks(Vec<Task>);

impl Tasks {
    /// Takes in a message: its frames, and its lists of hashes.
    pub(super) fn take(&mut self, number: usize, message: &Message, said: &Said, sink: Sink<'_>) {
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
                self.0.push(Task { message: number, object, body, wanted, at, rule });
            }
        }
        for (list, at) in &said.lists {
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
                        self.0.push(Task { message: number, object, body, wanted, at, rule });
                    }
                }
            }
        }
    }

    pub(super) fn is_full(&self) -> bool {
        TASK_COUNT_MAX <= self.0.len()
    }

    /// Compares all that was taken in; says how many bytes that came to, and which objects of which
    /// messages are spoiled.
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
                out.push(finding(fault, (Some(task.message), task.object), task.body.len()));
            }
        }
        Ok(all)
    }
}

fn compare(
    source: &Source,
    task: &Task,
    window: &mut Vec<u8>,
    progress: &Progress,
) -> Result<Option<Fault>> {
    let mut digester = Digester::new(Strength::Fast);
    progress.pieces::<Error>(source, task.body, window, |_, bytes| {
        digester.update(bytes);
        true
    })?;
    let (found, Task { wanted, at, rule, .. }) = (digester.finish().xxh3, *task);
    Ok((found != wanted).then_some(Fault { rule, at, found, wanted }))
}
