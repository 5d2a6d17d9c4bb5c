//! Templates: small files that opm makes catalogs of.
//!
//! The key `schema` tells which kind it is. Bundles are named by image and come from a [`Shelf`].
//! Upstream: operator-registry, `alpha/template`.

mod basic;
mod csv;
mod document;
pub mod semver;
#[cfg(test)]
mod tests;

use crate::author::shelf::{Shelf, ShelfError};
use crate::author::written::{CatalogText, WrittenError};
use document::Document;
use olmguard_catalog::version::{VersionError, go};

/// Why a template is not rendered. What opm has a text for, begins with it.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// It is neither YAML nor JSON, or an entry of it is no blob.
    #[error(transparent)]
    Written(#[from] WrittenError),
    /// There is nothing in it, or more than one document.
    #[error("{file}: expected one document, found {found}")]
    Documents {
        /// The file.
        file: Box<str>,
        /// How many there are.
        found: usize,
    },
    /// Guardrails stand beside a template that has a place for them.
    #[error(
        "guardrails of package {} stand beside the template: expected them among its entries",
        go::quote(package)
    )]
    GuardrailsBeside {
        /// The package that they are about.
        package: Box<str>,
    },
    /// There are several guardrails beside a template.
    #[error(
        "{found} documents with guardrails stand beside the template: expected one, of package {}",
        go::quote(package)
    )]
    SeveralGuardrails {
        /// How many there are.
        found: usize,
        /// The package of the template.
        package: Box<str>,
    },
    /// Guardrails beside a template are about another package.
    #[error(
        "the guardrails beside the template are about package {}: expected {}, the package of its bundles",
        go::quote(found),
        go::quote(package)
    )]
    ForeignGuardrails {
        /// What they are about.
        found: Box<str>,
        /// The package of the template.
        package: Box<str>,
    },
    /// Nothing says what it is.
    #[error(
        "template input missing required 'schema' field: expected {}",
        known_schemas()
    )]
    NoSchema,
    /// It is of a kind that nobody knows.
    #[error(
        "unknown template schema: {}; expected {}",
        go::escape(schema),
        known_schemas()
    )]
    UnknownSchema {
        /// What it says.
        schema: Box<str>,
    },
    /// A template of substitutions.
    #[error(
        "templates of schema {SUBSTITUTES:?} are not rendered: a substitution takes edges from bundles \
         that people may have installed, and which ones is not in the template; release the new bundle \
         with \"olmguard generate z-stream\" or \"generate promote\", which show who is left behind, or \
         render it with opm"
    )]
    Substitutes,
    /// A key that the schema does not have.
    #[error("json: unknown field {}{path}: expected {expected}", go::quote(key))]
    UnknownField {
        /// The key.
        key: Box<str>,
        /// Where it is, such as ` in stable.bundles[0]`.
        path: Box<str>,
        /// The keys there are.
        expected: &'static str,
    },
    /// A value of another type.
    #[error("{path}: expected {expected}, found {found}")]
    WrongType {
        /// Where it is.
        path: Box<str>,
        /// What its schema wants.
        expected: &'static str,
        /// What is there.
        found: &'static str,
    },
    /// An `olm.bundle` of a basic template that is more than a reference.
    #[error(
        "unexpected fields present in basic template bundle: entries[{index}]: expected schema and \
         image alone, the rest comes from the image"
    )]
    BundleFields {
        /// Which entry.
        index: usize,
    },
    /// A preference that does not exist.
    #[error(
        "unknown DefaultChannelTypePreference: {}; valid values are 'major' or 'minor'",
        go::quote(found)
    )]
    UnknownPreference {
        /// What it says.
        found: Box<str>,
    },
    /// A preference for channels that are not generated.
    #[error(
        "schema attribute mismatch: DefaultChannelTypePreference set to '{kind}' doesn't make sense if \
         not generating {kind}-version channels"
    )]
    IdlePreference {
        /// The kind.
        kind: &'static str,
    },
    /// No bundle at all.
    #[error("render: no bundles specified or no bundles could be rendered")]
    NoBundles,
    /// A bundle that is not at hand.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// A bundle with no package property, or several.
    #[error(
        "bundle {} has {found} \"olm.package\" properties, expected exactly 1",
        go::quote(bundle)
    )]
    PackageProperties {
        /// The bundle.
        bundle: Box<str>,
        /// How many it has.
        found: usize,
    },
    /// A bundle without a version that can be read.
    #[error(
        "bundle {} has invalid version {}: {source}",
        go::quote(bundle),
        go::quote(version)
    )]
    Version {
        /// The bundle.
        bundle: Box<str>,
        /// The version as written.
        version: Box<str>,
        /// Why it is none.
        source: VersionError,
    },
    /// Bundles of two packages.
    #[error(
        "bundle {} does not belong to this package: {}",
        go::quote(found),
        go::quote(package)
    )]
    ForeignPackage {
        /// The package of the bundle.
        found: Box<str>,
        /// The package of the bundles before it.
        package: Box<str>,
    },
    /// Two bundles of one name in one list.
    #[error(
        "duplicate bundle name {}: {list}.bundles has the images {} and {}; name each CSV with its version, such \
         as {}",
        go::quote(bundle),
        go::quote(&images.0),
        go::quote(&images.1),
        go::escape(versioned)
    )]
    DuplicateBundle {
        /// The bundle.
        bundle: Box<str>,
        /// The list that they are in.
        list: &'static str,
        /// The images of the two.
        images: (Box<str>, Box<str>),
        /// A name for the second.
        versioned: String,
    },
    /// One image twice in one list.
    #[error(
        "duplicate bundle name {}: {list}.bundles has the image {} twice; remove one",
        go::quote(bundle),
        go::quote(image)
    )]
    DuplicateImage {
        /// The bundle.
        bundle: Box<str>,
        /// The list that it is in.
        list: &'static str,
        /// The image.
        image: Box<str>,
    },
    /// Versions that no order tells apart.
    #[error(
        "encountered bundle versions which differ only by build metadata, which cannot be ordered: \
         bundle version {} cannot be compared to {}",
        go::quote(version),
        go::quote(without_build)
    )]
    OnlyBuildDiffers {
        /// The version as written.
        version: Box<str>,
        /// The same without its build metadata.
        without_build: Box<str>,
    },
}

/// The catalog that a template stands for; `file` is what faults call it.
///
/// # Errors
/// Whatever opm would refuse it for, and a bundle that the shelf does not have.
pub fn render(file: &str, text: &[u8], shelf: &Shelf) -> Result<CatalogText, TemplateError> {
    let Document {
        template,
        guardrails,
    } = document::read(file, text)?;
    let written = match template.schema() {
        "" => Err(TemplateError::NoSchema),
        BASIC => match guardrails.first() {
            None => basic::render(file, &template, shelf),
            Some(beside) => Err(TemplateError::GuardrailsBeside {
                package: beside.package().into(),
            }),
        },
        SEMVER => semver::render(&template, guardrails, shelf),
        SUBSTITUTES => Err(TemplateError::Substitutes),
        other => Err(TemplateError::UnknownSchema {
            schema: other.into(),
        }),
    }?;
    written.check_guardrails()?;
    Ok(written)
}

fn known_schemas() -> String {
    format!("{BASIC} or {SEMVER}")
}

const BASIC: &str = "olm.template.basic";
const SEMVER: &str = "olm.semver";
const SUBSTITUTES: &str = "olm.template.substitutes";
