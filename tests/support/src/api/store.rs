//! Objects with their versions, and the watches that receive each change.

use std::collections::BTreeMap;
use std::io;

use hyper::body::{Bytes, Frame};
use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;

/// Objects by the path of their collection, then by name.
#[derive(Default)]
pub(super) struct Store {
    revision: u64,
    compacted: u64,
    objects: BTreeMap<String, BTreeMap<String, Value>>,
    history: Vec<Change>,
    watches: Vec<Watch>,
}

/// A piece of the body of a watch.
pub(super) type Piece = Result<Frame<Bytes>, io::Error>;

struct Change {
    revision: u64,
    collection: String,
    kind: &'static str,
    object: Value,
}

struct Watch {
    collection: String,
    name: Option<String>,
    pieces: UnboundedSender<Piece>,
}

impl Store {
    pub(super) fn revision(&self) -> u64 {
        self.revision
    }

    pub(super) fn get(&self, collection: &str, name: &str) -> Option<&Value> {
        self.objects.get(collection)?.get(name)
    }

    pub(super) fn list(&self, collection: &str) -> Vec<Value> {
        let objects = self.objects.get(collection).into_iter().flatten();
        objects.map(|(_, object)| object.clone()).collect()
    }

    pub(super) fn put(&mut self, collection: &str, mut object: Value) -> Value {
        self.revision += 1;
        object["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        let name = name(&object);
        let objects = self.objects.entry(collection.to_owned()).or_default();
        let kind = match objects.insert(name, object.clone()) {
            Some(_) => "MODIFIED",
            None => "ADDED",
        };
        self.tell(collection, kind, object.clone());
        object
    }

    pub(super) fn delete(&mut self, collection: &str, name: &str) -> Option<Value> {
        let mut object = self.objects.get_mut(collection)?.remove(name)?;
        self.revision += 1;
        object["metadata"]["resourceVersion"] = json!(self.revision.to_string());
        self.tell(collection, "DELETED", object.clone());
        Some(object)
    }

    pub(super) fn forget(&mut self, gone: impl Fn(&str) -> bool) {
        self.objects.retain(|collection, _| !gone(collection));
        self.history.retain(|change| !gone(&change.collection));
        self.watches.retain(|watch| !gone(&watch.collection));
    }

    /// Opens a watch for the changes after `from`.
    pub(super) fn watch(
        &mut self,
        collection: &str,
        name: Option<String>,
        from: u64,
        pieces: UnboundedSender<Piece>,
    ) {
        let watch = Watch {
            collection: collection.to_owned(),
            name,
            pieces,
        };
        if from < self.compacted {
            let gone = super::error_line(hyper::StatusCode::GONE, "too old resource version");
            watch.line(&gone);
            return;
        }
        for change in self.history.iter().filter(|change| change.revision > from) {
            watch.tell(change);
        }
        self.watches.push(watch);
    }

    pub(super) fn end_watches(&mut self) {
        self.watches.clear();
    }

    pub(super) fn break_watches(&mut self) {
        for watch in self.watches.drain(..) {
            let reset = io::Error::from(io::ErrorKind::ConnectionReset);
            drop(watch.pieces.send(Err(reset)));
        }
    }

    pub(super) fn send(&mut self, line: &str) {
        for watch in &self.watches {
            watch.line(line);
        }
    }

    pub(super) fn bookmark(&mut self) {
        let revision = self.revision.to_string();
        let object =
            json!({"kind": "Any", "apiVersion": "v1", "metadata": {"resourceVersion": revision}});
        self.send(&json!({"type": "BOOKMARK", "object": object}).to_string());
    }

    pub(super) fn compact(&mut self) {
        self.revision += 1;
        self.compacted = self.revision;
        self.history.clear();
    }

    pub(super) fn watches(&mut self) -> usize {
        self.watches.retain(|watch| !watch.pieces.is_closed());
        self.watches.len()
    }

    fn tell(&mut self, collection: &str, kind: &'static str, object: Value) {
        let change = Change {
            revision: self.revision,
            collection: collection.to_owned(),
            kind,
            object,
        };
        for watch in &self.watches {
            watch.tell(&change);
        }
        self.history.push(change);
    }
}

impl Watch {
    fn tell(&self, change: &Change) {
        let is_asked = match &self.name {
            Some(asked) => *asked == name(&change.object),
            None => true,
        };
        if is_asked && change.collection == self.collection {
            self.line(&json!({"type": change.kind, "object": change.object}).to_string());
        }
    }

    /// Sends a line. It is not an error if the watch is no longer read.
    fn line(&self, line: &str) {
        let line = Bytes::from(format!("{line}\n"));
        drop(self.pieces.send(Ok(Frame::data(line))));
    }
}

/// Returns the name of an object. Objects without a name are stored under the empty name, so a
/// watch can receive them.
pub(super) fn name(object: &Value) -> String {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default().to_owned()
}
