//! Comparison with answers of the real operator-controller, if the recorded answers are on this machine.

use std::path::PathBuf;

use olmguard_catalog::image_reference;
use olmguard_catalog::olm::{CertificateProvider, InstallSettings};
use olmguard_catalog::{CrdNames, InstallFacts, InstallModes};
use olmguard_fixtures::shared::shared;
use olmguard_preflight::bundle::{
    RegistryBundle, RenderTarget, RenderedName, RenderedObject, WrongField,
};
use olmguard_preflight::config::ConfigFault;
use olmguard_preflight::crd::{self, ComparedCrd, CrdFinding, CrdGeneration};
use olmguard_preflight::support::Unsupported;
use olmguard_preflight::{config, support};
use serde_json::Value;

/// Returns the lines of a file of recorded answers; `None` if the file is missing.
fn recorded(name: &str) -> Option<Vec<Value>> {
    let path: PathBuf = shared()?.join("vectors/preflight").join(name);
    let text = std::fs::read_to_string(&path).ok()?;
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    Some(lines.collect())
}

macro_rules! recorded_or_left_out {
    ($name:literal) => {
        match recorded($name) {
            Some(lines) => lines,
            None => {
                println!("left out: {} is not there", $name);
                return;
            }
        }
    };
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value
        .pointer(pointer)
        .and_then(Value::as_str)
        .unwrap_or_default()
}

#[test]
fn image_references() {
    let lines = recorded_or_left_out!("image-ref.jsonl");
    assert!(lines.len() > 50);
    for line in &lines {
        let found = image_reference::check(text(line, "/ref")).err();
        let found = found.map(|error| error.to_string());
        assert_eq!(found.as_deref(), line["error"].as_str(), "{}", line["id"]);
    }
}

fn items<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    let items = value.pointer(pointer).and_then(Value::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}

fn install_facts(csv: &Value) -> InstallFacts {
    let mut modes = InstallModes::default();
    for mode in items(csv, "/spec/installModes") {
        if mode["supported"].as_bool() == Some(true) {
            modes.add(text(mode, "/type"));
        }
    }
    let owned = items(csv, "/spec/customresourcedefinitions/owned");
    InstallFacts {
        modes,
        owns_api_services: !items(csv, "/spec/apiservicedefinitions/owned").is_empty(),
        has_webhooks: Some(!items(csv, "/spec/webhookdefinitions").is_empty()),
        crds: CrdNames::of(owned.iter().map(|crd| text(crd, "/name"))),
    }
}

fn settings(gates: &Value) -> InstallSettings {
    let is_on = |gate: &str| gates[gate].as_bool().unwrap();
    InstallSettings {
        single_own_namespace: is_on("SingleOwnNamespaceInstallSupport"),
        deployment_config: is_on("DeploymentConfig"),
        boxcutter: false,
        helm_charts: false,
        certificates: match gates["certProvider"].as_str() {
            Some("certmanager") => CertificateProvider::CertManager,
            Some("serviceca") => CertificateProvider::OpenshiftServiceCa,
            _ => CertificateProvider::None,
        },
    }
}

/// Returns every text that operator-controller may report before its validators; none if the bundle passes.
fn said(line: &Value) -> Vec<String> {
    let bundle = install_facts(&line["bundle"]["csv"]);
    let settings = settings(&line["gates"]);
    let refused = support::check(&bundle, settings, 11).err();
    if let Some(text) = refused.and_then(|refused: Unsupported| refused.upstream(11)) {
        return vec![text];
    }
    let wanted = Some(&line["config"]).filter(|config| !config.is_null());
    let found = config::check(bundle.modes, settings, 11, text(line, "/namespace"), wanted);
    found.err().map_or_else(Vec::new, |faults| every(&faults))
}

/// The fault split into one per name, because operator-controller reports only one name.
fn variants(fault: &ConfigFault) -> Vec<ConfigFault> {
    let ConfigFault::Unknown { parent, names } = fault else {
        return vec![fault.clone()];
    };
    let alone = |name: &String| ConfigFault::Unknown {
        parent,
        names: vec![name.clone()],
    };
    names.iter().map(alone).collect()
}

/// Every text that operator-controller can give for these faults.
fn every(faults: &[ConfigFault]) -> Vec<String> {
    let mut all = vec![Vec::new()];
    for fault in faults {
        let with = |before: &Vec<ConfigFault>| {
            let longer = |one| [before.as_slice(), &[one]].concat();
            variants(fault).into_iter().map(longer).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(with).collect();
    }
    all.iter()
        .filter_map(|faults| config::upstream(faults))
        .collect()
}

#[test]
fn support_and_configuration() {
    let lines = recorded_or_left_out!("bundle-render.jsonl");
    let is_of_manifests = |line: &&Value| line["bundle"]["csv"].is_object();
    let (mut refused, mut passed) = (0, 0);
    for line in lines.iter().filter(is_of_manifests) {
        let message = text(line, "/message");
        let is_ours = [
            "unsupported bundle: ",
            "invalid ClusterExtension configuration: ",
            "invalid deploymentConfig: ",
        ]
        .iter()
        .any(|start| message.starts_with(start));
        let mut said = said(line);
        said.sort();
        if !is_ours {
            assert_eq!(said, [""; 0], "{}", line["id"]);
            passed += 1;
            continue;
        }
        refused += 1;
        let mut expected: Vec<&str> = items(line, "/message_variants")
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if expected.is_empty() {
            expected.push(message);
        }
        expected.sort_unstable();
        let is_of_order = said.len() == 1 && expected.contains(&said.concat().as_str());
        assert!(
            said == expected || is_of_order,
            "{}: {said:?} {expected:?}",
            line["id"]
        );
    }
    assert!(refused > 100 && passed > 100, "{refused} {passed}");
}

/// The lines of a comparison: the lines of every run, and the lines of only some runs.
fn compared(line: &Value, generation: CrdGeneration) -> Option<(Vec<String>, Vec<String>)> {
    let (old, new) = (
        ComparedCrd::read(&line["old"]).unwrap(),
        ComparedCrd::read(&line["new"]).unwrap(),
    );
    let found = crd::compare(
        &old,
        &new,
        generation,
        &mut crd::ComparisonBudget::default(),
    )
    .unwrap();
    let (unsteady, steady): (Vec<_>, Vec<_>) =
        found.findings.iter().partition(|it| !it.is_certain());
    let text = |findings: Vec<&CrdFinding>| findings.into_iter().map(ToString::to_string).collect();
    (!found.panics).then(|| (text(steady), text(unsteady)))
}

fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().into_iter().flatten();
    items.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
fn crd_upgrades() {
    let lines = recorded_or_left_out!("crd-upgrade.jsonl");
    assert!(lines.len() > 400);
    for line in &lines {
        let id = &line["id"];
        let newest = compared(line, CrdGeneration::V1_10);
        if line.get("panic").is_some() {
            assert_eq!(newest, None, "{id}");
            continue;
        }
        let (steady, unsteady) = newest.unwrap_or_else(|| panic!("{id}"));
        if let Some(variants) = line["error_variants"].as_array() {
            assert!(!unsteady.is_empty(), "{id}");
            for variant in variants {
                let mut all = texts(variant);
                all.retain(|line| !unsteady.contains(line));
                assert_eq!(all, steady, "{id}");
            }
            continue;
        }
        assert_eq!(
            (steady, unsteady),
            (texts(&line["errors"]), Vec::new()),
            "{id}"
        );
        for (key, generation) in [
            ("errors_1_9", CrdGeneration::V1_9),
            ("errors_1_5_to_1_8", CrdGeneration::V1_5),
        ] {
            let expected = line.get(key).unwrap_or(&line["errors"]);
            let (steady, unsteady) = compared(line, generation).unwrap();
            assert!(unsteady.is_empty(), "{id} {key}");
            assert_eq!(steady, texts(expected), "{id} {key}");
        }
    }
}

/// The bundle of a line.
fn bundle(line: &Value) -> RegistryBundle {
    RegistryBundle::of(text(line, "/bundle/package"), objects(line)).unwrap()
}

fn objects(line: &Value) -> impl Iterator<Item = Value> {
    let csv = [line["bundle"]["csv"].clone()];
    let others = items(line, "/bundle/manifests").iter().cloned();
    csv.into_iter().chain(others)
}

/// Returns an object as text, with a `*` for a hash.
fn shown(object: &RenderedObject) -> String {
    let name = match &object.name {
        RenderedName::Whole(name) => name.clone(),
        RenderedName::Hashed(base) => format!("{base}-*"),
    };
    let (kind, namespace) = (&object.kind, &object.namespace);
    format!("{}/{} {namespace}/{name}", kind.api_version, kind.kind)
}

/// Whether a text matches the recorded one. A base that was cut for its hash is a prefix of the whole base.
fn is_recorded(shown: &str, recorded: &str) -> bool {
    let cut = recorded
        .strip_suffix("-*")
        .filter(|_| shown.ends_with("-*"));
    shown == recorded || cut.is_some_and(|base| base.len() > 40 && shown.starts_with(base))
}

#[test]
fn rendered_objects() {
    let lines = recorded_or_left_out!("bundle-render.jsonl");
    let (mut compared, mut watching) = (0, 0);
    let renders = |line: &&Value| line["bundle"]["csv"].is_object() && line["message"].is_null();
    for line in lines.iter().filter(renders) {
        let (bundle, settings) = (bundle(line), settings(&line["gates"]));
        let namespace = text(line, "/namespace");
        let wanted = Some(&line["config"]).filter(|config| !config.is_null());
        let modes = bundle.install_facts().modes;
        let watched = config::check(modes, settings, 11, namespace, wanted).unwrap();
        let target = RenderTarget {
            namespace,
            watched,
            certificates: settings.certificates,
        };
        let mut found: Vec<_> = bundle.rendered(target).iter().map(shown).collect();
        found.sort();
        let recorded = texts(&line["objects"]);
        let are_alike = found.len() == recorded.len()
            && found
                .iter()
                .zip(&recorded)
                .all(|(shown, recorded)| is_recorded(shown, recorded));
        assert!(are_alike, "{}: {found:#?} {recorded:#?}", line["id"]);
        let conversions = line["conversion"].as_object().into_iter().flatten();
        for (crd, strategy) in conversions {
            // A CRD that no webhook of the bundle converts keeps its own strategy.
            let mut crds = bundle.crds().iter();
            let own = crds.find(|own| text(own, "/metadata/name") == crd);
            let own = own.map(|own| text(own, "/spec/conversion/strategy"));
            let is_converted = bundle.converted().contains(crd.as_str());
            let found = if is_converted { Some("Webhook") } else { own };
            assert_eq!(found, strategy.as_str(), "{} {crd}", line["id"]);
        }
        compared += 1;
        watching += usize::from(watched.is_some());
    }
    assert!(compared > 100 && watching > 5, "{compared} {watching}");
}

#[test]
fn validators() {
    let lines = recorded_or_left_out!("bundle-render.jsonl");
    let (mut refused, mut undecoded) = (0, 0);
    for line in lines
        .iter()
        .filter(|line| line["bundle"]["csv"].is_object())
    {
        let id = &line["id"];
        if !said(line).is_empty() {
            continue;
        }
        let bundle = bundle(line);
        assert_eq!(
            bundle.install_facts(),
            install_facts(&line["bundle"]["csv"]),
            "{id}"
        );
        let kept = bundle.without_schemas();
        assert_eq!(kept.faults(11), bundle.faults(11), "{id}");
        assert_eq!(kept.install_facts(), bundle.install_facts(), "{id}");
        assert_eq!(kept.object_kinds(), bundle.object_kinds(), "{id}");
        assert_eq!(kept.defined_kinds(), bundle.defined_kinds(), "{id}");
        let faults = bundle.faults(11).into_iter().map(|fault| fault.upstream);
        let found = faults.collect::<Vec<_>>().join("\n");
        let message = text(line, "/message");
        let wrong = objects(line).find_map(|object| WrongField::of(&object));
        if message.starts_with("error parsing objects") {
            let upstream = wrong.as_ref().and_then(WrongField::upstream).unwrap();
            assert!(message.ends_with(&format!(": {upstream}")), "{id}");
            undecoded += 1;
            continue;
        }
        assert_eq!(wrong, None, "{id}");
        refused += usize::from(!message.is_empty());
        assert_eq!(found, message, "{id}");
    }
    assert!(refused > 50 && undecoded > 0, "{refused} {undecoded}");
}
