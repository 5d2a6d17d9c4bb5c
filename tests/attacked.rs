//! The delivered program under its delivered memory limit, attacked by clients and catalogs at the same time: an
//! ordinary client gets every answer, and the right one.
//!
//! `cargo xtask attack` builds the program and runs this. `OLMGUARD_ATTACKED` is its path.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod attack {
    pub(crate) mod flood;
    pub(crate) mod group;
    pub(crate) mod ordinary;
    pub(crate) mod program;
}

use std::collections::BTreeMap;

use attack::flood;
use attack::ordinary::Ordinary;
use attack::program::Program;
use olmguard_support::apiserver::objects::{CATALOGS, catalog};
use olmguard_support::apiserver::served::Served;
use olmguard_support::catalogd::answer::Answer;
use olmguard_support::catalogd::scripted::Scripted;
use olmguard_support::shapes::SHAPES;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it needs the program as it is delivered: cargo xtask attack runs it"]
async fn an_ordinary_client_gets_every_answer_under_both_attacks() {
    let contents = contents();
    let names: Vec<String> = contents.keys().cloned().collect();
    let catalogd = Scripted::plain(move |asked| {
        let name = asked.head.split('/').nth(2).unwrap_or_default();
        contents
            .get(name)
            .cloned()
            .unwrap_or_else(|| Answer::status("404 Not Found"))
    })
    .await;
    let cluster = Served::start().await;
    for (digest, name) in (1..).zip(&names) {
        let mut object = catalog(name, digest, &catalogd.base(name));
        object["metadata"]["labels"] = json!({"olm.operatorframework.io/metadata.name": name});
        cluster.api.put(CATALOGS, object);
    }

    let mut program = Program::start(&cluster.kubeconfig());
    let ordinary = Ordinary::begin(program.target.clone()).await;
    // A hostile catalog is fetched again and again, while the floods come one after another.
    let tried = || {
        let asked = catalogd.asked();
        let of = |name: &&String| {
            asked
                .iter()
                .filter(|asked| asked.head.contains(&***name))
                .count()
        };
        names
            .iter()
            .filter(|name| *name != GOOD)
            .map(|name| of(&name))
            .min()
            .unwrap()
    };
    let mut floods = 0;
    while !ordinary.has_failed() && (tried() < TRIES || floods < FLOODS) {
        flood::of_channels(&program.target).await;
        flood::of_requirements(&program.target).await;
        floods += 1;
    }
    let answers = ordinary.end().await;
    let ((peak, of_file), charged) = (program.peak(), program.charged());
    println!(
        "under attack: peak {} MiB resident, {} MiB of them its file, {charged:?} bytes charged, \
         {answers} ordinary answers, {floods} floods",
        peak >> 20,
        of_file >> 20
    );
    assert!(answers >= LEAST, "{answers} answers");
    assert!(peak - of_file <= LIMIT, "{peak} - {of_file} bytes");
    assert_eq!(program.end(), Some(0), "it is well until it is told to end");
}

/// Returns the content of each catalog: the good one, and one of each hostile shape.
fn contents() -> BTreeMap<String, Answer> {
    let shape = |(n, shape): (usize, &olmguard_support::shapes::Shape)| {
        let packed = olmguard_support::shapes::gzip(shape.text());
        (format!("hostile-{n}"), Answer::gzipped(&packed))
    };
    let mut contents: BTreeMap<_, _> = SHAPES.iter().take(6).enumerate().map(shape).collect();
    contents.insert(
        GOOD.to_owned(),
        Answer::gzip(include_bytes!("support/src/load/catalog.jsonl")),
    );
    contents
}

/// The catalog that ordinary edits need.
const GOOD: &str = "good";

/// The limit in `deploy/base/deployment.yaml`.
const LIMIT: usize = 384 << 20;

/// How often each hostile catalog is fetched in vain.
const TRIES: usize = 2;

/// The minimum number of floods.
const FLOODS: usize = 3;

/// The minimum number of ordinary edits that must be answered.
const LEAST: usize = 50;
