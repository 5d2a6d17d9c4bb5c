//! JSON being written, bounded in size.

use std::io::Write as _;
use std::ops::Range;

use crate::fbc::error::FbcErrorKind;
use crate::fbc::json::plain_run;
use crate::yaml_scalar::Scalar;

/// JSON text under construction.
#[derive(Debug, Default)]
pub(super) struct JsonText(Vec<u8>);

impl JsonText {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn push(&mut self, byte: u8) {
        self.0.push(byte);
    }

    /// Writes a comma, unless this is the first item or the value of a key.
    pub(super) fn separate(&mut self) {
        if !matches!(self.0.last(), None | Some(b'{' | b'[' | b':')) {
            self.0.push(b',');
        }
    }

    pub(super) fn string(&mut self, text: &str) {
        self.0.push(b'"');
        let mut rest = text.as_bytes();
        loop {
            let (plain, breaking) = rest.split_at(plain_run(rest));
            self.0.extend_from_slice(plain);
            let Some((&byte, after)) = breaking.split_first() else {
                break;
            };
            self.escape(byte);
            rest = after;
        }
        self.0.push(b'"');
    }

    fn escape(&mut self, byte: u8) {
        match byte {
            b'"' | b'\\' => self.0.extend([b'\\', byte]),
            b'\n' => self.0.extend_from_slice(b"\\n"),
            _ => self.format(format_args!("\\u{byte:04x}")),
        }
    }

    /// Writes a scalar as a value.
    pub(super) fn scalar(&mut self, scalar: &Scalar<'_>) -> Result<(), FbcErrorKind> {
        match scalar {
            Scalar::Null => self.0.extend_from_slice(b"null"),
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
        self.0.extend_from_within(written);
    }

    /// Writes JSON that was kept elsewhere.
    pub(super) fn raw(&mut self, json: &[u8]) {
        self.0.extend_from_slice(json);
    }

    pub(super) fn written(&self, range: Range<usize>) -> &[u8] {
        self.0.get(range).unwrap_or_default()
    }

    fn format(&mut self, text: std::fmt::Arguments<'_>) {
        self.0.write_fmt(text).expect("a Vec takes every write");
    }
}
