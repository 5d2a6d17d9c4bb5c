//! The same blobs in another order: of blobs, of lists whose order means nothing, of keys.

use serde_json::Value;

/// The text of a catalog whose parts stand in an order that a seed gives.
pub(crate) fn shuffled(blobs: &[Value], seed: u64) -> String {
    let mut random = Random(seed);
    let mut texts: Vec<String> = blobs.iter().map(|blob| random.written(blob)).collect();
    random.shuffle(&mut texts);
    texts.join("\n")
}

/// A splitmix64 generator.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn shuffle(&mut self, items: &mut [String]) {
        items.sort_by_cached_key(|_| self.next());
    }

    fn written(&mut self, value: &Value) -> String {
        match value {
            Value::Object(fields) => {
                let field = |(key, value)| {
                    format!(
                        "{}: {}",
                        Value::from(String::clone(key)),
                        self.written(value)
                    )
                };
                let mut fields: Vec<String> = fields.iter().map(field).collect();
                self.shuffle(&mut fields);
                format!("{{{}}}", fields.join(", "))
            }
            Value::Array(items) => {
                let mut items: Vec<String> = items.iter().map(|item| self.written(item)).collect();
                self.shuffle(&mut items);
                format!("[{}]", items.join(", "))
            }
            other => other.to_string(),
        }
    }
}
