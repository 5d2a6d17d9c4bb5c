//! Where a reader stands in a JSON text, and the steps it can take.

use std::borrow::Cow;

use crate::blob::{Fault, JsonKind};
use crate::fbc::FbcErrorKind;
use crate::fbc::json::IgnoredKey;
use crate::memory::{Loan, allocated};

/// How deep objects and lists may nest; Go's `maxNestingDepth`.
pub(crate) const DEPTH_LIMIT: usize = 10_000;

/// Why a walk stopped before its end.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Halt {
    /// The text so far is the beginning of a value; more of it is needed.
    Incomplete,
    /// It is not, whatever follows. `at` counts bytes from the beginning of the text.
    Malformed {
        /// Where, in bytes.
        at: usize,
        /// What is wrong there.
        malformed: FbcErrorKind,
    },
}

/// What one step of a walk gives.
pub type CursorResult<T> = Result<T, Halt>;

/// A place in a JSON text.
///
/// Two kinds of fault are kept apart: a text that is no JSON ends the walk with a [`Halt`]; a
/// value of the wrong type is noted in `fault` (the first one counts), and the walk goes on.
///
/// Invariant: all bytes before `at` are well-formed.
#[derive(Debug)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Objects and lists entered.
    depth: usize,
    /// The containers that a skipped value has open; kept to be used again.
    pub(super) open: Vec<u8>,
    /// Keys and list items that were kept.
    kept: usize,
    /// Fields and indices that lead to where typed reading stands.
    path: Vec<PathStep>,
    fault: Option<Fault>,
    /// Keys that no struct has, if they are wanted.
    pub(super) unknown: Option<Vec<IgnoredKey<'a>>>,
    /// What all that was read takes; counted if there is a bound.
    loan: Option<Loan>,
}

/// One step into a typed value.
#[derive(Clone, Copy, Debug)]
enum PathStep {
    Field(&'static str),
    Index(usize),
}

impl<'a> Cursor<'a> {
    /// At the beginning of a text.
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

    /// The same, and what is read of it is counted.
    pub(crate) fn counted(bytes: &'a [u8], loan: Loan) -> Self {
        Self {
            loan: Some(loan),
            ..Self::new(bytes)
        }
    }

    /// What all that was read takes, to be kept as long as that.
    pub(crate) fn into_loan(self) -> Option<Loan> {
        self.loan
    }

    /// Counts bytes that are about to be allocated.
    pub(crate) fn hold(&mut self, bytes: usize) -> CursorResult<()> {
        let Some(loan) = &mut self.loan else {
            return Ok(());
        };
        match loan.more(bytes) {
            Ok(()) => Ok(()),
            Err(too_large) => self.malformed(FbcErrorKind::Memory(too_large)),
        }
    }

    /// Counts bytes that are about to be allocated, until the loan is dropped.
    pub(in crate::fbc) fn lend(&self, bytes: usize) -> CursorResult<Loan> {
        let Some(loan) = &self.loan else {
            return Ok(Loan::default());
        };
        let lent = loan.account().lend(bytes);
        lent.or_else(|too_large| self.malformed(FbcErrorKind::Memory(too_large)))
    }

    /// Counts what was counted elsewhere while the same text was read.
    pub(in crate::fbc) fn hold_as(&mut self, loan: &Loan) -> CursorResult<()> {
        let (most, bytes) = (loan.most(), loan.bytes());
        self.hold(most)?;
        if let Some(loan) = &mut self.loan {
            loan.less(most - bytes);
        }
        Ok(())
    }

    /// How many bytes were walked over.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Goes to a place, `at` bytes from the beginning.
    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    pub(super) fn set_depth(&mut self, depth: usize) {
        self.depth = depth;
    }

    /// What is left of the text.
    pub(in crate::fbc) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// The text from `start` to here.
    pub fn since(&self, start: usize) -> &'a [u8] {
        self.bytes.get(start..self.at).unwrap_or_default()
    }

    pub(in crate::fbc) fn advance(&mut self, by: usize) {
        self.at += by;
    }

    /// The byte here.
    pub(super) fn byte(&self) -> CursorResult<u8> {
        self.bytes.get(self.at).copied().ok_or(Halt::Incomplete)
    }

    /// The first byte from here that is no blank; stands on it.
    pub(super) fn next_byte(&mut self) -> CursorResult<u8> {
        loop {
            match self.byte()? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                byte => return Ok(byte),
            }
        }
    }

    /// A fault in the text, here.
    pub(super) fn malformed<T>(&self, malformed: FbcErrorKind) -> CursorResult<T> {
        self.malformed_at(self.at, malformed)
    }

    /// A fault in the text at a place.
    pub fn malformed_at<T>(&self, at: usize, malformed: FbcErrorKind) -> CursorResult<T> {
        Err(Halt::Malformed { at, malformed })
    }

    /// A byte that cannot stand here.
    pub(super) fn unexpected<T>(&self, expected: &'static str) -> CursorResult<T> {
        let found = self.byte()?;
        self.malformed(FbcErrorKind::Unexpected { expected, found })
    }

    /// Goes one level deeper, over the byte that opens it.
    pub(super) fn enter(&mut self) -> CursorResult<()> {
        self.depth += 1;
        if self.depth > DEPTH_LIMIT {
            return self.malformed(FbcErrorKind::TooDeep { limit: DEPTH_LIMIT });
        }
        self.at += 1;
        Ok(())
    }

    /// Goes one level up, over the byte that closes it.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    /// The type of the value that begins at the next byte that is no blank; stands on it.
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

    /// After the opening byte or an item of a list: whether another item follows; stands on it.
    ///
    /// `seen` tells how many items were read.
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

    /// Steps over a literal such as `null`.
    pub(super) fn literal(&mut self, word: &'static str) -> CursorResult<()> {
        for expected in word.bytes() {
            if self.byte()? != expected {
                return self.unexpected("true, false or null");
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Reads a string; null is empty, another type a fault.
    pub(crate) fn text(&mut self) -> CursorResult<Cow<'a, str>> {
        match self.kind()? {
            JsonKind::String => self.decoded(),
            found => {
                self.skip_instead(found, "a string")?;
                Ok(Cow::Borrowed(""))
            }
        }
    }

    /// Reads a string that begins here.
    pub(crate) fn decoded(&mut self) -> CursorResult<Cow<'a, str>> {
        let string = self.string()?;
        let decoded = string.decode();
        if let Cow::Owned(text) = &decoded {
            self.hold(allocated(text.capacity()))?;
        }
        Ok(decoded)
    }

    /// Reads a boolean; null is false, another type a fault.
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
            return self.malformed(FbcErrorKind::TooManyItems { limit: ITEM_LIMIT });
        }
        Ok(())
    }

    /// Reads a list, item by item; null is empty, another type a fault.
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
            self.path.push(PathStep::Index(items.len()));
            if size_of::<T>() > 0 {
                self.keep()?;
            }
            let read = item(self)?;
            self.make_room(&mut items)?;
            items.push(read);
            self.path.pop();
        }
        Ok(items)
    }

    /// Makes room for one more item; while a list moves, it is there twice.
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

    /// Skips a value of a type that was not `expected`, and notes that unless it is null.
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

    /// Notes a fault, unless one was found before.
    pub(crate) fn note(&mut self, fault: Fault) {
        self.fault.get_or_insert(fault);
    }

    /// Takes the first fault noted since the last time.
    pub(crate) fn take_fault(&mut self) -> Option<Fault> {
        self.fault.take()
    }

    /// Puts back what [`Self::take_fault`] took, as if nothing had been noted since.
    pub(crate) fn set_fault(&mut self, fault: Option<Fault>) {
        self.fault = fault;
    }

    /// Reads something whose faults are its own; returns them beside it.
    pub(crate) fn isolated<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> CursorResult<T>,
    ) -> CursorResult<(T, Option<Fault>)> {
        let outer = self.fault.take();
        let value = read(self)?;
        let inner = std::mem::replace(&mut self.fault, outer);
        Ok((value, inner))
    }

    /// Reads again what begins at `start`, and comes back here.
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

    /// Reads within a field.
    pub(crate) fn within<T>(
        &mut self,
        field: &'static str,
        read: impl FnOnce(&mut Self) -> CursorResult<T>,
    ) -> CursorResult<T> {
        self.path.push(PathStep::Field(field));
        let value = read(self)?;
        self.path.pop();
        Ok(value)
    }

    /// Reads within an item of a list.
    pub(crate) fn within_item<T>(
        &mut self,
        index: usize,
        read: impl FnOnce(&mut Self) -> CursorResult<T>,
    ) -> CursorResult<T> {
        self.path.push(PathStep::Index(index));
        let value = read(self)?;
        self.path.pop();
        Ok(value)
    }

    /// The field that is being read, such as `entries[2].replaces`.
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

/// How many bytes of blanks a text begins with.
pub fn skip_space(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| !matches!(byte, b' ' | b'\t' | b'\r' | b'\n'))
        .unwrap_or(text.len())
}

/// How many keys and list items of one blob are kept. The largest known channels have a few
/// thousand entries; this many take some tens of megabytes.
const ITEM_LIMIT: usize = 250_000;

// === Stepping over a value of any type, however deep, without recursion ===

impl Cursor<'_> {
    /// Steps over the next value and checks it.
    pub fn skip(&mut self) -> CursorResult<()> {
        let base = self.open.len();
        loop {
            let opened = match self.next_byte()? {
                b'{' => self.open_object()?,
                b'[' => self.open_list()?,
                _ => {
                    self.skip_scalar()?;
                    false
                }
            };
            if !opened && !self.close_finished(base)? {
                return Ok(());
            }
        }
    }

    /// Steps over a string; null is one, another type a fault.
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

    /// Enters an object. Whether it has members: then stands before the first value, else after
    /// the object.
    fn open_object(&mut self) -> CursorResult<bool> {
        self.enter()?;
        let opened = self.has_item(0, b'}')?;
        if opened {
            self.open.push(b'}');
            self.member_key()?;
        }
        Ok(opened)
    }

    /// As [`Self::open_object`], for a list.
    fn open_list(&mut self) -> CursorResult<bool> {
        self.enter()?;
        let opened = self.has_item(0, b']')?;
        if opened {
            self.open.push(b']');
        }
        Ok(opened)
    }

    /// After a value: leaves every container that ends here, down to `base`. Whether another
    /// value follows; stands before it.
    fn close_finished(&mut self, base: usize) -> CursorResult<bool> {
        while self.open.len() > base {
            let close = self.open.last().copied().unwrap_or_default();
            if self.has_item(1, close)? {
                if close == b'}' {
                    self.member_key()?;
                }
                return Ok(true);
            }
            self.open.pop();
        }
        Ok(false)
    }
}
