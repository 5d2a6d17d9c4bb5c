//! Templates: small files from which opm generates catalogs.
//!
//! The key `schema` decides the kind of a template. Bundles are named by image and come from a [`Shelf`].
//! Upstream: operator-registry, `alpha/template`.

pub mod semver;

use crate::author::blob::{BUNDLE, BlobText, GUARDRAILS, WrittenValue};
use crate::author::written::{CatalogText, Shelf, ShelfError, WrittenError};
use crate::author::{blob, forms};
use olmguard_catalog::base64;
use olmguard_catalog::fbc::{begins_with_brace, yaml};
use olmguard_catalog::version::{VersionError, go};

/// The reason why a template is not rendered. If opm has a text for it, the message starts with that text.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
pub enum TemplateError {
    /// The template is neither YAML nor JSON, or an entry is not a blob.
    #[error(transparent)]
    Written(#[from] WrittenError),
    /// The file is empty, or has more than one document.
    #[error("{file}: expected one document, found {found}")]
    Documents {
        /// Name of the file.
        file: Box<str>,
        /// Number of documents.
        found: usize,
    },
    /// There are guardrails next to a template that can contain them.
    #[error(
        "guardrails of package {} stand beside the template: expected them among its entries",
        go::quote(package)
    )]
    GuardrailsBeside {
        /// Package of the guardrails.
        package: Box<str>,
    },
    /// There are several guardrails next to a template.
    #[error(
        "{found} documents with guardrails stand beside the template: expected one, of package {}",
        go::quote(package)
    )]
    SeveralGuardrails {
        /// Number of documents with guardrails.
        found: usize,
        /// Package of the template.
        package: Box<str>,
    },
    /// Guardrails next to a template are about another package.
    #[error(
        "the guardrails beside the template are about package {}: expected {}, the package of its bundles",
        go::quote(found),
        go::quote(package)
    )]
    ForeignGuardrails {
        /// Package of the guardrails.
        found: Box<str>,
        /// Package of the template.
        package: Box<str>,
    },
    /// The template has no schema.
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
        /// Schema that was found.
        schema: Box<str>,
    },
    /// The template contains substitutions.
    #[error(
        "templates of schema {SUBSTITUTES:?} are not rendered: a substitution takes edges from bundles \
         that people may have installed, and which ones is not in the template; release the new bundle \
         with \"olmguard generate z-stream\" or \"generate promote\", which show who is left behind, or \
         render it with opm"
    )]
    Substitutes,
    /// A key is not part of the schema.
    #[error("json: unknown field {}{path}: expected {expected}", go::quote(key))]
    UnknownField {
        /// The unknown key.
        key: Box<str>,
        /// Place, such as ` in stable.bundles[0]`.
        path: Box<str>,
        /// The known keys.
        expected: &'static str,
    },
    /// A value has another type.
    #[error("{path}: expected {expected}, found {found}")]
    WrongType {
        /// Place of the value.
        path: Box<str>,
        /// Expected type.
        expected: &'static str,
        /// Type that was found.
        found: &'static str,
    },
    /// An `olm.bundle` of a basic template is more than a reference.
    #[error(
        "unexpected fields present in basic template bundle: entries[{index}]: expected schema and \
         image alone, the rest comes from the image"
    )]
    BundleFields {
        /// Index of the entry.
        index: usize,
    },
    /// The preference is unknown.
    #[error(
        "unknown DefaultChannelTypePreference: {}; valid values are 'major' or 'minor'",
        go::quote(found)
    )]
    UnknownPreference {
        /// Preference that was found.
        found: Box<str>,
    },
    /// The preference is for channels that are not generated.
    #[error(
        "schema attribute mismatch: DefaultChannelTypePreference set to '{kind}' doesn't make sense if \
         not generating {kind}-version channels"
    )]
    IdlePreference {
        /// Preferred kind of channel.
        kind: &'static str,
    },
    /// There are no bundles.
    #[error("render: no bundles specified or no bundles could be rendered")]
    NoBundles,
    /// A bundle is not available.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// A bundle has no package property, or several.
    #[error(
        "bundle {} has {found} \"olm.package\" properties, expected exactly 1",
        go::quote(bundle)
    )]
    PackageProperties {
        /// Name of the bundle.
        bundle: Box<str>,
        /// Number of these properties.
        found: usize,
    },
    /// A bundle has no valid version.
    #[error(
        "bundle {} has invalid version {}: {source}",
        go::quote(bundle),
        go::quote(version)
    )]
    Version {
        /// Name of the bundle.
        bundle: Box<str>,
        /// Version as written.
        version: Box<str>,
        /// Reason why the version is not valid.
        source: VersionError,
    },
    /// Bundles belong to different packages.
    #[error(
        "bundle {} does not belong to this package: {}",
        go::quote(found),
        go::quote(package)
    )]
    ForeignPackage {
        /// Package of the bundle.
        found: Box<str>,
        /// Package of the previous bundles.
        package: Box<str>,
    },
    /// Two bundles in one list have the same name.
    #[error(
        "duplicate bundle name {}: {list}.bundles has the images {} and {}; name each CSV with its version, such \
         as {}",
        go::quote(bundle),
        go::quote(&images.0),
        go::quote(&images.1),
        go::escape(versioned)
    )]
    DuplicateBundle {
        /// Name of the bundle.
        bundle: Box<str>,
        /// Name of the list.
        list: &'static str,
        /// Images of the two bundles.
        images: (Box<str>, Box<str>),
        /// Suggested name for the second bundle.
        versioned: String,
    },
    /// An image occurs twice in one list.
    #[error(
        "duplicate bundle name {}: {list}.bundles has the image {} twice; remove one",
        go::quote(bundle),
        go::quote(image)
    )]
    DuplicateImage {
        /// Name of the bundle.
        bundle: Box<str>,
        /// Name of the list.
        list: &'static str,
        /// The image.
        image: Box<str>,
    },
    /// Two versions cannot be ordered.
    #[error(
        "encountered bundle versions which differ only by build metadata, which cannot be ordered: \
         bundle version {} cannot be compared to {}",
        go::quote(version),
        go::quote(without_build)
    )]
    OnlyBuildDiffers {
        /// Version as written.
        version: Box<str>,
        /// Version without its build metadata.
        without_build: Box<str>,
    },
}

/// Renders the catalog of a template. Errors call the file `file`.
///
/// # Errors
/// If opm would refuse the template, or the shelf does not have a bundle.
pub fn render(file: &str, text: &[u8], shelf: &Shelf) -> Result<CatalogText, TemplateError> {
    let (template, guardrails) = read(file, text)?;
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

// === `olm.template.basic`: blobs as written, except bundles, which are named by their image ===
//
// Upstream: operator-registry, [`alpha/template/basic/basic.go`]. As in upstream, the name of a bundle is allowed but
// has no effect.
//
// [`alpha/template/basic/basic.go`]: https://github.com/operator-framework/operator-registry/blob/v1.73.0/alpha/template/basic/basic.go

/// Renders a basic template.
fn render_basic(
    file: &str,
    template: &BlobText,
    shelf: &Shelf,
) -> Result<CatalogText, TemplateError> {
    let entries = template.members.get("entries");
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
                written
                    .blobs
                    .push(shelf.bundle(blob.text("image"))?.clone());
            }
            BUNDLE => return Err(TemplateError::BundleFields { index }),
            _ => written.blobs.push(blob),
        }
    }
    Ok(written)
}

/// Reads one entry as a blob of a catalog, with all checks of a blob.
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
    let lists = ["properties", "relatedImages"].map(|key| bundle.members.get(key));
    let has_items = |list: &WrittenValue| !list.items().is_empty();
    !bundle.text("image").is_empty()
        && bundle.text("package").is_empty()
        && !lists.into_iter().flatten().any(has_items)
}

/// Reads a template, and the guardrails from other documents of the same text.
///
/// Upstream takes the first document and ignores others. Here a second one is an error, because the author intended
/// it. opm does not know guardrails, and not all templates can contain them.
fn read(file: &str, text: &[u8]) -> Result<(BlobText, Vec<BlobText>), TemplateError> {
    let mut written = CatalogText::default();
    written.read(file, text)?;
    let is_guardrails = |blob: &BlobText| blob.schema() == GUARDRAILS;
    let (guardrails, mut others): (Vec<_>, Vec<_>) =
        written.blobs.into_iter().partition(is_guardrails);
    match (others.pop(), others.len()) {
        (Some(template), 0) => Ok((template, guardrails)),
        (last, before) => Err(TemplateError::Documents {
            file: file.into(),
            found: before + usize::from(last.is_some()),
        }),
    }
}

// The `spec` of a bundle's `ClusterServiceVersion`. A bundle straight from its image has the whole spec in a property
// `olm.bundle.object`. A reduced bundle only has the parts in `olm.csv.metadata`, which do not include the icon.

/// Returns the spec of the CSV, if it can be read.
fn of(bundle: &BlobText) -> Option<WrittenValue> {
    let mut objects = bundle.properties("olm.bundle.object");
    let whole = objects.find_map(|property| spec(&decode(property.text("data"))?));
    whole.or_else(|| bundle.properties("olm.csv.metadata").next().cloned())
}

/// Decodes a manifest in YAML or JSON from base64.
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
