//! Scalars as the parser gives them, typed.

use granit_parser::{ScalarStyle, Tag};

use super::fault::unreadable;
use crate::fbc::error::FbcErrorKind;
use crate::yaml_scalar::{self, Scalar, Style};

/// Whether the scalar `<<` merges: unquoted, or tagged so.
pub(super) fn is_merge(style: ScalarStyle, tag: Option<&Tag>) -> bool {
    match tag {
        None => style == ScalarStyle::Plain,
        Some(tag) => tag.suffix_in_namespace(CORE).as_deref() == Some("merge"),
    }
}

/// A tag such as `!word` as it is written: of the catalog's own, so that it means nothing.
pub(super) fn local_tag(tag: &Tag) -> Option<String> {
    let is_local = tag.handle() == "!" && !tag.suffix().is_empty();
    is_local.then(|| format!("!{}", tag.suffix()))
}

/// The type and value of a scalar.
pub(super) fn typed<'t>(
    text: &'t str,
    style: ScalarStyle,
    tag: Option<&Tag>,
) -> Result<Scalar<'t>, FbcErrorKind> {
    let style = match style {
        ScalarStyle::Plain => Style::Plain,
        _ => Style::Quoted,
    };
    let tag = match tag {
        None => yaml_scalar::Tag::None,
        Some(tag) => yaml_scalar::Tag::named(&[tag.handle(), tag.suffix()].concat()),
    };
    yaml_scalar::resolve(text, style, tag).map_err(|fault| unreadable(&fault))
}

const CORE: &str = "tag:yaml.org,2002:";
