//! The images of bundles that are read before an edit asks for them.

use prometheus::{IntCounter, IntGauge};

use crate::telemetry::metrics::register::{PerLabel, Register, label, whole};

label! {
    /// Whether an image is read.
    pub enum ImageState {
        /// The image is read, and its CRDs are compared with the current CRDs of the cluster.
        Read => "read",
        /// The image is not read yet, or must be read again because a CRD has changed.
        Unread => "unread",
        /// The image cannot be read for now.
        Failed => "failed",
    }
}

/// The images with `--pull`.
#[derive(Debug)]
pub struct ImageMetrics {
    images: PerLabel<ImageState, IntGauge>,
    failures: IntCounter,
}

impl ImageMetrics {
    pub(super) fn new(register: &Register<'_>) -> Self {
        Self {
            images: register.gauge_per("bundle_images", IMAGES, "state"),
            failures: register.counter("bundle_image_failures_total", FAILURES),
        }
    }

    /// So many images are in this state.
    pub fn count(&self, state: ImageState, images: usize) {
        self.images.of(state).set(whole(images));
    }

    /// An image could not be read, the extensions could not be listed, or the CRDs not be watched.
    pub fn failed(&self) {
        self.failures.inc();
    }
}

const IMAGES: &str = "Images of bundles that installed ClusterExtensions can be upgraded to, with --pull, by whether they are read; an edit to one that is not read is checked without its manifests and CRDs.";
const FAILURES: &str = "Failed attempts to read the image of a bundle, to list ClusterExtensions, or to watch CRDs, with --pull.";
