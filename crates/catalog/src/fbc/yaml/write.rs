//! JSON being written, bounded in size.

use std::io::Write as _;
use std::ops::Range;

use crate::fbc::error::FbcErrorKind;
use crate::fbc::json::plain_run;
use crate::yaml_scalar::Scalar;

/// JSON text under construction, behind what was written before it.
#[derive(Debug)]
pub(super) struct JsonText<'o> {
    all: &'o mut Vec<u8>,
    /// Where it begins.
    start: usize,
}

impl<'o> JsonText<'o> {
    /// Behind `all`, with room for so many bytes.
    pub(super) fn after(all: &'o mut Vec<u8>, bytes: usize) -> Self {
        all.reserve(bytes);
        let start = all.len();
        Self { all, start }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len() - self.start
    }

    pub(super) fn push(&mut self, byte: u8) {
        self.all.push(byte);
    }

    /// Writes a comma, unless this is the first item or the value of a key.
    pub(super) fn separate(&mut self) {
        let is_first = self.len() == 0;
        if !is_first && !matches!(self.all.last(), Some(b'{' | b'[' | b':')) {
            self.all.push(b',');
        }
    }

    pub(super) fn string(&mut self, text: &str) {
        self.all.push(b'"');
        let mut rest = text.as_bytes();
        loop {
            let (plain, breaking) = rest.split_at(plain_run(rest));
            self.all.extend_from_slice(plain);
            let Some((&byte, after)) = breaking.split_first() else {
                break;
            };
            self.escape(byte);
            rest = after;
        }
        self.all.push(b'"');
    }

    fn escape(&mut self, byte: u8) {
        match byte {
            b'"' | b'\\' => self.all.extend([b'\\', byte]),
            b'\n' => self.all.extend_from_slice(b"\\n"),
            _ => self.format(format_args!("\\u{byte:04x}")),
        }
    }

    /// Writes a scalar as a value.
    pub(super) fn scalar(&mut self, scalar: &Scalar<'_>) -> Result<(), FbcErrorKind> {
        match scalar {
            Scalar::Null => self.all.extend_from_slice(b"null"),
            Scalar::Bool(value) => self.format(format_args!("{value}")),
            Scalar::Int(value) => self.format(format_args!("{value}")),
            Scalar::Uint(value) => self.format(format_args!("{value}")),
            Scalar::Str(text) => self.string(text),
            Scalar::Float(_) => {
                let number = scalar.clone().into_json();
                let number = number.map_err(|fault| FbcErrorKind::Yaml {
                    reason: fault.to_string().into(),
                })?;
                self.format(format_args!("{number}"));
            }
        }
        Ok(())
    }

    /// Writes again what was written before.
    pub(super) fn repeat(&mut self, written: Range<usize>) {
        let (start, end) = (self.start + written.start, self.start + written.end);
        self.all.extend_from_within(start..end);
    }

    /// Writes JSON that was kept elsewhere.
    pub(super) fn raw(&mut self, json: &[u8]) {
        self.all.extend_from_slice(json);
    }

    pub(super) fn written(&self, range: Range<usize>) -> &[u8] {
        let mine = self.all.get(self.start..).unwrap_or_default();
        mine.get(range).unwrap_or_default()
    }

    fn format(&mut self, text: std::fmt::Arguments<'_>) {
        self.all.write_fmt(text).expect("a Vec takes every write");
    }
}
