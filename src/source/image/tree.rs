//! The kept part of an image's file system, in memory, by names. Only the contents of files are on disk, in files with
//! generated names, and no link is ever created there. So a name in a layer never refers to anything outside.
//!
//! Upstream: opencontainers/image-spec v1.1, `layer.md` (whiteouts, opaque whiteouts, hard links). Unlike containerd,
//! olmguard refuses a layer that puts something below a symbolic link.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The directories of an image to read, each relative to its root. An empty path is the root.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct KeptFolders(pub(super) Vec<Box<str>>);

/// An entry in the file system of an image.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum TreeNode {
    /// A directory.
    Folder,
    /// A file, with the path of its content on disk.
    File(PathBuf),
    /// A symbolic link to this target.
    Link(Box<str>),
    /// A hard link to a file of a lower layer.
    SameAs(Box<str>),
}

/// The changes that a layer makes.
#[derive(Debug, Default)]
pub(super) struct LayerChanges {
    /// Names of lower layers to remove, with everything below them.
    pub(super) removed: BTreeSet<Box<str>>,
    /// Directories whose content in lower layers is removed.
    pub(super) emptied: BTreeSet<Box<str>>,
    /// The entries that the layer adds or replaces.
    pub(super) added: ImageTree,
}

/// The entries of a file system, by path.
///
/// Invariant: only a directory has entries below it. A directory can be implied by its entries.
#[derive(Debug, Default)]
pub(super) struct ImageTree(BTreeMap<Box<str>, TreeNode>);

/// Why the names of a layer are not those of a file system.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TreeFault {
    /// An entry is below another that is not a directory.
    #[error("{path:?} is below {above:?}, which is not a directory")]
    NotAFolder {
        /// The entry below.
        path: Box<str>,
        /// The link or the file above.
        above: Box<str>,
    },
    /// The target of a hard link does not exist, or is not kept.
    #[error(
        "{link:?} is a hard link to {target:?}, which is not a file in the same directory tree"
    )]
    HardLink {
        /// The link.
        link: Box<str>,
        /// Its target.
        target: Box<str>,
    },
    /// The target of a symbolic link does not exist, is not kept, or is not a file.
    #[error(
        "{link:?} is a symbolic link to {target:?}, which is not a file in the same directory tree"
    )]
    Link {
        /// The link.
        link: Box<str>,
        /// Its target.
        target: Box<str>,
    },
}

impl KeptFolders {
    /// Whether a path is one of the directories or below one.
    pub(super) fn contain(&self, path: &[u8]) -> bool {
        let mut folders = self.0.iter();
        folders.any(|folder| is_within(path, folder.as_bytes()))
    }

    /// Whether one of the directories is this path or below it, so that its removal affects what is kept.
    pub(super) fn are_below(&self, path: &[u8]) -> bool {
        let mut folders = self.0.iter();
        folders.any(|folder| is_within(folder.as_bytes(), path))
    }
}

/// Whether a path is a directory or below it.
fn is_within(path: &[u8], folder: &[u8]) -> bool {
    let rest = path.strip_prefix(folder);
    folder.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
}

impl ImageTree {
    /// Adds an entry, and replaces an earlier one.
    pub(super) fn insert(&mut self, path: Box<str>, node: TreeNode) -> Result<(), TreeFault> {
        if let Some(above) = self.blocked(&path) {
            let above = above.into();
            return Err(TreeFault::NotAFolder { path, above });
        }
        if node != TreeNode::Folder {
            self.empty(&path);
        }
        self.0.insert(path, node);
        Ok(())
    }

    /// Returns the first entry above a path that is not a directory.
    fn blocked<'p>(&self, path: &'p str) -> Option<&'p str> {
        let is_other = |node: &TreeNode| *node != TreeNode::Folder;
        above(path).find(|above| self.get(above).is_some_and(is_other))
    }

    /// The entry at a path.
    pub(super) fn get(&self, path: &str) -> Option<&TreeNode> {
        self.0.get(path)
    }

    /// The paths below a path.
    fn below(&self, path: &str) -> impl Iterator<Item = &str> {
        let prefix = if path.is_empty() {
            String::new()
        } else {
            format!("{path}/")
        };
        let start: Box<str> = prefix.as_str().into();
        let names = self.0.range(start..).map(|(name, _)| &**name);
        names.take_while(move |name| name.starts_with(&prefix))
    }

    fn empty(&mut self, path: &str) {
        let below: Vec<Box<str>> = self.below(path).map(Into::into).collect();
        for name in below {
            self.0.remove(&name);
        }
    }

    /// Applies the changes of a layer.
    pub(super) fn apply(&mut self, changes: LayerChanges) -> Result<(), TreeFault> {
        let LayerChanges {
            removed,
            emptied,
            added,
        } = changes;
        let added = added.0.into_iter();
        let added = added.map(|(path, node)| self.named_again(path, node));
        let added: Vec<_> = added.collect::<Result<_, _>>()?;
        for path in removed {
            self.empty(&path);
            self.0.remove(&path);
        }
        for path in emptied {
            self.empty(&path);
        }
        let mut added = added.into_iter();
        added.try_for_each(|(path, node)| self.insert(path, node))
    }

    /// Resolves a hard link to a file of a lower layer.
    fn named_again(
        &self,
        path: Box<str>,
        node: TreeNode,
    ) -> Result<(Box<str>, TreeNode), TreeFault> {
        let TreeNode::SameAs(target) = node else {
            return Ok((path, node));
        };
        match self.get(&target) {
            Some(same @ (TreeNode::File(_) | TreeNode::Link(_))) => Ok((path, same.clone())),
            _ => Err(TreeFault::HardLink { link: path, target }),
        }
    }

    /// Whether a path is a directory, perhaps implied by its entries.
    pub(super) fn is_folder(&self, path: &str) -> bool {
        self.get(path) == Some(&TreeNode::Folder) || self.below(path).next().is_some()
    }

    /// Returns the content of the file at a path, through at most as many symbolic links as Linux follows.
    fn content(&self, path: &str, steps: &mut usize) -> Option<&Path> {
        let mut ahead: Vec<&str> = parts(path);
        let (mut reached, mut links) = (Vec::new(), 0);
        while let Some(part) = ahead.pop() {
            *steps = steps.checked_sub(1)?;
            if part == ".." {
                // The parent of the root is the root.
                reached.pop();
                continue;
            }
            reached.push(part);
            let place = reached.join("/");
            if let Some(TreeNode::Link(target)) = self.get(&place) {
                links += 1;
                if links > LINKS {
                    return None;
                }
                reached.pop();
                if target.starts_with('/') {
                    reached.clear();
                }
                ahead.extend(parts(target));
            } else if !ahead.is_empty() && !self.is_folder(&place) {
                return None;
            }
        }
        match self.get(&reached.join("/")) {
            Some(TreeNode::File(content)) => Some(content),
            _ => None,
        }
    }

    /// Writes all entries below an empty directory of this program. A symbolic link becomes the file that it resolves
    /// to.
    pub(super) fn write(&self, to: &Path) -> Result<(), WriteFault> {
        let (mut written, mut steps) = (BTreeMap::new(), STEPS);
        for (path, node) in &self.0 {
            let place = to.join(&**path);
            let content = match node {
                TreeNode::Folder => {
                    folder(&place)?;
                    continue;
                }
                TreeNode::File(content) => content,
                TreeNode::Link(target) | TreeNode::SameAs(target) => self
                    .content(path, &mut steps)
                    .ok_or_else(|| TreeFault::Link {
                        link: path.clone(),
                        target: target.clone(),
                    })?,
            };
            folder(place.parent().unwrap_or(to))?;
            put(content, place, &mut written)?;
        }
        Ok(())
    }
}

/// Why a tree cannot be written to disk.
#[derive(Debug, thiserror::Error)]
pub enum WriteFault {
    /// An entry cannot be written.
    #[error(transparent)]
    ImageTree(#[from] TreeFault),
    /// An error of the operating system.
    #[error("cannot write its files: {0}")]
    Io(#[from] io::Error),
}

/// Moves the content of a file to its path, or creates a hard link if it has been moved already.
fn put<'c>(
    content: &'c Path,
    place: PathBuf,
    written: &mut BTreeMap<&'c Path, PathBuf>,
) -> io::Result<()> {
    match written.entry(content) {
        Entry::Occupied(first) => fs::hard_link(first.get(), place),
        Entry::Vacant(first) => {
            fs::rename(content, &place)?;
            first.insert(place);
            Ok(())
        }
    }
}

fn folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Returns the parts of a path, the first one last.
fn parts(path: &str) -> Vec<&str> {
    let parts = path.split('/').rev();
    parts.filter(|part| !matches!(*part, "" | ".")).collect()
}

/// Returns the directories above a path, the highest first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').filter_map(|(at, _)| path.get(..at))
}

/// The maximum number of parts of paths that are followed for all links of an image.
const STEPS: usize = 1_000_000;

/// The maximum number of links that Linux follows for one path.
const LINKS: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> TreeNode {
        TreeNode::File(name.into())
    }

    fn link(target: &str) -> TreeNode {
        TreeNode::Link(target.into())
    }

    fn tree(nodes: &[(&str, TreeNode)]) -> ImageTree {
        let mut tree = ImageTree::default();
        for (path, node) in nodes {
            tree.insert((*path).into(), node.clone()).unwrap();
        }
        tree
    }

    fn names(tree: &ImageTree) -> Vec<&str> {
        tree.0.keys().map(|name| &**name).collect()
    }

    fn layer(removed: &[&str], emptied: &[&str], added: &[(&str, TreeNode)]) -> LayerChanges {
        let set = |names: &[&str]| names.iter().map(|name| Box::from(*name)).collect();
        LayerChanges {
            removed: set(removed),
            emptied: set(emptied),
            added: tree(added),
        }
    }

    #[test]
    fn whiteouts_remove_what_lower_layers_had() {
        let lower = [
            ("c/a", file("1")),
            ("c/a.x", file("2")),
            ("c/d/e", file("3")),
            ("c/d/f", file("4")),
        ];
        for (changes, expected) in [
            (layer(&["c/a"], &[], &[]), vec!["c/a.x", "c/d/e", "c/d/f"]),
            (
                layer(&["c/d"], &[], &[("c/d/e", file("5"))]),
                vec!["c/a", "c/a.x", "c/d/e"],
            ),
            (layer(&[], &["c/d"], &[]), vec!["c/a", "c/a.x"]),
            (layer(&[], &["c"], &[("c/n", file("5"))]), vec!["c/n"]),
            (layer(&["c"], &[], &[]), vec![]),
            (
                layer(&[], &[], &[("c/d", file("5"))]),
                vec!["c/a", "c/a.x", "c/d"],
            ),
        ] {
            let mut whole = tree(&lower);
            whole.apply(changes).unwrap();
            assert_eq!(names(&whole), expected);
        }
    }

    #[test]
    fn hard_links_reach_lower_layers_and_nothing_else() {
        let mut whole = tree(&[("c/a", file("1"))]);
        let same = TreeNode::SameAs("c/a".into());
        whole.apply(layer(&["c/a"], &[], &[("c/b", same)])).unwrap();
        assert_eq!(
            (whole.get("c/a"), whole.get("c/b")),
            (None, Some(&file("1")))
        );
        let lost = layer(&[], &[], &[("c/d", TreeNode::SameAs("c/z".into()))]);
        let gone = whole.apply(lost);
        assert!(matches!(gone, Err(TreeFault::HardLink { .. })), "{gone:?}");
    }

    #[test]
    fn nothing_is_below_a_link() {
        let mut whole = tree(&[("c/l", link("d"))]);
        let through = whole.apply(layer(&[], &[], &[("c/l/x", file("1"))]));
        assert!(
            matches!(through, Err(TreeFault::NotAFolder { .. })),
            "{through:?}"
        );
        whole
            .apply(layer(&["c/l"], &[], &[("c/l/x", file("1"))]))
            .unwrap();
        assert_eq!(names(&whole), ["c/l/x"]);
    }

    #[test]
    fn a_symbolic_link_is_the_file_it_leads_to_or_a_fault() {
        let tree = tree(&[
            ("c/b", file("1")),
            ("c/d/e", file("2")),
            ("c/up", link("..")),
            ("c/one", link("two")),
            ("c/two", link("one")),
        ]);
        for (target, content) in [
            ("b", Some("1")),
            ("d/e", Some("2")),
            ("/c/b", Some("1")),
            ("../c/./d/../b", Some("1")),
            ("../../../c/b", Some("1")),
            ("up/c/b", Some("1")),
            ("up/up/up/etc/passwd", None),
            ("/etc/passwd", None),
            ("d", None),
            ("one", None),
            ("no/such/../../b", None),
            (&"d/../".repeat(50), None),
            ("", None),
        ] {
            let mut with = ImageTree(tree.0.clone());
            with.insert("c/l".into(), link(target)).unwrap();
            assert_eq!(
                with.content("c/l", &mut 100),
                content.map(Path::new),
                "{target}"
            );
        }
    }

    #[test]
    fn the_disk_has_files_and_directories_only() {
        let folder = tempfile::tempdir().unwrap();
        let content = folder.path().join("0");
        fs::write(&content, "text").unwrap();
        let node = TreeNode::File(content);
        let whole = tree(&[
            ("c/d/a", node.clone()),
            ("c/b", node),
            ("c/e", TreeNode::Folder),
            ("c/l", link("d/a")),
        ]);
        let to = folder.path().join("out");
        whole.write(&to).unwrap();
        for name in ["c/d/a", "c/b", "c/l"] {
            let place = to.join(name);
            assert!(place.symlink_metadata().unwrap().is_file());
            assert_eq!(fs::read_to_string(place).unwrap(), "text");
        }
        assert!(to.join("c/e").is_dir());
    }

    #[test]
    fn a_link_that_leads_out_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let whole = tree(&[("c/l", link("../../etc/passwd"))]);
        let error = whole.write(folder.path()).unwrap_err().to_string();
        let expected = "\"c/l\" is a symbolic link to \"../../etc/passwd\", which is not a file in the same \
                        directory tree";
        assert_eq!(error, expected);
    }
}
