//! Every field of a manifest must be stored in the API server as written. Additional fields do not count.

use anyhow::{Context, Result, ensure};
use serde_json::{Deserializer, Value};

use crate::kubectl::Kubectl;

/// Compares the applied objects with the stored ones.
pub(super) async fn is_stored_as_written(kubectl: &Kubectl, manifest: &str) -> Result<()> {
    let convert = "create --dry-run=client --validate=false -o json -f -";
    let written = kubectl.run(convert, manifest).await?;
    let written: Vec<Value> = Deserializer::from_str(&written)
        .into_iter()
        .collect::<Result<_, _>>()?;
    let stored: Value = serde_json::from_str(&kubectl.run("get -o json -f -", manifest).await?)?;
    let stored = stored.get("items").and_then(Value::as_array);
    let stored = stored.context("a list")?;
    let (there, applied) = (stored.len(), written.len());
    ensure!(there == applied, "{there} of {applied} objects are there");
    for (stored, written) in stored.iter().zip(&written) {
        holds(stored, written).with_context(|| format!("{:?}", written.get("kind")))?;
    }
    Ok(())
}

fn holds(stored: &Value, written: &Value) -> Result<()> {
    match (stored, written) {
        (Value::Object(stored), Value::Object(written)) => {
            for (key, written) in written {
                let stored = stored.get(key).with_context(|| format!("no {key}"))?;
                holds(stored, written).with_context(|| key.clone())?;
            }
        }
        (Value::Array(stored), Value::Array(written)) => {
            ensure!(stored.len() == written.len(), "{stored:?} for {written:?}");
            for (stored, written) in stored.iter().zip(written) {
                holds(stored, written)?;
            }
        }
        _ => ensure!(stored == written, "{stored} for {written}"),
    }
    Ok(())
}
