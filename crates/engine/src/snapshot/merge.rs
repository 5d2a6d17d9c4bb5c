//! Catalogs of which a cluster, objects and users each say a part.

use std::mem;

use crate::snapshot::{CatalogState, Content, Currency};

/// The catalogs of a cluster or of a saved one, as `objects` describe them and with the contents that are given.
///
/// An object says which labels, priority and mode a catalog has; given content takes the place of what the cluster
/// holds. A catalog that only an object or only content names is one as well.
pub fn merge(
    mut cluster: Vec<CatalogState>,
    objects: Vec<CatalogState>,
    mut contents: Vec<(&str, Content)>,
) -> Vec<CatalogState> {
    replace(&mut cluster, &mut contents);
    describe(&mut cluster, objects);
    fill(&mut cluster, contents);
    cluster
}

/// Gives catalogs the contents of their names, and takes those from the list. What the cluster says about the
/// content that it holds is not true of another one.
fn replace(states: &mut [CatalogState], contents: &mut Vec<(&str, Content)>) {
    contents.retain_mut(|(name, content)| {
        let state = states.iter_mut().find(|state| state.name == *name);
        let is_new = state.is_none();
        if let Some(state) = state {
            state.content = mem::replace(content, Content::Missing);
            state.image_ref = None;
            state.last_unpacked = None;
            state.currency = Currency::Current;
        }
        is_new
    });
}

/// What an object says wrong about a catalog stays wrong, whatever its content is. An object that names another
/// digest than that of the content has newer content.
fn describe(states: &mut Vec<CatalogState>, objects: Vec<CatalogState>) {
    for object in objects {
        match states.iter_mut().find(|state| state.name == object.name) {
            None => states.push(object),
            Some(state) => {
                if differ(object.digest(), state.digest()) {
                    state.currency = Currency::Superseded;
                }
                state.labels = object.labels;
                state.priority = object.priority;
                state.availability = object.availability;
                if let Content::Unreadable(_) = object.content {
                    state.content = object.content;
                }
            }
        }
    }
}

/// Whether both are known, and not the same.
fn differ(one: Option<&str>, other: Option<&str>) -> bool {
    one.zip(other).is_some_and(|(one, other)| one != other)
}

/// Gives the catalogs that objects describe the contents of their names.
fn fill(states: &mut Vec<CatalogState>, contents: Vec<(&str, Content)>) {
    for (name, content) in contents {
        match states.iter_mut().find(|state| state.name == name) {
            None => states.push(CatalogState::named(name, content)),
            Some(state) if matches!(state.content, Content::Missing) => state.content = content,
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fetched(why: &str) -> Content {
        Content::Unfetched(why.to_owned())
    }

    fn state(name: &str, digest: &str, content: Content) -> CatalogState {
        CatalogState {
            image_ref: Some(format!("example.com/{name}@sha256:{digest}")),
            ..CatalogState::named(name, content)
        }
    }

    #[test]
    fn given_content_replaces_that_of_the_cluster_and_what_is_said_of_it() {
        let cluster = vec![state("hub", "1", fetched("cluster"))];
        let merged = merge(
            cluster,
            Vec::new(),
            vec![("hub", fetched("flag")), ("new", fetched("flag"))],
        );
        let found: Vec<_> = merged
            .iter()
            .map(|one| (&*one.name, one.content.fault(), one.digest()))
            .collect();
        assert_eq!(
            found,
            [("hub", Some("flag"), None), ("new", Some("flag"), None)]
        );
    }

    #[test]
    fn an_object_describes_and_supersedes_and_takes_content_it_lacks() {
        let cluster = vec![state("hub", "1", fetched("cluster"))];
        let mut hub = state("hub", "2", Content::Missing);
        hub.priority = 7;
        let bare = state("bare", "3", Content::Missing);
        let merged = merge(cluster, vec![hub, bare], vec![("bare", fetched("flag"))]);
        let found: Vec<_> = merged
            .iter()
            .map(|one| (&*one.name, one.priority, one.currency, one.content.fault()))
            .collect();
        let expected = [
            ("hub", 7, Currency::Superseded, Some("cluster")),
            ("bare", 0, Currency::Current, Some("flag")),
        ];
        assert_eq!(found, expected);
    }
}
