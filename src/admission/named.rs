//! Which object a request is about: by the object itself, and where that says nothing by the request.

use olmguard_engine::extension::{Identity, Json, RecognisedObject};

/// The object's names, and what it is by them.
///
/// Where it lacks `apiVersion` or `kind`, those of the request stand in for both.
pub(super) fn identify<'a, J: Json<'a>>(object: J, request: J) -> (Identity, RecognisedObject) {
    let own = Identity::read(object);
    let identity = if own.version.is_empty() || own.kind.is_empty() {
        Identity {
            name: own.name,
            generate_name: own.generate_name,
            ..asked(request)
        }
    } else {
        own
    };
    let recognised = identity.recognise(object);
    (identity, recognised)
}

/// The object as the request names it.
pub(super) fn asked<'a>(request: impl Json<'a>) -> Identity {
    let text = |key| {
        let kind = request.get("kind").and_then(|kind| kind.get(key));
        kind.and_then(Json::as_str).unwrap_or_default().to_owned()
    };
    Identity {
        group: text("group"),
        version: text("version"),
        kind: text("kind"),
        name: name(request),
        generate_name: None,
    }
}

/// The name that the request has; there is none where it is still to be made.
pub(super) fn name<'a>(request: impl Json<'a>) -> Option<String> {
    let name = request.get("name").and_then(Json::as_str)?;
    (!name.is_empty()).then(|| name.to_owned())
}
