//! The location of the programs of one module, whether they are built or not.

use std::fs;
use std::path::{Path, PathBuf};

use super::AssetsError;
use super::pins::Pins;
use super::table::{Module, Tool};

/// The directory `<assets>/<module>-<key>`.
pub(super) struct Home {
    pub(super) module: &'static Module,
    /// The flags with which its programs are built.
    pub(super) flags: Vec<String>,
    /// The name of the directory.
    pub(super) name: String,
    folder: PathBuf,
}

impl Home {
    pub(super) fn of(module: &'static Module, assets: &Path) -> Result<Self, AssetsError> {
        let pins = Pins::read(module)?;
        let name = format!("{}-{}", module.name, pins.key()?);
        Ok(Self {
            module,
            flags: pins.flags()?,
            folder: assets.join(&name),
            name,
        })
    }

    pub(super) fn bin(&self) -> PathBuf {
        self.folder.join("bin")
    }

    pub(super) fn crds(&self) -> PathBuf {
        self.folder.join("crds")
    }

    pub(super) fn is_whole(&self) -> bool {
        self.missing_tools().next().is_none() && self.missing_crds().next().is_none()
    }

    pub(super) fn missing_tools(&self) -> impl Iterator<Item = &'static Tool> {
        let tools = self.module.tools.iter();
        tools.filter(|tool| !self.bin().join(tool.program).is_file())
    }

    /// Paths in the upstream module, each with its file in this directory.
    pub(super) fn missing_crds(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let files = self.module.crds.iter().filter_map(|path| {
            let name = Path::new(path).file_name()?;
            Some((*path, self.crds().join(name)))
        });
        files.filter(|(_, file)| !file.is_file())
    }
}

/// Lets a caller write a file next to its place, and renames the file once it is complete.
pub(super) fn put(
    file: &Path,
    write: impl FnOnce(&Path) -> Result<(), AssetsError>,
) -> Result<(), AssetsError> {
    let part = file.with_added_extension("part");
    let failed = |source| AssetsError::File {
        path: file.to_owned(),
        source,
    };
    file.parent()
        .map_or(Ok(()), fs::create_dir_all)
        .map_err(failed)?;
    write(&part)?;
    fs::rename(&part, file).map_err(failed)
}
