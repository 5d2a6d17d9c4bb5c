//! The parts of an image reference: `[HOST[:PORT]/]PATH[:TAG][@DIGEST]`.

/// The tag, if there is one.
pub(super) fn tag(image: &str) -> Option<&str> {
    split(image).1
}

/// The last part of the path.
pub(super) fn name(image: &str) -> &str {
    let path = split(image).0;
    path.rsplit('/').next().unwrap_or(path)
}

fn split(image: &str) -> (&str, Option<&str>) {
    let named = image.split_once('@').map_or(image, |(named, _)| named);
    match named.rsplit_once(':') {
        // A colon before a slash is that of a port.
        Some((path, tag)) if !tag.contains('/') && !tag.is_empty() => (path, Some(tag)),
        _ => (named, None),
    }
}
