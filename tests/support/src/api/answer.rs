//! The answers to requests.

use std::io;
use std::sync::Mutex;

use form_urlencoded::parse;
use futures_util::stream::poll_fn;
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Bytes;
use hyper::{Method, Request, Response, StatusCode};
use kube::client::Body;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::Instant;
use tower_test::mock::SendResponse;

use super::store::name;
use super::{Answer, Asked, Kind, State, Trouble, lock, prefix, status};

/// Answers one request, or makes it fail as scripted.
pub(super) async fn answer(
    state: &Mutex<State>,
    request: Request<Body>,
    reply: SendResponse<Answer>,
) {
    let (parts, body) = request.into_parts();
    let query = parts.uri.query().unwrap_or_default().as_bytes();
    let asked = Asked {
        method: parts.method,
        path: parts.uri.path().to_owned(),
        query: parse(query).into_owned().collect(),
        body: body.collect_bytes().await.expect("a body in memory"),
        at: Instant::now(),
    };
    let mut state = lock(state);
    state.asked.push(asked.clone());
    let trouble = state.troubles.iter().rev().find(|(when, _)| when(&asked));
    match trouble.map(|(_, trouble)| *trouble) {
        Some(Trouble::Status(code)) => reply.send_response(refuse(code, "as the test says")),
        Some(Trouble::Refused) => {
            reply.send_error(io::Error::from(io::ErrorKind::ConnectionRefused));
        }
        Some(Trouble::Empty) => reply.send_response(respond(StatusCode::OK, "")),
        Some(Trouble::Silent) => state.silent.push(reply),
        None => reply.send_response(state.answer(&asked)),
    }
}

/// The target of a path.
enum Target {
    Collection(String),
    Object(String, String),
    Resources(String),
    Nothing,
}

impl State {
    fn answer(&mut self, asked: &Asked) -> Answer {
        let route = self.routes.iter().rfind(|(path, ..)| *path == asked.path);
        if let Some((_, code, body)) = route {
            return respond(*code, body.clone());
        }
        match (self.target(&asked.path), asked.method.as_str()) {
            (Target::Resources(group_version), _) => self.resources(&group_version),
            (Target::Collection(path), "GET") if asked.is_watch() => self.watch(&path, asked),
            (Target::Collection(path), "GET") => self.list(&path, asked),
            (Target::Collection(path), "POST") => self.create(&path, &asked.body),
            (Target::Object(path, name), "GET") => match self.store.get(&path, &name) {
                Some(object) => json_answer(StatusCode::OK, object),
                None => not_found(&name),
            },
            (Target::Object(path, name), "PATCH")
                if asked.creates() && self.store.get(&path, &name).is_none() =>
            {
                self.create(&path, &asked.body)
            }
            (Target::Object(path, name), "PUT" | "PATCH") => {
                self.update(&path, &name, &asked.method, &asked.body)
            }
            (Target::Object(path, name), "DELETE") => match self.store.delete(&path, &name) {
                Some(object) => json_answer(StatusCode::OK, &object),
                None => not_found(&name),
            },
            (Target::Nothing, _) => respond(StatusCode::NOT_FOUND, "404 page not found\n"),
            (_, method) => refuse(StatusCode::METHOD_NOT_ALLOWED, method),
        }
    }

    fn target(&self, path: &str) -> Target {
        for kind in &self.kinds {
            let prefix = prefix(&kind.group_version);
            let Some(rest) = path.strip_prefix(&prefix) else {
                if format!("{path}/") == prefix {
                    return Target::Resources(kind.group_version.clone());
                }
                continue;
            };
            let plural = kind.plural.as_str();
            match rest.split('/').collect::<Vec<_>>()[..] {
                [found] | ["namespaces", _, found] if found == plural => {
                    return Target::Collection(path.to_owned());
                }
                [found, name] | ["namespaces", _, found, name] if found == plural => {
                    let collection = path.strip_suffix(&format!("/{name}")).unwrap_or(path);
                    return Target::Object(collection.to_owned(), name.to_owned());
                }
                [found, name, "status"] if found == plural => {
                    let collection = path.strip_suffix(&format!("/{name}/status"));
                    let collection = collection.unwrap_or(path);
                    return Target::Object(collection.to_owned(), name.to_owned());
                }
                _ => {}
            }
        }
        Target::Nothing
    }

    fn resources(&self, group_version: &str) -> Answer {
        let is_of = |kind: &&Kind| kind.group_version == group_version;
        let resource = |kind: &Kind| {
            json!({
                "name": kind.plural, "singularName": "", "namespaced": kind.is_namespaced, "kind": kind.name,
                "verbs": ["get", "list", "watch"],
            })
        };
        let resources: Vec<_> = self.kinds.iter().filter(is_of).map(resource).collect();
        let list = json!({
            "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version,
            "resources": resources,
        });
        json_answer(StatusCode::OK, &list)
    }

    /// Returns a page of objects. Its continue token is the number of objects before the next page.
    fn list(&self, path: &str, asked: &Asked) -> Answer {
        let number = |name| asked.param(name).and_then(|text| text.parse().ok());
        let (skip, limit) = (number("continue").unwrap_or(0), number("limit"));
        let only = only(asked);
        let mut objects = self.store.list(path);
        objects.retain(|object| only.as_ref().is_none_or(|only| *only == name(object)));
        let after = skip + limit.unwrap_or(usize::MAX - skip);
        let mut metadata = json!({"resourceVersion": self.store.revision().to_string()});
        if objects.len() > after {
            metadata["continue"] = json!(after.to_string());
        }
        let page: Vec<_> = objects.into_iter().take(after).skip(skip).collect();
        let list = json!({"kind": "List", "apiVersion": "v1", "metadata": metadata, "items": page});
        json_answer(StatusCode::OK, &list)
    }

    fn watch(&mut self, path: &str, asked: &Asked) -> Answer {
        let from = asked.param("resourceVersion");
        let from = from.and_then(|text| text.parse().ok()).unwrap_or(0);
        let (pieces, mut receiver) = unbounded_channel();
        self.store.watch(path, only(asked), from, pieces);
        let pieces = poll_fn(move |context| receiver.poll_recv(context));
        Response::new(StreamBody::new(pieces).boxed_unsync())
    }

    fn create(&mut self, path: &str, body: &Bytes) -> Answer {
        let object: Value = serde_json::from_slice(body).expect("a client sends JSON");
        let name = name(&object);
        if self.store.get(path, &name).is_some() {
            return refuse(StatusCode::CONFLICT, &format!("{name:?} already exists"));
        }
        json_answer(StatusCode::CREATED, &self.store.put(path, object))
    }

    fn update(&mut self, path: &str, name: &str, method: &Method, body: &Bytes) -> Answer {
        let Some(stored) = self.store.get(path, name) else {
            return not_found(name);
        };
        let sent: Value = serde_json::from_slice(body).expect("a client sends JSON");
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        if !version(&sent).is_null() && version(&sent) != version(stored) {
            return refuse(StatusCode::CONFLICT, "the object has been modified");
        }
        let object = match (method, sent) {
            (&Method::PATCH, steps @ Value::Array(_)) => match stepped(stored.clone(), steps) {
                Ok(object) => object,
                Err(error) => return refuse(StatusCode::UNPROCESSABLE_ENTITY, &error.to_string()),
            },
            (&Method::PATCH, part) => merged(stored.clone(), part),
            (_, whole) => whole,
        };
        json_answer(StatusCode::OK, &self.store.put(path, object))
    }
}

/// Returns the only name that a field selector matches.
fn only(asked: &Asked) -> Option<String> {
    let selector = asked.param("fieldSelector")?;
    selector.strip_prefix("metadata.name=").map(str::to_owned)
}

/// Applies a JSON patch (RFC 6902), the only kind of patch that is a list.
fn stepped(mut target: Value, steps: Value) -> Result<Value, json_patch::PatchError> {
    let steps: json_patch::Patch = serde_json::from_value(steps).expect("a client sends steps");
    json_patch::patch(&mut target, &steps).map(|()| target)
}

/// Applies a merge patch (RFC 7386).
fn merged(target: Value, patch: Value) -> Value {
    let Value::Object(patch) = patch else {
        return patch;
    };
    let mut target = match target {
        Value::Object(target) => target,
        _ => Map::new(),
    };
    for (key, value) in patch {
        if value.is_null() {
            target.remove(&key);
        } else {
            let old = target.remove(&key).unwrap_or_default();
            target.insert(key, merged(old, value));
        }
    }
    Value::Object(target)
}

fn not_found(name: &str) -> Answer {
    refuse(StatusCode::NOT_FOUND, &format!("{name:?} not found"))
}

fn refuse(code: StatusCode, message: &str) -> Answer {
    json_answer(code, &status(code, message))
}

fn json_answer(code: StatusCode, value: &Value) -> Answer {
    respond(code, value.to_string())
}

fn respond(code: StatusCode, body: impl Into<Bytes>) -> Answer {
    let body = Full::new(body.into()).map_err(|never| match never {});
    let mut response = Response::new(body.boxed_unsync());
    *response.status_mut() = code;
    response
}
