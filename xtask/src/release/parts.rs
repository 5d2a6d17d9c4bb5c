//! What a release is made of, before anything is packed.

use super::{ReleaseError, pages, sbom};
use crate::build::{Build, Package, Target};
use crate::output::Files;

pub(super) struct Parts {
    /// At least one.
    pub(super) builds: Vec<Build>,
    /// The date of every file in an archive, in seconds since 1970.
    pub(super) seconds: u64,
    /// Where users will find the files.
    pub(super) url: Option<String>,
    /// Completions and manual pages.
    pub(super) pages: Files,
    pub(super) sbom: Vec<u8>,
}

impl Parts {
    /// The program for this machine prints the pages; those for others have the same.
    pub(super) fn gather(
        builds: Vec<Build>,
        seconds: u64,
        url: Option<String>,
    ) -> Result<Self, ReleaseError> {
        let here = Target::here();
        let runs = builds.iter().find(|build| build.target == here);
        let runs = runs.ok_or_else(|| ReleaseError::NothingRuns(here.triple()))?;
        Ok(Self {
            seconds,
            url,
            pages: pages::of(&runs.program)?,
            sbom: sbom::of(runs)?,
            builds,
        })
    }

    pub(super) fn package(&self) -> &Package {
        let build = self.builds.first();
        &build.expect("the one that prints the pages").package
    }

    /// Such as `olmguard-0.1.0`, which every file but two begins with.
    pub(super) fn name(&self) -> String {
        let Package { name, version, .. } = self.package();
        format!("{name}-{version}")
    }

    /// Such as `olmguard-0.1.0-linux-amd64`.
    pub(super) fn name_for(&self, target: Target) -> String {
        let architecture = target.architecture();
        let architecture = architecture.expect("all that is delivered has a name");
        format!("{}-linux-{architecture}", self.name())
    }
}
