//! Which tokens a text of OLM's, or of the API server before it, is about.
//!
//! Upstream: operator-controller, [`internal/operator-controller/resolve/catalog.go`]; what each token's
//! text is made of stands in `olmguard_engine::explain::upstream`.
//!
//! [`internal/operator-controller/resolve/catalog.go`]: https://github.com/operator-framework/operator-controller/blob/v1.11.0/internal/operator-controller/resolve/catalog.go

use olmguard_engine::judge::Token;

/// In the order of the table; empty where the text is none of theirs.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let row = TEXTS.iter().find(|(part, _)| text.contains(part));
    let Some((_, tokens)) = row else {
        return Vec::new();
    };
    let fits = |token: &&Token| match token {
        Token::NotASuccessor | Token::Downgrade => text.contains(UPGRADE),
        Token::NotInChannel | Token::ChannelNotFound => text.contains(CHANNELS),
        _ => true,
    };
    let fitting: Vec<_> = tokens.iter().filter(fits).copied().collect();
    // A part of the text alone does not tell what stood around it.
    if text.contains(WHOLE) {
        fitting
    } else {
        tokens.to_vec()
    }
}

/// A part that no other of these texts has, and what it is said of. The first that is there counts.
const TEXTS: &[(&str, &[Token])] = &[
    ("in multiple catalogs", &[Token::AmbiguousCatalogs]),
    (
        "no bundles found for package",
        &[
            Token::NotASuccessor,
            Token::Downgrade,
            Token::VersionNotFound,
            Token::NotInChannel,
            Token::ChannelNotFound,
            Token::PackageNotFound,
            Token::NoCatalogs,
        ],
    ),
    (
        "desired catalog selector is invalid",
        &[Token::InvalidSelector],
    ),
    ("desired version range", &[Token::InvalidVersionRange]),
    (
        "error finding upgrade edges",
        &[Token::InstalledVersionInvalid],
    ),
    ("error getting package", &[Token::CatalogNotLoaded]),
    ("is not being served", &[Token::CatalogNotLoaded]),
    (
        "error getting resolved bundle version",
        &[Token::BundleVersionInvalid],
    ),
    (
        "which is currently not supported",
        &[Token::UnsupportedDependency],
    ),
    (
        "retrying to get installed bundle",
        &[Token::InstalledUnknown],
    ),
    ("invalid version expression", &[Token::InvalidSpec]),
];

/// Said of whatever is installed.
const UPGRADE: &str = "error upgrading from currently installed version";

/// Said where channels are asked for.
const CHANNELS: &str = " in channels [";

/// What a text says that names a package.
const WHOLE: &str = "no bundles found for package \"";
