//! The machine of a pickle: a stack, a memo, and one opcode after the other.

use std::collections::HashMap;
use std::ops::Range;

use super::super::rule;
use super::calls;
use super::cursor::{Cursor, Parsed, broken};
use super::lines::{self, Line};
use super::value::{Bytes, Id, Pickle, VALUE_COUNT_MAX, Value};

/// Reads the pickle that begins at `begin`, and the offset of what follows it.
///
/// # Errors
/// Returns the rule that it breaks, with an offset in `bytes`.
pub(crate) fn read(bytes: Vec<u8>, begin: usize) -> Parsed<(Pickle, usize)> {
    let (values, states, stack, marks, memo) = Default::default();
    let cursor = Cursor { at: begin, end: bytes.len() };
    let pickle = Pickle { bytes, values, states, copied: 0, root: 0 };
    let mut machine = Machine { pickle, stack, marks, memo, cursor, at: begin };
    while machine.step()? {}
    machine.pickle.root = machine.pop()?;
    Ok((machine.pickle, machine.cursor.at))
}

struct Machine {
    pickle: Pickle,
    stack: Vec<Id>,
    /// Lengths of the stack where marks are.
    marks: Vec<usize>,
    memo: HashMap<u64, Id>,
    cursor: Cursor,
    /// The offset of the opcode.
    at: usize,
}

impl Machine {
    /// One opcode; `false` is the last one.
    fn step(&mut self) -> Parsed<bool> {
        self.at = self.cursor.at;
        let opcode = self.number(1)?;
        let opcode = u8::try_from(opcode).unwrap_or_default();
        match opcode {
            b'.' => return Ok(false),
            0x80 => self.protocol()?,
            0x95 => drop(self.number(8)?),
            b'(' => self.mark()?,
            b'0' => drop(self.pop()?),
            b'1' => drop(self.pop_mark()?),
            b'2' => {
                let top = self.top()?;
                self.push_id(top)?;
            }
            b'N' | 0x88 | 0x89 | b'J' | b'K' | b'M' | 0x8a | 0x8b | b'G' => self.scalar(opcode)?,
            b'X' | 0x8c | 0x8d | b'T' | b'U' | b'B' | b'C' | 0x8e | 0x96 => self.bytes(opcode)?,
            b']' | b'a' | b'e' | b'l' | b')' | b't' | 0x85..=0x87 => self.sequence(opcode)?,
            b'}' | b's' | b'u' | b'd' | 0x8f..=0x91 => self.map(opcode)?,
            b'I' | b'L' | b'F' | b'S' | b'V' => self.line(opcode)?,
            b'q' | b'r' | 0x94 | b'h' | b'j' | b'p' | b'g' => self.memory(opcode)?,
            b'c' | 0x93 | b'R' | b'b' | 0x81 | 0x92 | b'o' | b'i' | b'Q' | b'P' => {
                self.object(opcode)?;
            }
            other => return Err(broken(&rule::OPCODE, self.at, other.into(), 0)),
        }
        Ok(true)
    }

    fn protocol(&mut self) -> Parsed<()> {
        let version = self.number(1)?;
        if version <= 5 {
            return Ok(());
        }
        let found = usize::try_from(version).unwrap_or(usize::MAX);
        Err(broken(&rule::PROTOCOL, self.at, found, 5))
    }

    fn scalar(&mut self, opcode: u8) -> Parsed<()> {
        let value = match opcode {
            b'N' => Value::None,
            0x88 | 0x89 => Value::Bool(opcode == 0x88),
            b'J' => {
                let bits = u32::try_from(self.number(4)?).unwrap_or_default();
                Value::Integer(bits.cast_signed().into())
            }
            b'K' => Value::Integer(i64::try_from(self.number(1)?).unwrap_or_default()),
            b'M' => Value::Integer(i64::try_from(self.number(2)?).unwrap_or_default()),
            b'G' => Value::Float(self.cursor.float(&self.pickle.bytes)?),
            opcode => {
                let range = self.counted(if opcode == 0x8a { 1 } else { 4 })?;
                integer(self.pickle.bytes.get(range).unwrap_or_default())
            }
        };
        self.push(value)
    }

    /// A number or text of the protocols 0 and 1, which is a line.
    fn line(&mut self, opcode: u8) -> Parsed<()> {
        let range = self.cursor.line(&self.pickle.bytes)?;
        let value = match opcode {
            b'S' | b'V' => match lines::text(&self.pickle.bytes, range, opcode == b'S') {
                Some(Line::Inside(range)) => Some(Value::Text(range)),
                Some(Line::Decoded(text)) => {
                    let begin = self.pickle.bytes.len();
                    self.pickle.bytes.extend_from_slice(text.as_bytes());
                    Some(Value::Text(begin..self.pickle.bytes.len()))
                }
                None => None,
            },
            opcode => lines::number(&self.pickle.text(&range), opcode),
        };
        self.push(value.ok_or_else(|| broken(&rule::LINE, self.at, 0, 0))?)
    }

    fn bytes(&mut self, opcode: u8) -> Parsed<()> {
        let len = match opcode {
            0x8c | b'U' | b'C' => 1,
            b'X' | b'T' | b'B' => 4,
            _ => 8,
        };
        let range = self.counted(len)?;
        let is_text = matches!(opcode, b'X' | 0x8c | 0x8d | b'T' | b'U');
        self.push(match is_text {
            true => Value::Text(range),
            false => Value::Bytes(Bytes { range, is_latin1: false }),
        })
    }

    fn sequence(&mut self, opcode: u8) -> Parsed<()> {
        let value = match opcode {
            b']' => Value::List(Vec::new()),
            b')' => Value::Tuple(Vec::new()),
            b'l' => Value::List(self.pop_mark()?),
            b't' => Value::Tuple(self.pop_mark()?),
            0x85..=0x87 => {
                let mut items = Vec::new();
                for _ in 0x84..opcode {
                    items.push(self.pop()?);
                }
                items.reverse();
                Value::Tuple(items)
            }
            opcode => {
                let more = if opcode == b'a' { vec![self.pop()?] } else { self.pop_mark()? };
                let list = self.top()?;
                match self.value_mut(list) {
                    Some(Value::List(items)) => items.extend(more),
                    Some(Value::Object(object)) => object.items.extend(more),
                    _ => {}
                }
                return Ok(());
            }
        };
        self.push(value)
    }

    fn map(&mut self, opcode: u8) -> Parsed<()> {
        match opcode {
            b'}' => self.push(Value::Map(Vec::new())),
            b'd' => {
                let items = self.pop_mark()?;
                self.push(Value::Map(pairs(&items)))
            }
            // A set is a list of its members.
            0x8f => self.push(Value::List(Vec::new())),
            0x91 => {
                let items = self.pop_mark()?;
                self.push(Value::List(items))
            }
            0x90 => self.sequence(b'e'),
            opcode => {
                let items = if opcode == b's' {
                    let value = self.pop()?;
                    vec![self.pop()?, value]
                } else {
                    self.pop_mark()?
                };
                let map = self.top()?;
                match self.value_mut(map) {
                    Some(Value::Map(entries)) => entries.extend(pairs(&items)),
                    Some(Value::Object(object)) => object.entries.extend(pairs(&items)),
                    _ => {}
                }
                Ok(())
            }
        }
    }

    fn memory(&mut self, opcode: u8) -> Parsed<()> {
        let key = match opcode {
            b'q' | b'h' => self.number(1)?,
            b'r' | b'j' => self.number(4)?,
            b'p' | b'g' => {
                let line = self.cursor.line(&self.pickle.bytes)?;
                let key = self.pickle.text(&line).trim().parse();
                key.map_err(|_| broken(&rule::LINE, self.at, 0, 0))?
            }
            _ => u64::try_from(self.memo.len()).unwrap_or(u64::MAX),
        };
        if matches!(opcode, b'h' | b'j' | b'g') {
            let id = self.memo.get(&key).copied();
            let key = usize::try_from(key).unwrap_or(usize::MAX);
            let id = id.ok_or_else(|| broken(&rule::MEMO, self.at, key, self.memo.len()))?;
            return self.push_id(id);
        }
        let top = self.top()?;
        if VALUE_COUNT_MAX <= self.memo.len() {
            return Err(broken(&rule::LIMIT_VALUES, self.at, VALUE_COUNT_MAX, VALUE_COUNT_MAX));
        }
        self.memo.insert(key, top);
        Ok(())
    }

    fn object(&mut self, opcode: u8) -> Parsed<()> {
        match opcode {
            b'c' => {
                let class = self.global()?;
                self.push(class)
            }
            b'i' => {
                let class = self.global()?;
                let class = self.pickle.push(class, self.at)?;
                let items = self.pop_mark()?;
                let arguments = self.pickle.push(Value::Tuple(items), self.at)?;
                self.call(class, arguments)
            }
            b'P' => {
                let line = self.cursor.line(&self.pickle.bytes)?;
                let storage = lines::storage(&self.pickle.bytes, line);
                let storage = storage.ok_or_else(|| broken(&rule::STORAGE, self.at, 0, 0))?;
                self.push(Value::Storage(Box::new(storage)))
            }
            0x93 => {
                let (name, module) = (self.pop()?, self.pop()?);
                let value = match (self.pickle.value(module), self.pickle.value(name)) {
                    (Value::Text(module), Value::Text(name)) => {
                        Value::Global { module: module.clone(), name: name.clone() }
                    }
                    _ => return Err(broken(&rule::STACK, self.at, 0, 0)),
                };
                self.push(value)
            }
            b'b' => {
                let (state, object) = (self.pop()?, self.top()?);
                if !matches!(self.pickle.value(state), Value::None) {
                    self.pickle.states.insert(object, state);
                }
                Ok(())
            }
            b'Q' => {
                let id = self.pop()?;
                let value = calls::storage(&self.pickle, self.at, id)?;
                self.push(value)
            }
            b'o' => {
                let mut items = self.pop_mark()?;
                if items.is_empty() {
                    return Err(broken(&rule::STACK, self.at, 0, 1));
                }
                let class = items.remove(0);
                let arguments = self.pickle.push(Value::Tuple(items), self.at)?;
                self.call(class, arguments)
            }
            0x92 => {
                let (named, arguments, class) = (self.pop()?, self.pop()?, self.pop()?);
                let has_named =
                    !matches!(self.pickle.value(named), Value::Map(it) if it.is_empty());
                let arguments = match has_named {
                    true => self.pickle.push(Value::Tuple(vec![arguments, named]), self.at)?,
                    false => arguments,
                };
                self.call(class, arguments)
            }
            _ => {
                let (arguments, function) = (self.pop()?, self.pop()?);
                self.call(function, arguments)
            }
        }
    }

    fn global(&mut self) -> Parsed<Value> {
        let module = self.cursor.line(&self.pickle.bytes)?;
        let name = self.cursor.line(&self.pickle.bytes)?;
        Ok(Value::Global { module, name })
    }

    fn call(&mut self, function: Id, tuple: Id) -> Parsed<()> {
        match (calls::Call { at: self.at, function, tuple }).outcome(&mut self.pickle)? {
            calls::Outcome::New(value) => self.push(value),
            calls::Outcome::Same(id) => self.push_id(id),
        }
    }

    fn number(&mut self, len: usize) -> Parsed<u64> {
        self.cursor.number(&self.pickle.bytes, len)
    }

    fn counted(&mut self, len: usize) -> Parsed<Range<usize>> {
        self.cursor.counted(&self.pickle.bytes, len)
    }

    fn value_mut(&mut self, id: Id) -> Option<&mut Value> {
        self.pickle.values.get_mut(usize::try_from(id).ok()?)
    }

    fn push(&mut self, value: Value) -> Parsed<()> {
        let id = self.pickle.push(value, self.at)?;
        self.push_id(id)
    }

    fn push_id(&mut self, id: Id) -> Parsed<()> {
        if VALUE_COUNT_MAX <= self.stack.len() {
            return Err(broken(&rule::LIMIT_VALUES, self.at, VALUE_COUNT_MAX, VALUE_COUNT_MAX));
        }
        self.stack.push(id);
        Ok(())
    }

    fn mark(&mut self) -> Parsed<()> {
        if VALUE_COUNT_MAX <= self.marks.len() {
            return Err(broken(&rule::LIMIT_VALUES, self.at, VALUE_COUNT_MAX, VALUE_COUNT_MAX));
        }
        self.marks.push(self.stack.len());
        Ok(())
    }

    /// The last item, which is behind the last mark.
    fn pop(&mut self) -> Parsed<Id> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let is_there = floor < self.stack.len();
        let id = if is_there { self.stack.pop() } else { None };
        id.ok_or_else(|| broken(&rule::STACK, self.at, 0, 1))
    }

    fn top(&self) -> Parsed<Id> {
        let floor = self.marks.last().copied().unwrap_or(0);
        let id = self.stack.get(floor..).and_then(<[Id]>::last).copied();
        id.ok_or_else(|| broken(&rule::STACK, self.at, 0, 1))
    }

    /// The items behind the last mark.
    fn pop_mark(&mut self) -> Parsed<Vec<Id>> {
        let mark = self.marks.pop().ok_or_else(|| broken(&rule::STACK, self.at, 0, 1))?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }
}

fn pairs(items: &[Id]) -> Vec<(Id, Id)> {
    items.as_chunks::<2>().0.iter().map(|[key, value]| (*key, *value)).collect()
}

/// An integer in two's complement, little-endian, of any length.
fn integer(bytes: &[u8]) -> Value {
    let fill = if bytes.last().is_some_and(|byte| byte & 0x80 != 0) { 0xff } else { 0 };
    let (head, tail) = bytes.split_at(bytes.len().min(8));
    let mut out = [fill; 8];
    for (out, byte) in out.iter_mut().zip(head) {
        *out = *byte;
    }
    let number = i64::from_le_bytes(out);
    let is_short = tail.iter().all(|byte| *byte == fill)
        && (tail.is_empty() || (number < 0) == (fill == 0xff));
    if is_short { Value::Integer(number) } else { Value::Long }
}
