//! Converts YAML events to JSON, without an intermediate tree and without recursion.
//!
//! An anchored value is stored as the position of its JSON, and an alias repeats that JSON. A merge
//! (`<<`) writes the members of the merged mapping in place. The reader of the JSON uses the last
//! of equal keys, as go.yaml.in/yaml/v2 does in effect. In a list of mappings the first has
//! precedence there, so they are written once more in reverse order.

use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span, StrInput, Tag};

use crate::fbc::FbcErrorKind;
use crate::fbc::yaml::{
    JsonText, YamlFault, YamlMarks, invalid, local_tag, not_mergeable, scan_fault, unreadable,
};
use crate::yaml_scalar::{Scalar, is_merge_key, resolve};

/// Converts one document to JSON.
pub(super) struct Transcoder<'a> {
    text: &'a str,
    parser: Parser<'a, StrInput<'a>>,
    out: JsonText<'a>,
    open: Vec<OpenCollection>,
    anchors: BTreeMap<usize, AnchoredJson>,
    /// Total length of all [`AnchoredJson::Kept`].
    kept: usize,
    /// The most bytes that aliases may make of the JSON and of what is kept.
    limit: usize,
    /// Position of the current event.
    at: Span,
    marks: YamlMarks,
}

type Transcoded = Result<(), FbcErrorKind>;

impl<'a> Transcoder<'a> {
    /// Creates a transcoder that appends to `json`.
    pub(super) fn new(
        text: &'a str,
        marks: YamlMarks,
        limit: usize,
        json: &'a mut Vec<u8>,
    ) -> Self {
        Self {
            text,
            parser: Parser::new_from_str_with_options(text, options()),
            out: JsonText::after(json, text.len() + text.len() / 8),
            open: Vec::new(),
            anchors: BTreeMap::new(),
            kept: 0,
            limit,
            at: Span::default(),
            marks,
        }
    }

    /// Writes the JSON of the first document, or `null` if there is none.
    pub(super) fn run(mut self) -> Result<YamlMarks, YamlFault> {
        while let Some(event) = self.parser.next_event() {
            let (event, span) = event.map_err(|fault| scan_fault(&fault))?;
            self.at = span;
            if event == Event::DocumentEnd {
                break;
            }
            self.event(event)
                .map_err(|malformed| self.fault(malformed))?;
        }
        if self.out.len() == 0 {
            self.out.raw(b"null");
        }
        Ok(self.marks)
    }

    fn event(&mut self, event: Event<'a>) -> Transcoded {
        // The parser numbers anchors from 1.
        if event.anchor_id() > Some(ANCHOR_LIMIT) {
            return Err(FbcErrorKind::TooManyAnchors);
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(&text, style, anchor, tag.as_deref())
            }
            Event::Alias(anchor) => self.alias(anchor),
            Event::SequenceStart(_, anchor, _) => self.begin_list(anchor),
            Event::MappingStart(_, anchor, _) => self.begin_mapping(anchor),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            _ => Ok(()),
        }
    }

    fn fault(&self, malformed: FbcErrorKind) -> YamlFault {
        YamlFault {
            line: self.at.start.line() as u64,
            column: self.at.start.col() as u64 + 1,
            malformed,
        }
    }

    /// Records the position of the value that is about to be written.
    fn mark(&mut self) {
        let start = &self.at.start;
        self.marks.note(self.out.len(), start.line(), start.col());
    }

    fn shape(&self) -> Option<&CollectionShape> {
        self.open.last().map(|frame| &frame.shape)
    }

    /// The next part of the innermost mapping; `None` in a list and outside of collections.
    fn next(&self) -> Option<MappingPart> {
        match self.shape() {
            Some(CollectionShape::Mapping { next, .. }) => Some(*next),
            _ => None,
        }
    }

    /// Sets the next part of the innermost collection, if that is a mapping.
    fn set_next(&mut self, part: MappingPart) {
        if let Some(OpenCollection {
            shape: CollectionShape::Mapping { next, .. },
            ..
        }) = self.open.last_mut()
        {
            *next = part;
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
    ) -> Transcoded {
        if let Some(tag) = tag.and_then(local_tag) {
            let start = &self.at.start;
            self.marks.note_tag(&tag, text, start.line(), start.col());
        }
        let scalar = resolve(text, style, tag).map_err(|fault| unreadable(&fault))?;
        if self.next() == Some(MappingPart::Key) {
            if !is_merge_key(text, style, tag) {
                return self.key(scalar, anchor);
            }
            self.set_next(MappingPart::Merge);
            return Ok(());
        }
        self.begin_value()?;
        self.mark();
        let start = self.out.len();
        self.out.scalar(&scalar)?;
        self.anchor(anchor, start);
        self.set_next(MappingPart::Key);
        Ok(())
    }

    fn key(&mut self, scalar: Scalar<'_>, anchor: usize) -> Transcoded {
        if self.at.start.line() != self.at.end.line() && !self.is_after_question_mark() {
            return Err(invalid("a key continues past the end of its line"));
        }
        if anchor > 0 {
            let mut value = Vec::new();
            JsonText::after(&mut value, 0).scalar(&scalar)?;
            self.anchors.insert(anchor, AnchoredJson::Kept(value));
        }
        let key = scalar.into_key().map_err(|fault| unreadable(&fault))?;
        self.write_key(&key);
        Ok(())
    }

    /// Whether the current key is explicit, `? key`.
    fn is_after_question_mark(&self) -> bool {
        let before = self
            .at
            .start
            .byte_offset()
            .and_then(|at| self.text.get(..at));
        before.is_some_and(|text| text.trim_end().ends_with('?'))
    }

    fn write_key(&mut self, key: &str) {
        self.out.separate();
        self.out.string(key);
        self.out.push(b':');
        self.set_next(MappingPart::Value);
    }

    /// Prepares for a value that is neither a key nor a mapping to merge.
    fn begin_value(&mut self) -> Transcoded {
        match (self.shape(), self.next()) {
            (_, Some(MappingPart::Key)) => Err(invalid("a mapping or list cannot be a key")),
            (_, Some(MappingPart::Merge)) | (Some(CollectionShape::MergedList(_)), _) => {
                Err(not_mergeable())
            }
            (Some(CollectionShape::List), _) => {
                self.out.separate();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin_list(&mut self, anchor: usize) -> Transcoded {
        let merges = self.next() == Some(MappingPart::Merge);
        let shape = if merges {
            CollectionShape::MergedList(Vec::new())
        } else {
            self.begin_value()?;
            CollectionShape::List
        };
        self.begin(shape, anchor);
        if !merges {
            self.mark();
            self.out.push(b'[');
        }
        Ok(())
    }

    fn begin_mapping(&mut self, anchor: usize) -> Transcoded {
        let is_merged = self.is_merged();
        if !is_merged {
            self.begin_value()?;
        }
        let next = MappingPart::Key;
        self.begin(CollectionShape::Mapping { next, is_merged }, anchor);
        if !is_merged {
            self.mark();
            self.out.push(b'{');
        }
        Ok(())
    }

    /// Whether the next mapping or alias is merged into the mapping around it.
    fn is_merged(&self) -> bool {
        self.next() == Some(MappingPart::Merge)
            || matches!(self.shape(), Some(CollectionShape::MergedList(_)))
    }

    fn begin(&mut self, shape: CollectionShape, anchor: usize) {
        let start = self.out.len();
        self.open.push(OpenCollection {
            shape,
            start,
            anchor,
        });
    }

    fn end(&mut self) -> Transcoded {
        let Some(OpenCollection {
            shape,
            start,
            anchor,
        }) = self.open.pop()
        else {
            return Ok(());
        };
        match shape {
            CollectionShape::List => {
                self.out.push(b']');
                self.anchor(anchor, start);
            }
            CollectionShape::Mapping {
                is_merged: true, ..
            } => self.end_merged(start, anchor),
            CollectionShape::MergedList(members) => self.end_merged_list(members)?,
            CollectionShape::Mapping { .. } => {
                self.out.push(b'}');
                self.anchor(anchor, start);
            }
        }
        self.set_next(MappingPart::Key);
        self.check_size()
    }

    /// Ends a mapping whose members were written into the enclosing one.
    fn end_merged(&mut self, start: usize, anchor: usize) {
        let members = start..self.out.len();
        if anchor > 0 {
            let text = self.out.written(members.clone());
            let text = text.strip_prefix(b",").unwrap_or(text);
            let whole = [b"{", text, b"}"].concat();
            self.kept += whole.len();
            self.anchors.insert(anchor, AnchoredJson::Kept(whole));
        }
        self.note_merged(members);
    }

    /// Records the position of a mapping's members, if it is in a list of mappings to merge.
    fn note_merged(&mut self, members: Range<usize>) {
        if let Some(OpenCollection {
            shape: CollectionShape::MergedList(list),
            ..
        }) = self.open.last_mut()
        {
            list.push(members);
        }
    }

    fn end_merged_list(&mut self, members: Vec<Range<usize>>) -> Transcoded {
        for range in members.into_iter().rev() {
            let text = self.out.written(range.clone());
            if text.is_empty() {
                continue;
            }
            if !text.starts_with(b",") {
                self.out.separate();
            }
            self.out.repeat(range);
            self.check_size()?;
        }
        Ok(())
    }

    fn anchor(&mut self, anchor: usize, start: usize) {
        if anchor > 0 {
            let written = start..self.out.len();
            self.anchors.insert(anchor, AnchoredJson::Written(written));
        }
    }

    fn alias(&mut self, anchor: usize) -> Transcoded {
        let json = match self.anchors.get(&anchor) {
            Some(AnchoredJson::Written(range)) => self.out.written(range.clone()).to_vec(),
            Some(AnchoredJson::Kept(json)) => json.clone(),
            None => return Err(invalid("an anchor's value contains itself")),
        };
        if self.next() == Some(MappingPart::Key) {
            self.alias_key(&json)?;
            return self.check_size();
        }
        if self.is_merged() {
            self.alias_merge(&json)?;
        } else {
            self.begin_value()?;
            self.mark();
            self.out.raw(&json);
        }
        self.set_next(MappingPart::Key);
        self.check_size()
    }

    /// Writes an alias as a key. Its value must be a scalar other than null.
    fn alias_key(&mut self, json: &[u8]) -> Transcoded {
        match serde_json::from_slice(json) {
            Ok(serde_json::Value::String(text)) => self.write_key(&text),
            Ok(value @ (serde_json::Value::Bool(_) | serde_json::Value::Number(_))) => {
                self.write_key(&value.to_string());
            }
            _ => return Err(invalid("a mapping, a list or null cannot be a key")),
        }
        Ok(())
    }

    /// Merges an alias. Its value must be a mapping.
    fn alias_merge(&mut self, json: &[u8]) -> Transcoded {
        let inner = json
            .strip_prefix(b"{")
            .and_then(|json| json.strip_suffix(b"}"));
        let members = inner.ok_or_else(not_mergeable)?;
        let start = self.out.len();
        if !members.is_empty() {
            self.out.separate();
            self.out.raw(members);
        }
        self.note_merged(start..self.out.len());
        Ok(())
    }

    fn check_size(&self) -> Transcoded {
        let limit = self.limit;
        if self.out.len() + self.kept > limit {
            return Err(FbcErrorKind::Aliases { limit });
        }
        Ok(())
    }
}

fn options() -> Options {
    granit_parser::options! {
        emit_comments: false,
        flow_nesting_limit: NESTING_LIMIT,
        block_nesting_limit: NESTING_LIMIT,
    }
}

/// Maximum depth of nesting, as in go.yaml.in/yaml/v2.
const NESTING_LIMIT: usize = 10_000;

/// Maximum number of anchors that are remembered; people write a handful.
pub(in crate::fbc) const ANCHOR_LIMIT: usize = 10_000;

/// A collection that was started.
#[derive(Debug)]
struct OpenCollection {
    shape: CollectionShape,
    /// Start of its JSON.
    start: usize,
    anchor: usize,
}

#[derive(Debug)]
enum CollectionShape {
    List,
    Mapping {
        next: MappingPart,
        /// Whether the members are written into the enclosing mapping.
        is_merged: bool,
    },
    /// A list of mappings to merge, with the position of each one's members.
    MergedList(Vec<Range<usize>>),
}

/// The part of a mapping that comes next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum MappingPart {
    Key,
    /// The value of a key.
    Value,
    /// The value of a merge key.
    Merge,
}

/// A complete anchored value.
#[derive(Debug)]
enum AnchoredJson {
    /// A value at this range of the output.
    Written(Range<usize>),
    /// The JSON of a value that was written in another form.
    Kept(Vec<u8>),
}
