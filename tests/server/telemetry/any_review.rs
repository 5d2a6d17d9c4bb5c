//! Random reviews: usual, unusual and hostile, the same ones in each run.

use fastrand::Rng;
use serde_json::{Value, json};

/// A generator of reviews.
pub(crate) struct AnyReview(Rng);

impl AnyReview {
    pub(crate) fn new() -> Self {
        Self(Rng::with_seed(0x0001_44a1))
    }

    /// Returns the next review.
    pub(crate) fn next(&mut self) -> Value {
        let mut request = json!({
            "uid": self.text(&["0f3c", "u-1"]),
            "operation": self.text(&["CREATE", "UPDATE", "UPDATE", "UPDATE", "DELETE"]),
            "userInfo": {"username": self.text(&["kube"]), "groups": [self.text(&["all"])]},
            "object": self.object(),
            "oldObject": self.object(),
        });
        self.perhaps(2, &mut request["dryRun"], |any| any.0.bool().into());
        self.perhaps(20, &mut request["subResource"], |any| any.text(&["status"]));
        if self.0.u8(..3) == 0 {
            request["oldObject"] = request["object"].clone();
        }
        json!({
            "apiVersion": self.usually("admission.k8s.io/v1"),
            "kind": self.usually("AdmissionReview"),
            "request": request,
        })
    }

    fn object(&mut self) -> Value {
        let mut object = json!({
            "apiVersion": self.text(&["olm.operatorframework.io/v1"]),
            "kind": self.text(&["ClusterExtension"]),
            "metadata": {"name": self.text(&["lamp"]), "generateName": self.text(&["lamp-"])},
            "spec": {"source": {
                "sourceType": self.text(&["Catalog"]),
                "catalog": {
                    "packageName": self.text(&["lantern", "lantern", "lantern", "beacon"]),
                    "version": self.text(&["1", "2", ">=3", "1.x || 2.x", ">"]),
                },
            }},
        });
        let catalog = &mut object["spec"]["source"]["catalog"];
        self.perhaps(3, &mut catalog["upgradeConstraintPolicy"], |any| {
            any.text(&["CatalogProvided", "SelfCertified"])
        });
        self.perhaps(5, &mut catalog["channels"], |any| {
            json!([any.text(&["stable", "alpha"])])
        });
        self.perhaps(
            9,
            &mut catalog["selector"],
            |any| json!({"matchLabels": {any.hostile(): any.text(&["hub"])}}),
        );
        self.perhaps(9, &mut object["metadata"]["deletionTimestamp"], |any| {
            any.text(&["2026-01-01T00:00:00Z"])
        });
        self.perhaps(2, &mut object["status"], |any| {
            let version = any.text(&["1.0.0", "2.0.0", "3.0.0"]);
            json!({"install": {"bundle": {"name": any.text(&["lantern.v1"]), "version": version}}})
        });
        object
    }

    /// Sets a value once in this many calls.
    fn perhaps(&mut self, times: u8, place: &mut Value, make: impl FnOnce(&mut Self) -> Value) {
        if self.0.u8(..times) == 0 {
            *place = make(self);
        }
    }

    /// Returns this text, which the rest depends on, except for a rare hostile one.
    fn usually(&mut self, text: &str) -> Value {
        match self.0.u8(..50) {
            0 => self.hostile().into(),
            _ => text.into(),
        }
    }

    /// Returns one of these texts, except for a rare other value.
    fn text(&mut self, usual: &[&str]) -> Value {
        match self.0.u8(..32) {
            0 => json!([{"a": [null, 1.5e300]}]),
            1 => self.hostile().into(),
            _ => self.0.choice(usual).copied().into(),
        }
    }

    fn hostile(&mut self) -> String {
        match self.0.u8(..3) {
            0 => self
                .0
                .choice(HOSTILE)
                .copied()
                .unwrap_or_default()
                .to_owned(),
            1 => {
                let length = self.0.usize(..40);
                std::iter::repeat_with(|| self.0.char(..))
                    .take(length)
                    .collect()
            }
            _ => format!("unheard-of-{}", self.0.u64(..)),
        }
    }
}

const HOSTILE: &[&str] = &[
    "",
    "\"} 1\nolmguard_requests_total{token=\"Forged\"} 7\n#",
    "\u{0}\u{1b}[31m",
    "\u{202e}\u{feff}\u{10ffff}",
    "a,b={},le=\"+Inf\"",
    "${x} %s {0} ../../etc",
];
