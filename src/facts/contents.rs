//! The contents of bundle images, and the related objects of the cluster.

use std::collections::BTreeSet;

use super::cluster::{ClusterRequest, OpenCluster};
use super::{Fault, Reading};
use crate::bundle_files::{self, ManifestMemory};
use crate::cluster::bundle_objects::{ClusterObjectsError, MOST_OBJECTS, SoughtObjects};
use crate::cluster::images::{ReadBundle, ReadImage};
use crate::source::image::ImagePlace;
use crate::source::{FilesPlace, Progress};
use olmguard_catalog::memory::{Account, Loan};
use olmguard_engine::explain::PulledImage;
use olmguard_preflight::bundle::RegistryBundle;
use olmguard_preflight::content::{BundleContents, UnreadableBundle};

/// The contents to read.
pub(crate) struct ContentsRequest {
    /// The images of bundles to install.
    pub(crate) images: BTreeSet<PulledImage>,
    /// Whether images are pulled; otherwise only the cluster is read.
    pub(crate) pulls: bool,
    /// The images of the bundles that would be replaced. They provide the existing CRDs if there is no cluster, so a
    /// missing image is not an error.
    pub(crate) installed: BTreeSet<String>,
    /// The release 1.x of operator-controller.
    pub(crate) minor: u8,
    /// The cluster that the bundles are for.
    pub(crate) cluster: Option<ClusterRequest>,
}

impl ContentsRequest {
    /// Pulls the images that are not in the cache, and reads the cluster. Problems are returned as faults.
    pub(crate) fn read(&self, reading: Reading<'_>) -> (BundleContents, Vec<Fault>) {
        let images = self.images.iter().filter(|_| self.pulls);
        let images = images.map(|image| image.reference.clone());
        let (mut bundles, mut faults) = pulled(images.collect(), reading, Fault::Bundle);
        if self.cluster.is_none() && has_crds(&bundles) {
            let (installed, missing) =
                pulled(self.installed.clone(), reading, Fault::InstalledBundle);
            bundles.extend(installed);
            faults.extend(missing);
        }
        let contents = BundleContents::of(bundles);
        let is_asked = !self.images.is_empty();
        let Some(cluster) = self.cluster.as_ref().filter(|_| is_asked) else {
            return (contents, faults);
        };
        match compared(cluster, &contents, &self.sought(&contents), self.minor) {
            Ok((compared, error)) => {
                faults.extend(error.map(|error| Fault::Objects(error.to_string())));
                (compared, faults)
            }
            Err(why) => {
                faults.push(Fault::Objects(why));
                (contents, faults)
            }
        }
    }

    /// Returns the objects to look up in the cluster, in addition to the CRDs and kinds of these contents.
    fn sought(&self, contents: &BundleContents) -> SoughtObjects {
        let first = self.images.iter().filter_map(|image| {
            let namespace = image.first_in.as_ref()?;
            Some(contents.made_of(&image.reference, namespace))
        });
        let crds = self.images.iter().flat_map(|image| image.crds.iter());
        let needed = self.images.iter().flat_map(|image| &image.needs);
        let needed = needed.filter(|needed| needed.is_needed_by(self.minor));
        SoughtObjects {
            crds: crds.map(str::to_owned).collect(),
            made: first.flatten().take(MOST_OBJECTS + 1).collect(),
            needed: needed.cloned().collect(),
        }
    }
}

/// An image with its content.
type Pulled = (String, Result<RegistryBundle, UnreadableBundle>);

fn has_crds(bundles: &[Pulled]) -> bool {
    let bundles = bundles
        .iter()
        .filter_map(|(_, bundle)| bundle.as_ref().ok());
    bundles
        .map(RegistryBundle::crds)
        .any(|crds| !crds.is_empty())
}

/// Pulls these images. Returns their contents, and the faults of those that are unavailable.
fn pulled(
    images: BTreeSet<String>,
    reading: Reading<'_>,
    fault: fn(String) -> Fault,
) -> (Vec<Pulled>, Vec<Fault>) {
    let (mut bundles, mut faults) = (Vec::new(), Vec::new());
    for image in images {
        match bundle(&image, reading) {
            Ok(bundle) => bundles.push((image, bundle)),
            Err(why) => faults.push(fault(why)),
        }
    }
    (bundles, faults)
}

/// Compares the bundles with the cluster, and adds the facts about it.
fn compared(
    request: &ClusterRequest,
    contents: &BundleContents,
    sought: &SoughtObjects,
    minor: u8,
) -> Result<(BundleContents, Option<ClusterObjectsError>), String> {
    let cluster = OpenCluster::open(request).map_err(|error| error.to_string())?;
    let compared = cluster.bundle_objects(contents, sought, minor);
    compared.map_err(|error| error.to_string())
}

/// Reads the bundle in an image. The inner error is the reason why operator-controller cannot read it either.
fn bundle(
    image: &str,
    reading: Reading<'_>,
) -> Result<Result<RegistryBundle, UnreadableBundle>, String> {
    let progress = Progress::default();
    let read = || read(image, &progress, ManifestMemory::Unbounded);
    reading.wait(&progress, read).map(|(bundle, _)| bundle)
}

/// Reads images from registries, for a server.
#[derive(Debug)]
pub(crate) struct RegistryImages;

impl ReadImage for RegistryImages {
    fn read(&self, image: &str, memory: &Account) -> Result<ReadBundle, String> {
        read(image, &Progress::default(), ManifestMemory::Of(memory))
    }
}

fn read(
    image: &str,
    progress: &Progress,
    memory: ManifestMemory<'_>,
) -> Result<ReadBundle, String> {
    let place = ImagePlace::of_registry(image).map_err(|error| error.to_string())?;
    match bundle_files::read_within(&FilesPlace::Image(place), progress, memory) {
        Ok((bundle, loan)) => Ok((Ok(bundle), loan)),
        Err(error) if error.is_of_format() => {
            let unreadable = UnreadableBundle::new(&error.to_string());
            Ok((Err(unreadable), Loan::default()))
        }
        Err(error) => Err(error.to_string()),
    }
}
