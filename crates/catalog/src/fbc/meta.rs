//! A blob: the members that every blob has (schema, package, name), and those that its schema defines.
//!
//! Upstream: `Meta.UnmarshalJSON` of operator-registry, [`alpha/declcfg/declcfg.go`] (faults of a
//! whole catalog), and `addMeta`, [`alpha/declcfg/load.go`] (faults of one package).
//!
//! [`alpha/declcfg/declcfg.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/declcfg.go
//! [`alpha/declcfg/load.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/declcfg/load.go

use std::borrow::Cow;
use std::mem;

use super::json::{Cursor, CursorResult};
use super::members::BlobMembers;
use super::shape::{BundleProperties, Icon, RelatedImage};
use crate::blob::{BlobContent, ChannelBlob, Fault, JsonKind, PackageBlob, UnfiledObject};
use crate::fbc::FbcErrorKind;
use crate::fbc::members::{FiledKey, file};
use crate::guardrail;

/// A blob, filed and decoded.
#[derive(Debug)]
pub struct FiledBlob<'a> {
    /// Path under which the blob is filed.
    pub filed: FiledKey<'a>,
    /// Content by the blob's schema, or the first value of a wrong type.
    pub content: Result<BlobContent<'a>, Fault>,
}

/// A value in a catalog, where a blob is expected.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all are blobs, and each is handed on before the next is read"
)]
pub enum BlobInCatalog<'a> {
    /// `null`, as an empty document is.
    Null,
    /// An object that is in no package's directory.
    Unfiled(UnfiledObject),
    /// A blob.
    Blob(FiledBlob<'a>),
}

/// Reads the next blob.
pub fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<BlobInCatalog<'a>> {
    match cursor.kind()? {
        JsonKind::Null => cursor.skip().map(|()| BlobInCatalog::Null),
        JsonKind::Object => BlobDraft::read(cursor)?.blob(cursor),
        found => cursor.malformed_at(cursor.at(), FbcErrorKind::NotAnObject { found }),
    }
}

/// An object that may be a blob.
struct BlobDraft<'a> {
    members: BlobMembers<'a>,
    properties: BundleProperties<'a>,
}

impl<'a> BlobDraft<'a> {
    /// Reads the members. Properties are nearly all bytes of a blob, so they are read immediately,
    /// as if the blob was a bundle.
    fn read(cursor: &mut Cursor<'a>) -> CursorResult<Self> {
        let mut properties = BundleProperties::default();
        let members = BlobMembers::read(cursor, |key, cursor| {
            let is_theirs = key.fold("properties").is_some();
            if is_theirs {
                properties = BundleProperties::read(cursor)?;
            }
            Ok(is_theirs)
        })?;
        match members.keys.duplicate() {
            Some(malformed) => cursor.malformed_at(members.start, malformed),
            None => Ok(Self {
                members,
                properties,
            }),
        }
    }

    fn blob(mut self, cursor: &mut Cursor<'a>) -> CursorResult<BlobInCatalog<'a>> {
        let schema = mem::take(&mut self.members.schema).string(cursor)?;
        let package = mem::take(&mut self.members.package).string(cursor)?;
        let name = mem::take(&mut self.members.name).string(cursor)?;
        let folder = if schema == "olm.package" {
            name.clone()
        } else {
            package
        };
        let filed = match file(folder, schema.clone(), name.clone()) {
            Ok(Some(filed)) => filed,
            Ok(None) => return Ok(BlobInCatalog::Unfiled(self.unfiled(&schema))),
            Err(malformed) => return cursor.malformed_at(cursor.at(), malformed),
        };
        let (content, fault) = cursor.isolated(|cursor| self.content(&schema, name, cursor))?;
        let content = fault.map_or(Ok(content), Err);
        Ok(BlobInCatalog::Blob(FiledBlob { filed, content }))
    }

    fn unfiled(&self, schema: &str) -> UnfiledObject {
        let has = |key| self.members.keys.has(key);
        match schema {
            "" if has("apiVersion") && has("kind") => UnfiledObject::Kubernetes,
            "" => UnfiledObject::Other,
            _ => UnfiledObject::Blob,
        }
    }

    /// Decodes the content by its schema, and notes the first value of a wrong type.
    fn content(
        mut self,
        schema: &str,
        name: Cow<'a, str>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<BlobContent<'a>> {
        match schema {
            "olm.package" => self.package(cursor),
            "olm.channel" => self.channel(name, cursor),
            "olm.bundle" => self.bundle(name, cursor),
            "olm.deprecations" => {
                let entries = self
                    .members
                    .field("entries", cursor, |c| c.list(Cursor::record))?;
                Ok(BlobContent::Deprecations(entries))
            }
            guardrail::SCHEMA => Ok(BlobContent::Guardrails(
                cursor.rewritten(self.members.start)?.into(),
            )),
            "" => {
                cursor.note(Fault::MissingSchema);
                Ok(BlobContent::Other)
            }
            _ => Ok(BlobContent::Other),
        }
    }

    fn package(&mut self, cursor: &mut Cursor<'a>) -> CursorResult<BlobContent<'a>> {
        self.note_properties(cursor);
        let default_channel = self.members.field("defaultChannel", cursor, Cursor::text)?;
        self.members
            .field("description", cursor, Cursor::skip_text)?;
        let places = mem::take(&mut self.properties.guardrails).into_iter();
        let guardrails = places.map(|at| match at {
            Some(at) => Ok(cursor.rewritten(at)?.into()),
            None => Ok("null".into()),
        });
        let guardrails = guardrails.collect::<CursorResult<_>>()?;
        let other_guardrails = mem::take(&mut self.properties.other_guardrails);
        let _: Icon = self.members.field("icon", cursor, Cursor::record)?;
        Ok(BlobContent::Package(PackageBlob {
            default_channel,
            guardrails,
            other_guardrails: other_guardrails.into_iter().collect(),
        }))
    }

    fn channel(
        &mut self,
        name: Cow<'a, str>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<BlobContent<'a>> {
        self.note_properties(cursor);
        let entries = self
            .members
            .field("entries", cursor, |c| c.list(Cursor::record))?;
        Ok(BlobContent::Channel(ChannelBlob { name, entries }))
    }

    fn bundle(
        mut self,
        name: Cow<'a, str>,
        cursor: &mut Cursor<'a>,
    ) -> CursorResult<BlobContent<'a>> {
        self.note_properties(cursor);
        let image = self.members.field("image", cursor, Cursor::text)?;
        let _: Vec<RelatedImage> = self
            .members
            .field("relatedImages", cursor, |c| c.list(Cursor::record))?;
        self.properties.take_objects(cursor)?;
        let mut bundle = self.properties.facts;
        bundle.name = name;
        bundle.image = image;
        Ok(BlobContent::Bundle(bundle))
    }

    fn note_properties(&mut self, cursor: &mut Cursor<'a>) {
        if let Some(fault) = self.properties.take_fault() {
            cursor.note(fault);
        }
    }
}
