//! Stand-ins for parts of other projects: namespaces, and definitions that accept any object.

/// The namespaces of OLM: the usual ones, and those of OpenShift.
pub(crate) const NAMESPACES: &str = "\
apiVersion: v1
kind: Namespace
metadata: {name: olmv1-system}
---
apiVersion: v1
kind: Namespace
metadata: {name: openshift-operator-controller}
---
apiVersion: v1
kind: Namespace
metadata: {name: openshift-catalogd}
";

/// The kinds of cert-manager without their schemas, so their fields are not validated.
pub(crate) const CERT_MANAGER: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: certificates.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: Certificate, plural: certificates}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: issuers.cert-manager.io}
spec:
  group: cert-manager.io
  scope: Namespaced
  names: {kind: Issuer, plural: issuers}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
";
