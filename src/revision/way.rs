//! The way to a path of a tree. Links on it are followed as the system would, by what they hold in the tree;
//! one at its end is left as it is.

use gix::bstr::ByteSlice;
use gix::objs::tree::EntryKind;

use super::budget::Budget;
use super::error::FileError;
use super::tree::{Tree, TreeEntry};

/// What is at a path.
#[derive(Clone, Debug)]
pub(super) struct PathTarget {
    pub(super) entry: TreeEntry,
    /// Where it is, links followed.
    pub(super) path: Vec<u8>,
}

/// The way as far as it was gone.
struct WalkedPath<'t> {
    tree: &'t Tree,
    /// What was entered, the last one last.
    gone: Vec<TreeEntry>,
    /// The parts that are left, the next one last.
    rest: Vec<Vec<u8>>,
    hops: usize,
}

/// What is at this path; nothing where it leads out of the tree, or nowhere.
pub(super) fn look_up(
    tree: &Tree,
    path: &[u8],
    budget: &mut Budget,
) -> Result<Option<PathTarget>, FileError> {
    let mut way = WalkedPath {
        tree,
        gone: Vec::new(),
        rest: Vec::new(),
        hops: 0,
    };
    if !way.take_up(path) {
        return Ok(None);
    }
    while let Some(name) = way.rest.pop() {
        let goes_on = match &*name {
            b".." => way.gone.pop().is_some(),
            name => way.enter(name, budget)?,
        };
        if !goes_on {
            return Ok(None);
        }
    }
    way.found().map(Some)
}

impl WalkedPath<'_> {
    /// Puts the parts of a path before what is left, if it leads on from here.
    fn take_up(&mut self, path: &[u8]) -> bool {
        let parts = path.split(|byte| *byte == b'/').rev();
        let parts = parts.filter(|part| !part.is_empty() && *part != b".");
        self.rest.extend(parts.map(<[u8]>::to_vec));
        !path.starts_with(b"/") && path.len() <= MOST_BYTES
    }

    /// Goes on to this name; says whether anything is there.
    fn enter(&mut self, name: &[u8], budget: &mut Budget) -> Result<bool, FileError> {
        let folder = self.last();
        match folder.kind {
            EntryKind::Tree => {}
            EntryKind::Commit => return Err(self.within_submodule()),
            _ => return Ok(false),
        }
        budget.take(1)?;
        let Some(entry) = self.tree.look_in(folder.id, name, budget)? else {
            return Ok(false);
        };
        if entry.kind == EntryKind::Link && !self.rest.is_empty() {
            return self.follow(&entry, budget);
        }
        self.gone.push(entry);
        Ok(true)
    }

    fn follow(&mut self, link: &TreeEntry, budget: &mut Budget) -> Result<bool, FileError> {
        self.hops += 1;
        if self.hops > MOST_HOPS {
            return Ok(false);
        }
        budget.take(COST_OF_LINK)?;
        let target = self.tree.file(link.id, budget)?;
        Ok(self.take_up(&target))
    }

    fn last(&self) -> TreeEntry {
        self.gone.last().cloned().unwrap_or_else(|| self.tree.top())
    }

    fn path(&self) -> Vec<u8> {
        let names: Vec<&[u8]> = self.gone.iter().map(|entry| &*entry.name).collect();
        names.join(&b'/')
    }

    fn within_submodule(&self) -> FileError {
        FileError::WithinSubmodule {
            path: self.path().to_str_lossy().into_owned(),
        }
    }

    fn found(&self) -> Result<PathTarget, FileError> {
        let (entry, path) = (self.last(), self.path());
        if path.len() > MOST_BYTES {
            return Err(FileError::TooDeep { limit: MOST_BYTES });
        }
        Ok(PathTarget { entry, path })
    }
}

/// The path that the content of a link stands for, if it may lead to something in the tree.
pub(super) fn beside(link: &[u8], target: &[u8]) -> Option<Vec<u8>> {
    if target.starts_with(b"/") || target.len() > MOST_BYTES {
        return None;
    }
    let folder = link.rfind_byte(b'/').and_then(|end| link.get(..=end));
    Some([folder.unwrap_or_default(), target].concat())
}

/// The most bytes of a path: longer ones no system checks out.
pub(super) const MOST_BYTES: usize = 4096;

/// What it costs to follow a link, in entries: its target is an object of its own, which is slow to read.
pub(super) const COST_OF_LINK: u64 = 10;

/// How many links are followed on one way, as by Linux.
const MOST_HOPS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_link_holds_counts_from_its_folder() {
        for (link, target, expected) in [
            ("a/b/c", "d", Some("a/b/d")),
            ("a/b/c", "../d/./e", Some("a/b/../d/./e")),
            ("c", "d//e/", Some("d//e/")),
            ("c", "..", Some("..")),
            ("c", "/etc/passwd", None),
        ] {
            let path = beside(link.as_bytes(), target.as_bytes());
            let expected = expected.map(str::as_bytes);
            assert_eq!(path.as_deref(), expected, "{link} -> {target}");
        }
        assert_eq!(beside(b"c", &[b'd'; MOST_BYTES + 1]), None);
    }
}
