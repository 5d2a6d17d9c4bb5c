//! Catalogs and bundles from files, as written.

use std::path::{Path, PathBuf};

use super::command::{GenerateError, Names};
use crate::source::each_file;
use olmguard_views::author::{BlobText, CatalogText, Shelf};

/// The catalog at a path.
pub(super) fn catalog(path: &Path) -> Result<CatalogText, GenerateError> {
    let mut written = CatalogText::default();
    read_into(path, &mut written)?;
    written.check_guardrails()?;
    Ok(written)
}

/// The blobs of several paths.
pub(super) fn blobs(paths: &[PathBuf]) -> Result<CatalogText, GenerateError> {
    let mut written = CatalogText::default();
    for path in paths {
        read_into(path, &mut written)?;
    }
    Ok(written)
}

/// The bundles of several paths, by image.
pub(super) fn shelf(paths: &[PathBuf]) -> Result<Shelf, GenerateError> {
    Ok(Shelf::of(&blobs(paths)?)?)
}

/// Standard input can be read once.
pub(super) fn check_stdin(path: &Path, bundles: &[PathBuf]) -> Result<(), GenerateError> {
    let paths = bundles.iter().map(|path| &**path).chain([path]);
    if paths.filter(|path| *path == Path::new("-")).count() > 1 {
        return Err(GenerateError::StdinTwice);
    }
    Ok(())
}

/// Checks that the catalog has a package.
pub(super) fn check_package(catalog: &CatalogText, package: &str) -> Result<(), GenerateError> {
    let names = || catalog.blobs().iter().map(BlobText::package);
    if names().any(|name| name == package) {
        return Ok(());
    }
    let found: std::collections::BTreeSet<_> = names().filter(|name| !name.is_empty()).collect();
    Err(GenerateError::NoPackage {
        package: package.to_owned(),
        found: Names(
            found
                .into_iter()
                .map(olmguard_catalog::version::go::quote)
                .collect(),
        ),
    })
}

fn read_into(path: &Path, written: &mut CatalogText) -> Result<(), GenerateError> {
    let mut read = Ok(());
    each_file(path, &mut |name, text| {
        if read.is_ok() {
            read = written.read(name, text);
        }
    })?;
    Ok(read?)
}
