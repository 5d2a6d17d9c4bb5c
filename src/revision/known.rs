//! Contents that are in memory already: an object with the same content need not be read.

use std::collections::HashMap;

use gix::ObjectId;
use gix::hash::Kind;
use gix::objs::{self, compute_hash};

/// Contents by the ids that git gives them.
#[derive(Debug, Default)]
pub(super) struct KnownContents<'k>(HashMap<ObjectId, &'k [u8]>);

impl<'k> KnownContents<'k> {
    /// These contents, in a repository with ids of this kind.
    pub(super) fn new(kind: Kind, contents: impl IntoIterator<Item = &'k [u8]>) -> Self {
        let contents = contents.into_iter();
        let with_id = contents.filter_map(|content| {
            let id = compute_hash(kind, objs::Kind::Blob, content).ok()?;
            Some((id, content))
        });
        Self(with_id.collect())
    }

    /// The content with this id, if it is known.
    pub(super) fn get(&self, id: ObjectId) -> Option<&'k [u8]> {
        self.0.get(&id).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_content_is_found_by_the_id_of_its_blob() {
        let known = KnownContents::new(Kind::Sha1, [&b"a\n"[..], b""]);
        let id = |hex: &str| ObjectId::from_hex(hex.as_bytes()).expect("an id");
        // git hash-object
        let of_a = id("78981922613b2afb6025042ff6bd878ac1994e85");
        assert_eq!(known.get(of_a), Some(&b"a\n"[..]));
        assert_eq!(known.get(ObjectId::empty_blob(Kind::Sha1)), Some(&b""[..]));
        assert_eq!(known.get(ObjectId::empty_tree(Kind::Sha1)), None);
    }
}
