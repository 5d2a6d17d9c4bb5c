//! About references between blobs.

use super::{Words, names, q};
use crate::lint::image::ImageFault;
use olmguard_catalog::blob::Fault;
use olmguard_catalog::version::{ReleaseError, VersionError};

pub(in crate::lint) fn package_without_name() -> Words {
    Words::with(
        "the olm.package has no name; add a name".to_owned(),
        "config contains package with no name".to_owned(),
    )
}

pub(in crate::lint) fn duplicate_package(package: &str) -> Words {
    let package = q(package);
    Words::with(
        format!("package {package} is defined a second time; keep one definition"),
        format!("duplicate package {package}"),
    )
}

pub(in crate::lint) fn invalid_package_name(package: &str, faults: &[&str]) -> Words {
    let quoted = q(package);
    Words::with(
        format!(
            "package name {quoted} is not a valid RFC 1123 label; use lower-case letters, digits and inner \
             hyphens, at most 63 characters"
        ),
        format!("invalid package name {quoted}: [{}]", faults.join(" ")),
    )
}

/// What is wrong with a label of RFC 1123: it is too long.
pub(in crate::lint) const LABEL_LENGTH: &str = "must be no more than 63 characters";

/// What is wrong with a label of RFC 1123: it has dots, and would be a subdomain.
pub(in crate::lint) const LABEL_DOTS: &str = "must not contain dots";

/// What is wrong with a label of RFC 1123: its form.
pub(in crate::lint) const LABEL_FORM: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must \
     start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for \
     validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

pub(in crate::lint) fn channel_of_unknown_package(
    package: &str,
    channel: &str,
    nearest: Option<&str>,
) -> Words {
    let (package, channel) = (q(package), q(channel));
    Words::with(
        format!(
            "channel {channel} belongs to package {package}, which is not defined{}",
            meant(nearest)
        ),
        format!("unknown package {package} for channel {channel}"),
    )
}

fn meant(nearest: Option<&str>) -> String {
    match nearest {
        Some(name) => format!("; did you mean {}?", q(name)),
        None => "; add its olm.package".to_owned(),
    }
}

pub(in crate::lint) fn channel_without_name(package: &str, channel_key: Option<&str>) -> Words {
    let quoted = q(package);
    let fix = match channel_key {
        Some(name) => format!("rename the key \"channel\" to \"name\": name: {}", q(name)),
        None => "add a name".to_owned(),
    };
    Words::with(
        format!("a channel of package {quoted} has no name; {fix}"),
        format!("package {quoted} contains channel with no name"),
    )
}

pub(in crate::lint) fn duplicate_channel(package: &str, channel: &str) -> Words {
    let (package, channel) = (q(package), q(channel));
    Words::with(
        format!(
            "channel {channel} of package {package} is defined a second time; merge the entries"
        ),
        format!("package {package} has duplicate channel {channel}"),
    )
}

pub(in crate::lint) fn duplicate_entry(package: &str, channel: &str, entry: &str) -> Words {
    let (package, channel, entry) = (q(package), q(channel), q(entry));
    Words::with(
        format!("channel {channel} has a second entry {entry}; merge the two"),
        format!("invalid package {package}, channel {channel}: duplicate entry {entry}"),
    )
}

pub(in crate::lint) fn bundle_without_package(bundle: &str) -> Words {
    let bundle = q(bundle);
    Words::with(
        format!("bundle {bundle} has no package; add the package that it belongs to"),
        format!("package name must be set for bundle {bundle}"),
    )
}

pub(in crate::lint) fn bundle_of_unknown_package(
    package: &str,
    bundle: &str,
    nearest: Option<&str>,
) -> Words {
    let (package, bundle) = (q(package), q(bundle));
    Words::with(
        format!(
            "bundle {bundle} belongs to package {package}, which is not defined{}",
            meant(nearest)
        ),
        format!("unknown package {package} for bundle {bundle}"),
    )
}

pub(in crate::lint) fn duplicate_bundle(package: &str, bundle: &str) -> Words {
    let (package, bundle) = (q(package), q(bundle));
    Words::with(
        format!(
            "package {package} has a second bundle {bundle}; keep one, or give it another name"
        ),
        format!("package {package} has duplicate bundle {bundle}"),
    )
}

pub(in crate::lint) fn invalid_property(
    bundle: &str,
    index: usize,
    kind: &str,
    fault: &Fault,
) -> Words {
    let (bundle, kind) = (q(bundle), q(kind));
    let fault = olmguard_catalog::version::go::escape(&fault.to_string());
    Words::with(
        format!("bundle {bundle}: property {index} of type {kind} is not valid: {fault}"),
        format!("parse properties for bundle {bundle}: parse property[{index}] of type {kind}: "),
    )
}

pub(in crate::lint) fn package_property_count(package: &str, bundle: &str, found: usize) -> Words {
    let (package, bundle) = (q(package), q(bundle));
    Words::with(
        format!("bundle {bundle} has {found} properties of type \"olm.package\": expected one"),
        format!(
            "package {package} bundle {bundle} must have exactly 1 \"olm.package\" property, found \
             {found}"
        ),
    )
}

pub(in crate::lint) fn package_property_mismatch(
    package: &str,
    bundle: &str,
    property: &str,
) -> Words {
    let (package, bundle, property) = (q(package), q(bundle), q(property));
    Words::with(
        format!(
            "bundle {bundle} belongs to package {package}, but its \"olm.package\" property names \
             {property}; use the same name"
        ),
        format!("package {package} does not match \"olm.package\" property {property}"),
    )
}

pub(in crate::lint) fn invalid_image(
    package: &str,
    bundle: &str,
    related: Option<usize>,
    image: &str,
    fault: &ImageFault,
) -> Words {
    let (package, bundle, image) = (q(package), q(bundle), q(image));
    let field = match related {
        Some(index) => format!("relatedImages[{index}].image"),
        None => "image".to_owned(),
    };
    let fault = olmguard_catalog::version::go::escape(&fault.to_string());
    Words::with(
        format!("bundle {bundle}: {field} {image} cannot be pulled: {fault}"),
        format!(
            "package {package} bundle {bundle} {field}: invalid image pull spec {image}: {fault}"
        ),
    )
}

pub(in crate::lint) fn invalid_version(bundle: &str, version: &str, error: &VersionError) -> Words {
    let (bundle, quoted) = (q(bundle), q(version));
    let hint = match version.strip_prefix('v') {
        Some(rest) if !rest.is_empty() => "; remove the v",
        _ => "; expected MAJOR.MINOR.PATCH",
    };
    let text = olmguard_catalog::version::go::escape(&error.to_string()).replace("\\\"", "\"");
    Words::with(
        format!("bundle {bundle}: version {quoted} is not valid: {text}{hint}"),
        format!("error parsing bundle {bundle} version {quoted}: {error}"),
    )
}

pub(in crate::lint) fn invalid_release(bundle: &str, release: &str, error: &ReleaseError) -> Words {
    let (bundle, quoted) = (q(bundle), q(release));
    Words::with(
        format!(
            "bundle {bundle}: release {quoted} is not valid; use dot-separated letters, digits and \
             hyphens, at most 20 characters, and numbers without leading zeros"
        ),
        format!("error parsing bundle {bundle} release version {quoted}: {error}"),
    )
}

pub(in crate::lint) fn bundle_in_no_channel(package: &str, bundle: &str) -> Words {
    let (package, bundle) = (q(package), q(bundle));
    Words::with(
        format!(
            "bundle {bundle} of package {package} is in no channel; add an entry, or remove the bundle"
        ),
        format!("package {package}, bundle {bundle} not found in any channel entries"),
    )
}

pub(in crate::lint) fn entry_without_bundle(
    package: &str,
    channel: &str,
    entries: &[&str],
    is_last: bool,
) -> Words {
    let all = names(entries.iter().copied());
    let upstream = if is_last {
        format!(
            "no olm.bundle blobs found in package {} for olm.channel entries [{}]",
            q(package),
            entries.join(" ")
        )
    } else {
        "must be exactly one property with type \"olm.package\"".to_owned()
    };
    Words::with(
        format!(
            "channel {} has entries without a bundle: {all}; add the bundles, or remove the entries",
            q(channel)
        ),
        upstream,
    )
}

pub(in crate::lint) fn deprecation_without_package(index: usize) -> Words {
    Words::with(
        "the olm.deprecations has no package; add the package that it is about".to_owned(),
        format!("package name must be set for deprecation item {index}"),
    )
}

pub(in crate::lint) fn deprecation_of_unknown_package(
    package: &str,
    nearest: Option<&str>,
) -> Words {
    let package = q(package);
    Words::with(
        format!(
            "the olm.deprecations is about package {package}, which is not defined{}",
            meant(nearest)
        ),
        format!("cannot apply deprecations to an unknown package {package}"),
    )
}

pub(in crate::lint) fn duplicate_deprecations(package: &str) -> Words {
    let package = q(package);
    Words::with(
        format!("package {package} has a second olm.deprecations; merge their entries"),
        format!("expected a maximum of one deprecation per package: {package}"),
    )
}

pub(in crate::lint) fn deprecation_without_schema(package: &str, index: usize) -> Words {
    let package = q(package);
    Words::with(
        format!(
            "entry {index} of the deprecations of package {package} has no schema in its reference: \
             expected olm.package, olm.channel or olm.bundle"
        ),
        format!("schema must be set for deprecation entry [{index}] for package {package}"),
    )
}

pub(in crate::lint) fn duplicate_deprecation(package: &str, schema: &str, name: &str) -> Words {
    let (package, schema, name) = (q(package), q(schema), q(name));
    Words::with(
        format!(
            "{schema} {name} of package {package} is deprecated a second time; merge the messages"
        ),
        format!(
            "duplicate deprecation entry declcfg.PackageScopedReference{{Schema:{schema}, Name:{name}}} \
             for package {package}"
        ),
    )
}

pub(in crate::lint) fn deprecated_bundle_unknown(
    package: &str,
    name: &str,
    nearest: Option<&str>,
) -> Words {
    deprecated_unknown("bundle", package, name, nearest)
}

pub(in crate::lint) fn deprecated_channel_unknown(
    package: &str,
    name: &str,
    nearest: Option<&str>,
) -> Words {
    deprecated_unknown("channel", package, name, nearest)
}

fn deprecated_unknown(what: &str, package: &str, name: &str, nearest: Option<&str>) -> Words {
    let (package, name) = (q(package), q(name));
    let fix = match nearest {
        Some(nearest) => format!("did you mean {}?", q(nearest)),
        None => "remove the entry".to_owned(),
    };
    Words::with(
        format!("{what} {name} of package {package} is deprecated, but does not exist; {fix}"),
        format!("cannot deprecate {what} {name} for package {package}: {what} not found"),
    )
}

pub(in crate::lint) fn deprecated_package_named(package: &str, name: &str) -> Words {
    let (package, name) = (q(package), q(name));
    Words::with(
        format!("the deprecation of package {package} has the name {name}; remove the name"),
        format!("package name must be empty for deprecated package {package} (specified {name})"),
    )
}

pub(in crate::lint) fn deprecation_schema_unknown(
    package: &str,
    index: usize,
    schema: &str,
    name: &str,
) -> Words {
    let (package, schema, name) = (q(package), q(schema), q(name));
    Words::with(
        format!(
            "entry {index} of the deprecations of package {package} refers to {schema}: expected \
             olm.package, olm.channel or olm.bundle"
        ),
        format!(
            "cannot deprecate object declcfg.PackageScopedReference{{Schema:{schema}, Name:{name}}} \
             referenced by entry {index} for package {package}: object schema unknown"
        ),
    )
}
