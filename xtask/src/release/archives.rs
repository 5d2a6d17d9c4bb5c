//! The archives of a release: one for each processor, and the image in one file.

use super::ReleaseError;
use super::error::read;
use super::parts::Parts;
use crate::archive::{Archive, gzip};
use crate::build::Build;
use crate::image;
use crate::output::Files;
use crate::program::root;
use crate::report::say;

/// The archives by name.
pub(super) fn all(parts: &Parts) -> Result<Files, ReleaseError> {
    let archives = parts.builds.iter().map(|build| {
        let name = parts.name_for(build.target);
        let archive = of(parts, build, &name)?;
        Ok((format!("{name}.tar.gz"), archive))
    });
    archives.collect()
}

/// An archive. All its files are below one directory with the name of the archive.
fn of(parts: &Parts, build: &Build, name: &str) -> Result<Vec<u8>, ReleaseError> {
    let mut archive = Archive::new(parts.seconds);
    for file in ["LICENSE", "README.md"] {
        let content = read(&root().join(file))?;
        archive = archive.file(&format!("{name}/{file}"), 0o644, &content);
    }
    for (file, content) in &parts.pages {
        archive = archive.file(&format!("{name}/{file}"), 0o644, content);
    }
    let program = read(&build.program)?;
    let archive = archive.file(&format!("{name}/olmguard"), 0o755, &program);
    Ok(gzip(&archive.finish()))
}

/// The image. It is not compressed, because its layers are.
pub(super) fn image(parts: &Parts) -> Result<Vec<u8>, ReleaseError> {
    let (files, digest) = image::of_all(&parts.builds)?;
    say(format_args!("\nimage: {digest}"));
    let archive = Archive::new(parts.seconds);
    let archive = files.iter().fold(archive, |archive, (path, content)| {
        archive.file(path, 0o644, content)
    });
    Ok(archive.finish())
}
