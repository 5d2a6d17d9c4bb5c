//! A position in a JSON text, and the operations to advance it.

use std::borrow::Cow;

use crate::blob::{Fault, JsonKind};
use crate::fbc::FbcErrorKind;
use crate::fbc::json::IgnoredKey;
use crate::memory::{Loan, allocated};

/// Maximum number of levels of nested objects and lists; Go's `maxNestingDepth`.
pub(crate) const DEPTH_LIMIT: usize = 10_000;

/// The reason why reading stopped.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Halt {
    /// The text so far is the start of a value; more text is needed.
    Incomplete,
    /// The text is not JSON, whatever follows.
    Malformed {
        /// Position of the fault, in bytes from the start of the text.
        at: usize,
        /// The fault.
        malformed: FbcErrorKind,
    },
}

/// Result of one operation.
pub type CursorResult<T> = Result<T, Halt>;

/// A position in a JSON text.
///
/// There are two kinds of faults. A text that is not JSON ends reading with a [`Halt`]. A value of
/// the wrong type is noted in `fault` (the first one counts), and reading continues.
///
/// Invariant: all bytes before `at` are well-formed.
#[derive(Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Number of objects and lists entered.
    depth: usize,
    /// The open containers of a skipped value. The list is kept for reuse.
    pub(super) open: Vec<u8>,
    /// Number of keys and list items that were kept.
    kept: usize,
    /// Fields and indices on the path to the current typed value.
    path: Vec<PathStep>,
    fault: Option<Fault>,
    /// Keys that no struct has, if they are wanted.
    pub(super) unknown: Option<Vec<IgnoredKey<'a>>>,
    /// Memory of all values read; counted if there is a limit.
    loan: Option<Loan>,
}

/// One step into a typed value.
#[derive(Clone, Copy, Debug)]
enum PathStep {
    Field(&'static str),
    Index(usize),
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of a text.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self {
            bytes,
            at: 0,
            depth: 0,
            open: Vec::new(),
            kept: 0,
            path: Vec::new(),
            fault: None,
            unknown: None,
            loan: None,
        }
    }

    /// Creates a cursor that charges the values read to a loan.
    pub(crate) fn counted(bytes: &'a [u8], loan: Loan) -> Self {
        Self {
            loan: Some(loan),
            ..Self::new(bytes)
        }
    }

    /// Returns the memory of all values read, which must be kept as long as the values.
    pub(crate) fn into_loan(self) -> Option<Loan> {
        self.loan
    }

    /// Charges bytes that are about to be allocated.
    pub(crate) fn hold(&mut self, bytes: usize) -> CursorResult<()> {
        let Some(loan) = &mut self.loan else {
            return Ok(());
        };
        match loan.more(bytes) {
            Ok(()) => Ok(()),
            Err(too_large) => self.malformed(FbcErrorKind::Memory(too_large)),
        }
    }

    /// Charges bytes that are about to be allocated, until the returned loan is dropped.
    pub(in crate::fbc) fn lend(&self, bytes: usize) -> CursorResult<Loan> {
        let Some(loan) = &self.loan else {
            return Ok(Loan::default());
        };
        let lent = loan.account().lend(bytes);
        lent.or_else(|too_large| self.malformed(FbcErrorKind::Memory(too_large)))
    }

    /// Charges what was charged elsewhere while the same text was read.
    pub(in crate::fbc) fn hold_as(&mut self, loan: &Loan) -> CursorResult<()> {
        let (most, bytes) = (loan.most(), loan.bytes());
        self.hold(most)?;
        if let Some(loan) = &mut self.loan {
            loan.less(most - bytes);
        }
        Ok(())
    }

    /// Number of bytes passed.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Moves to a position, `at` bytes from the start.
    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn set_depth(&mut self, depth: usize) {
        self.depth = depth;
    }

    /// The rest of the text.
    pub(in crate::fbc) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The text from `start` to the current position.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    pub(in crate::fbc) fn advance(&mut self, by: usize) {
        self.at += by;
    }

    /// The byte at the current position.
    pub(super) fn byte(&self) -> CursorResult<u8> {
        self.bytes.get(self.at).copied().ok_or(Halt::Incomplete)
    }

    /// Skips white space and returns the next byte, without skipping that byte.
    pub(super) fn next_byte(&mut self) -> CursorResult<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                byte => return Ok(byte),
            }
        }
    }

    /// Reports a fault in the text at the current position.
    pub(super) fn malformed<T>(&self, malformed: FbcErrorKind) -> CursorResult<T> {
        self.malformed_at(self.at, malformed)
    }

    /// Reports a fault in the text at a position.
    pub fn malformed_at<T>(&self, at: usize, malformed: FbcErrorKind) -> CursorResult<T> {
        Err(Halt::Malformed { at, malformed })
    }

    /// Reports a byte that is not allowed at the current position.
    pub(super) fn unexpected<T>(&self, expected: &'static str) -> CursorResult<T> {
        let found = self.byte()?;
        self.malformed(FbcErrorKind::Unexpected { expected, found })
    }

    /// Enters an object or list, and skips the byte that opens it.
    pub(super) fn enter(&mut self) -> CursorResult<()> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return self.malformed(FbcErrorKind::TooDeep { limit: DEPTH_LIMIT });
        }
        self.at += 1;
        Ok(())
    }

    /// Leaves an object or list, and skips the byte that closes it.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    /// Skips white space and returns the start of the next value, in bytes.
    pub fn start(&mut self) -> CursorResult<usize> {
        self.kind()?;
        Ok(self.at)
    }

    /// Skips white space and returns the type of the next value, without skipping the value.
    pub fn kind(&mut self) -> CursorResult<JsonKind> {
        match self.next_byte()? {
            b'"' => Ok(JsonKind::String),
            b'{' => Ok(JsonKind::Object),
            b'[' => Ok(JsonKind::List),
            b't' | b'f' => Ok(JsonKind::Boolean),
            b'n' => Ok(JsonKind::Null),
            b'-' | b'0'..=b'9' => Ok(JsonKind::Number),
            _ => self.unexpected("a value"),
        }
    }

    /// Moves to the next item of an object or list, from after its opening byte or an item. Returns
    /// false and leaves it if there is none.
    ///
    /// `seen` is the number of items read.
    pub(super) fn has_item(&mut self, seen: usize, close: u8) -> CursorResult<bool> {
        let byte = self.next_byte()?;
        if byte == close {
            self.leave();
            return Ok(false);
        }
        if seen > 0 {
            if byte != b',' {
                return self.unexpected("a comma or the end of the object or list");
            }
            self.at += 1;
        }
        Ok(true)
    }

    /// Skips a literal such as `null`.
    pub(super) fn literal(&mut self, word: &'static str) -> CursorResult<()> {
        for expected in word.bytes() {
            if self.byte()? != expected {
                return self.unexpected("true, false or null");
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a string. Null is empty; another type is a fault.
    pub(crate) fn text(&mut self) -> CursorResult<Cow<'a, str>> {
        match self.kind()? {
            JsonKind::String => self.decoded(),
            found => {
                self.skip_instead(found, "a string")?;
                Ok(Cow::Borrowed(""))
            }
        }
    }

    /// Reads the string at the current position.
    pub(crate) fn decoded(&mut self) -> CursorResult<Cow<'a, str>> {
        let string = self.string()?;
        let decoded = string.decode();
        if let Cow::Owned(text) = &decoded {
            self.hold(allocated(text.capacity()))?;
        }
        Ok(decoded)
    }

    /// Reads a boolean. Null is false; another type is a fault.
    pub fn boolean(&mut self) -> CursorResult<bool> {
        let found = self.kind()?;
        if found != JsonKind::Boolean {
            self.skip_instead(found, "a boolean")?;
            return Ok(false);
        }
        let is_true = self.byte()? == b't';
        self.skip()?;
        Ok(is_true)
    }

    /// Counts a key or list item that is about to be kept.
    pub fn keep(&mut self) -> CursorResult<()> {
        self.kept += 1;
        if self.kept > ITEM_LIMIT {
            return self.malformed(FbcErrorKind::TooManyItems);
        }
        Ok(())
    }

    /// Reads a list, item by item. Null is empty; another type is a fault.
    pub fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> CursorResult<T>,
    ) -> CursorResult<Vec<T>> {
        let mut items = Vec::new();
        let found = self.kind()?;
        if found != JsonKind::List {
            self.skip_instead(found, "a list")?;
            return Ok(items);
        }
        self.enter()?;
        while self.has_item(items.len(), b']')? {
            if size_of::<T>() > 0 {
                self.keep()?;
            }
            let read = self.within_item(items.len(), &mut item)?;
            self.make_room(&mut items)?;
            items.push(read);
        }
        Ok(items)
    }

    /// Makes room for one more item. While a list moves, it exists twice.
    fn make_room<T>(&mut self, items: &mut Vec<T>) -> CursorResult<()> {
        let room = items.capacity();
        if self.loan.is_none() || items.len() < room {
            return Ok(());
        }
        let larger = (2 * room).max(4);
        self.hold(allocated(larger * size_of::<T>()))?;
        items.reserve_exact(larger - room);
        if let Some(loan) = &mut self.loan {
            loan.less(allocated(room * size_of::<T>()));
        }
        Ok(())
    }

    /// Skips a value whose type is not the `expected` one. Notes this as a fault, unless the value
    /// is null.
    pub(crate) fn skip_instead(
        &mut self,
        found: JsonKind,
        expected: &'static str,
    ) -> CursorResult<()> {
        self.skip()?;
        if found != JsonKind::Null {
            let path = self.path();
            self.note(Fault::WrongType {
                path,
                expected: expected.into(),
                found,
            });
        }
        Ok(())
    }

    /// Notes a fault, unless one was noted before.
    pub(crate) fn note(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Takes the first fault noted since the last call.
    pub(crate) fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Puts back the result of [`Self::take_fault`], as if nothing had been noted since.
    pub(crate) fn set_fault(&mut self, fault: Option<Fault>) {
        self.fault = fault;
    }

    /// Reads a value with faults of its own, and returns them with it.
    pub(crate) fn isolated<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> CursorResult<T>,
    ) -> CursorResult<(T, Option<Fault>)> {
        let outer = self.fault.take();
        let value = read(self)?;
        let inner = std::mem::replace(&mut self.fault, outer);
        Ok((value, inner))
    }

    /// Reads a value again from `start`, and returns to the current position.
    pub fn revisit<T>(
        &mut self,
        start: usize,
        read: impl FnOnce(&mut Self) -> CursorResult<T>,
    ) -> CursorResult<T> {
        let here = self.at;
        self.at = start;
        let value = read(self)?;
        self.at = here;
        Ok(value)
    }

    /// Reads the value of a field.
    pub(crate) fn within<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&mut Self) -> CursorResult<T>,
    ) -> CursorResult<T> {
        self.below(PathStep::Field(field), read)
    }

    /// Reads an item of a list.
    pub(crate) fn within_item<T>(
        &mut self,
        index: usize,
        read: impl FnOnce(&mut Self) -> CursorResult<T>,
    ) -> CursorResult<T> {
        self.below(PathStep::Index(index), read)
    }

    fn below<T>(
        &mut self,
        step: PathStep,
        read: impl FnOnce(&mut Self) -> CursorResult<T>,
    ) -> CursorResult<T> {
        self.path.push(step);
        let value = read(self)?;
        self.path.pop();
        Ok(value)
    }

    /// The path of the current value, such as `entries[2].replaces`.
    pub(crate) fn path(&self) -> Box<str> {
        let mut path = String::new();
        for step in &self.path {
            match step {
                PathStep::Field(name) if path.is_empty() => path.push_str(name),
                PathStep::Field(name) => path.extend([".", name]),
                PathStep::Index(index) => path.extend(["[", &index.to_string(), "]"]),
            }
        }
        path.into()
    }
}

/// Length of the white space at the start of a text, in bytes.
pub fn skip_space(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        .unwrap_or(text.len())
}

/// Maximum number of keys and list items of one blob that are kept. The largest known channels have
/// a few thousand entries. This many need some tens of megabytes.
pub const ITEM_LIMIT: usize = 250_000;

// === Skipping a value of any type and depth without recursion ===

impl Cursor<'_> {
    /// Skips and checks the next value.
    pub fn skip(&mut self) -> CursorResult<()> {
        let base = self.open.len();
        loop {
            let is_within = match self.next_byte()? {
                b'{' => self.open_container(b'}')?,
                b'[' => self.open_container(b']')?,
                _ => {
                    self.skip_scalar()?;
                    false
                }
            };
            if !is_within && !self.close_finished(base)? {
                return Ok(());
            }
        }
    }

    /// Skips a string. Null is allowed; another type is a fault.
    pub(crate) fn skip_text(&mut self) -> CursorResult<()> {
        match self.kind()? {
            JsonKind::String => self.string().map(drop),
            found => self.skip_instead(found, "a string"),
        }
    }

    fn skip_scalar(&mut self) -> CursorResult<()> {
        match self.byte()? {
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.number().map(drop),
            b't' => self.literal("true"),
            b'f' => self.literal("false"),
            b'n' => self.literal("null"),
            _ => self.unexpected("a value"),
        }
    }

    /// Enters an object or list. If it is not empty, returns true and stops before the first value.
    /// Otherwise skips it.
    fn open_container(&mut self, close: u8) -> CursorResult<bool> {
        self.enter()?;
        let is_within = self.next_value(0, close)?;
        if is_within {
            self.open.push(close);
        }
        Ok(is_within)
    }

    /// Moves to the next value of an object or list, as [`Self::has_item`] does.
    fn next_value(&mut self, seen: usize, close: u8) -> CursorResult<bool> {
        let is_there = self.has_item(seen, close)?;
        if is_there && close == b'}' {
            self.member_key()?;
        }
        Ok(is_there)
    }

    /// Leaves every container that ends after a value, down to `base`. Returns true and stops
    /// before the next value, if there is one.
    fn close_finished(&mut self, base: usize) -> CursorResult<bool> {
        while self.open.len() > base {
            let close = self.open.last().copied().unwrap_or_default();
            if self.next_value(1, close)? {
                return Ok(true);
            }
            self.open.pop();
        }
        Ok(false)
    }
}
