//! Templates: small files that opm makes catalogs of.
//!
//! The key `schema` tells which kind it is. Bundles are named by image and come from a [`Shelf`].
//! Upstream: operator-registry, `alpha/template`.

pub mod semver;

use crate::author::blob::{BUNDLE, BlobText, GUARDRAILS, WrittenValue};
use crate::author::written::{CatalogText, Shelf, ShelfError, WrittenError};
use crate::author::{blob, forms};
use olmguard_catalog::base64;
use olmguard_catalog::fbc::{begins_with_brace, yaml};
use olmguard_catalog::version::{VersionError, go};

/// Reason why a template is not rendered. If opm has a text for it, the message begins with that text.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TemplateError {
    /// The template is neither YAML nor JSON, or an entry is not a blob.
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
        /// Package that the guardrails are about.
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
    /// The template has an unknown schema.
    #[error(
        "unknown template schema: {}; expected {}",
        go::escape(schema),
        known_schemas()
    )]
    UnknownSchema {
        /// Text that was found.
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
        /// Place, such as ` in stable.bundles[0]`.
        path: Box<str>,
        /// The keys there are.
        expected: &'static str,
    },
    /// A value of another type.
    #[error("{path}: expected {expected}, found {found}")]
    WrongType {
        /// Place of the value.
        path: Box<str>,
        /// Type that is expected.
        expected: &'static str,
        /// Type that was found.
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
        /// Text that was found.
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
        /// Number of these properties.
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
        /// Reason why the text is not a version.
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
        /// Version without its build metadata.
        without_build: Box<str>,
    },
}

/// The catalog that a template stands for; `file` is what faults call it.
///
/// # Errors
/// Whatever opm would refuse it for, and a bundle that the shelf does not have.
pub fn render(file: &str, text: &[u8], shelf: &Shelf) -> Result<CatalogText, TemplateError> {
    let TemplateDocument {
        template,
        guardrails,
    } = read(file, text)?;
    let written = match template.schema() {
        "" => Err(TemplateError::NoSchema),
        BASIC => match guardrails.first() {
            None => render_basic(file, &template, shelf),
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

// === `olm.template.basic`: blobs as they are, but for bundles, which are named by their image ===
//
// Upstream: operator-registry, [`alpha/template/basic/basic.go`]. A bundle may have a name there, which
// has no effect; the same holds here.
//
// [`alpha/template/basic/basic.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/template/basic/basic.go

/// The blobs of a template.
fn render_basic(
    file: &str,
    template: &BlobText,
    shelf: &Shelf,
) -> Result<CatalogText, TemplateError> {
    let entries = template.members().get("entries");
    let entries = entries.map(WrittenValue::items).unwrap_or_default().iter();
    let blobs = entries
        .enumerate()
        .map(|(index, entry)| blob(&format!("{file}: entries[{index}]"), entry));
    let blobs = blobs.collect::<Result<Vec<_>, _>>()?;
    let references = blobs
        .iter()
        .filter(|blob| blob.schema() == BUNDLE && is_reference(blob));
    shelf.check(references.map(|blob| blob.text("image")))?;
    let mut written = CatalogText::default();
    for (index, blob) in blobs.into_iter().enumerate() {
        match blob.schema() {
            BUNDLE if is_reference(&blob) => {
                written.push(shelf.bundle(blob.text("image"))?.clone());
            }
            BUNDLE => return Err(TemplateError::BundleFields { index }),
            _ => written.push(blob),
        }
    }
    Ok(written)
}

/// One entry as a blob of a catalog, with all that is checked of one.
fn blob(name: &str, entry: &WrittenValue) -> Result<BlobText, TemplateError> {
    let WrittenValue::Object(members) = entry else {
        return Err(TemplateError::WrongType {
            path: name.into(),
            expected: "an object with schema",
            found: entry.kind(),
        });
    };
    let mut text = String::new();
    forms::json(members, &mut text);
    CatalogText::default().read(name, text.as_bytes())?;
    Ok(BlobText::new(members.clone()))
}

fn is_reference(bundle: &BlobText) -> bool {
    let lists = ["properties", "relatedImages"].map(|key| bundle.members().get(key));
    let has_items = |list: &WrittenValue| !list.items().is_empty();
    !bundle.text("image").is_empty()
        && bundle.text("package").is_empty()
        && !lists.into_iter().flatten().any(has_items)
}

/// A template, and the guardrails in documents of the same text.
struct TemplateDocument {
    template: BlobText,
    guardrails: Vec<BlobText>,
}

/// Reads it.
///
/// Upstream takes the first document and does not look at others; a second one here is a fault, since
/// whoever wrote it means it. Guardrails are none of opm's, and have no place in some templates.
fn read(file: &str, text: &[u8]) -> Result<TemplateDocument, TemplateError> {
    let mut written = CatalogText::default();
    written.read(file, text)?;
    let is_guardrails = |blob: &BlobText| blob.schema() == GUARDRAILS;
    let (guardrails, mut others): (Vec<_>, Vec<_>) =
        written.into_blobs().into_iter().partition(is_guardrails);
    match (others.pop(), others.len()) {
        (Some(template), 0) => Ok(TemplateDocument {
            template,
            guardrails,
        }),
        (last, before) => Err(TemplateError::Documents {
            file: file.into(),
            found: before + usize::from(last.is_some()),
        }),
    }
}

// The `spec` of the `ClusterServiceVersion` that a bundle carries. A bundle straight from its image has it whole, in a property `olm.bundle.object`; one that was made
// smaller has of it what `olm.csv.metadata` keeps, which is no icon.

/// Spec of the CSV, if there is one that can be read.
fn of(bundle: &BlobText) -> Option<WrittenValue> {
    let mut objects = bundle.properties("olm.bundle.object");
    let whole = objects.find_map(|property| spec(&decode(property.text("data"))?));
    whole.or_else(|| bundle.properties("olm.csv.metadata").next().cloned())
}

/// A manifest, in YAML or JSON, out of its base64.
fn decode(data: &str) -> Option<WrittenValue> {
    let text = base64::decode(data.as_bytes())?;
    let json = if begins_with_brace(&text) {
        text
    } else {
        yaml::to_json(&text).ok()?
    };
    blob::parse(&json).ok()
}

fn spec(manifest: &WrittenValue) -> Option<WrittenValue> {
    let is_csv = manifest.text("kind") == "ClusterServiceVersion";
    manifest.get("spec").filter(|_| is_csv).cloned()
}

#[cfg(test)]
mod tests;
