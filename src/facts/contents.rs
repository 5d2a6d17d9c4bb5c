//! What is in the images of bundles, and the CRDs of the cluster that they would replace.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::cluster::{ClusterRequest, OpenCluster};
use super::{Fault, Reading};
use crate::bundle_files;
use crate::source::image::ImagePlace;
use crate::source::{FilesPlace, Progress};
use olmguard_preflight::bundle::RegistryBundle;
use olmguard_preflight::content::{BundleContents, UnreadableBundle};

/// Which contents are read.
pub(crate) struct ContentsRequest {
    /// The images of bundles, as catalogs refer to them.
    pub(crate) images: BTreeSet<String>,
    /// The cluster that the bundles are for.
    pub(crate) cluster: Option<ClusterRequest>,
}

impl ContentsRequest {
    /// Pulls the images that are not in the cache, and reads the cluster. What cannot be read is a fault.
    pub(crate) fn read(self, reading: Reading<'_>) -> (BundleContents, Vec<Fault>) {
        let read = self.images.into_iter().map(|image| {
            let bundle = bundle(&image, reading)?;
            Ok((image, bundle))
        });
        let (bundles, faults): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
        let contents = BundleContents::of(bundles.into_iter().flatten());
        let mut faults: Vec<Fault> = faults.into_iter().filter_map(Result::err).collect();
        let crds = self.cluster.map(|cluster| crds(&cluster, &contents));
        match crds.transpose() {
            Ok(None) => (contents, faults),
            Ok(Some(crds)) => (contents.with_crds(crds), faults),
            Err(fault) => {
                faults.push(fault);
                (contents, faults)
            }
        }
    }
}

/// The CRDs of the cluster that bundles have, too.
fn crds(
    request: &ClusterRequest,
    contents: &BundleContents,
) -> Result<BTreeMap<String, Value>, Fault> {
    let cluster = OpenCluster::open(request);
    let cluster = cluster.map_err(|error| Fault::Crds(error.to_string()))?;
    let crds = cluster.crds(&contents.crd_names());
    crds.map_err(|error| Fault::Crds(error.to_string()))
}

/// The bundle in an image, or why operator-controller reads none there.
fn bundle(
    image: &str,
    reading: Reading<'_>,
) -> Result<Result<RegistryBundle, UnreadableBundle>, Fault> {
    let place = ImagePlace::of_registry(image);
    let place = place.map_err(|error| Fault::Bundle(error.to_string()))?;
    let (place, progress) = (FilesPlace::Image(place), Progress::default());
    match reading.wait(&progress, || bundle_files::read(&place, &progress)) {
        Ok(bundle) => Ok(Ok(bundle)),
        Err(error) if error.is_of_format() => Ok(Err(UnreadableBundle(error.to_string()))),
        Err(error) => Err(Fault::Bundle(error.to_string())),
    }
}
