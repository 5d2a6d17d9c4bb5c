//! Converts YAML events to JSON, without an intermediate tree and without recursion.
//!
//! An anchored value is stored as the position of its JSON, and an alias repeats that JSON. A merge
//! (`<<`) writes the members of the merged mapping in place. The reader of the JSON uses the last
//! of equal keys, as go.yaml.in/yaml/v2 does in effect. In a list of mappings the first has
//! precedence there, so they are written once more in reverse order.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use granit_parser::{Event, Options, Parser, ScalarStyle, Span, StrInput, Tag};

use crate::fbc::FbcErrorKind;
use crate::fbc::yaml::{
    JsonText, YamlFault, YamlMarks, invalid, is_merge, local_tag, not_mergeable, scan_fault, typed,
    unreadable,
};
use crate::yaml_scalar::Scalar;

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
            return Err(FbcErrorKind::TooManyAnchors {
                limit: ANCHOR_LIMIT,
            });
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

    fn set_shape(&mut self, shape: CollectionShape) {
        if let Some(frame) = self.open.last_mut() {
            frame.shape = shape;
        }
    }

    fn is_at_key(&self) -> bool {
        matches!(
            self.shape(),
            Some(CollectionShape::Key | CollectionShape::MergedKey)
        )
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
        let merge = text == "<<" && is_merge(style, tag);
        let scalar = typed(text, style, tag)?;
        if self.is_at_key() {
            if !merge {
                return self.key(scalar, anchor);
            }
            self.begin_merge();
            return Ok(());
        }
        self.begin_value()?;
        self.mark();
        let start = self.out.len();
        self.out.scalar(&scalar)?;
        self.anchor(anchor, start);
        self.end_value();
        Ok(())
    }

    fn begin_merge(&mut self) {
        let merged = self.shape() == Some(&CollectionShape::MergedKey);
        self.set_shape(if merged {
            CollectionShape::MergedMerge
        } else {
            CollectionShape::Merge
        });
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
        let merged = self.shape() == Some(&CollectionShape::MergedKey);
        self.set_shape(if merged {
            CollectionShape::MergedValue
        } else {
            CollectionShape::Value
        });
    }

    /// Prepares for a value that is neither a key nor a mapping to merge.
    fn begin_value(&mut self) -> Transcoded {
        match self.shape() {
            Some(CollectionShape::Key | CollectionShape::MergedKey) => {
                Err(invalid("a mapping or list cannot be a key"))
            }
            Some(
                CollectionShape::Merge
                | CollectionShape::MergedMerge
                | CollectionShape::MergedList(_),
            ) => Err(not_mergeable()),
            Some(CollectionShape::List) => {
                self.out.separate();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Updates the state after a value of any kind.
    fn end_value(&mut self) {
        match self.shape() {
            Some(CollectionShape::Value | CollectionShape::Merge) => {
                self.set_shape(CollectionShape::Key);
            }
            Some(CollectionShape::MergedValue | CollectionShape::MergedMerge) => {
                self.set_shape(CollectionShape::MergedKey);
            }
            _ => {}
        }
    }

    fn begin_list(&mut self, anchor: usize) -> Transcoded {
        let merges = matches!(
            self.shape(),
            Some(CollectionShape::Merge | CollectionShape::MergedMerge)
        );
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
        if let Some(
            CollectionShape::Merge | CollectionShape::MergedMerge | CollectionShape::MergedList(_),
        ) = self.shape()
        {
            self.begin(CollectionShape::MergedKey, anchor);
            return Ok(());
        }
        self.begin_value()?;
        self.begin(CollectionShape::Key, anchor);
        self.mark();
        self.out.push(b'{');
        Ok(())
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
            CollectionShape::MergedKey => self.end_merged(start, anchor),
            CollectionShape::MergedList(members) => self.end_merged_list(members)?,
            _ => {
                self.out.push(b'}');
                self.anchor(anchor, start);
            }
        }
        self.end_value();
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
            Some(AnchoredJson::Written(range)) => {
                Cow::Owned(self.out.written(range.clone()).to_vec())
            }
            Some(AnchoredJson::Kept(json)) => Cow::Owned(json.clone()),
            None => return Err(invalid("an anchor's value contains itself")),
        };
        match self.shape() {
            Some(CollectionShape::Key | CollectionShape::MergedKey) => {
                self.alias_key(&json)?;
                return self.check_size();
            }
            Some(
                CollectionShape::Merge
                | CollectionShape::MergedMerge
                | CollectionShape::MergedList(_),
            ) => {
                self.alias_merge(&json)?;
            }
            _ => {
                self.begin_value()?;
                self.mark();
                self.out.raw(&json);
            }
        }
        self.end_value();
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
const ANCHOR_LIMIT: usize = 10_000;

/// A collection that was started.
#[derive(Debug)]
struct OpenCollection {
    shape: CollectionShape,
    /// Start of its JSON.
    start: usize,
    anchor: usize,
}

#[derive(Clone, Debug, Eq, PartialEq)]
enum CollectionShape {
    List,
    /// A mapping before a key.
    Key,
    /// A mapping before the value of a key.
    Value,
    /// A mapping before the value of a merge key.
    Merge,
    /// A merged mapping before a key. Its members are written into the enclosing one.
    MergedKey,
    /// A merged mapping before the value of a key.
    MergedValue,
    /// A merged mapping before the value of a merge key.
    MergedMerge,
    /// A list of mappings to merge, with the position of each one's members.
    MergedList(Vec<Range<usize>>),
}

/// A complete anchored value.
#[derive(Debug)]
enum AnchoredJson {
    /// A value at this range of the output.
    Written(Range<usize>),
    /// The JSON of a value that was written in another form.
    Kept(Vec<u8>),
}
