//! Whether a CRD can replace the one in the cluster.
