//! The memory of five catalogs, the time and memory of `check` with 1,000 manifests and these catalogs, and the time
//! and memory of a catalog in an image.

use std::fs;
use std::path::Path;
use std::process::Stdio;

use olmguard_figures::{Aim, Figure, Unit};
use olmguard_support::catalogd::answer::gzip;
use olmguard_support::oci::{Layer, TestImage, TestRegistry};
use serde_json::json;
use tempfile::NamedTempFile;

use crate::process::{Taken, kib, mib, observed, olmguard, peak, taken};
use crate::run::Run;
use crate::turns::median;
use crate::world::World;

pub(crate) fn measure(run: &Run) {
    let Some(world) = World::of(run) else { return };
    held(run, &world);
    check(run, &world);
    image(run, &world);
}

/// The memory of five loaded catalogs in addition to the bare process, and the peak while they are read.
fn held(run: &Run, world: &World) {
    let bare = kib("self", "VmRSS");
    let snapshot = world.snapshot();
    let [now, peak] = ["VmRSS", "VmHWM"].map(|field| mib(kib("self", field).saturating_sub(bare)));
    drop(snapshot);
    note(
        run,
        "five loaded catalogs, minus the bare process",
        Unit::MiB,
        now,
        10.0,
    );
    note(
        run,
        "their peak during the load, minus the bare process",
        Unit::MiB,
        peak,
        24.0,
    );
}

/// `olmguard check` with 1,000 manifests and the five catalogs.
fn check(run: &Run, world: &World) {
    let folder = tempfile::tempdir().expect("a directory to write to");
    for number in 0..run.count(1000, 15) {
        let file = folder.path().join(format!("{number:04}.yaml"));
        fs::write(file, manifest(world, number)).expect("a file to write to");
    }
    let mut command = olmguard();
    command
        .arg("check")
        .arg("-f")
        .arg(folder.path())
        .args(["-o", "json"]);
    for name in world.names() {
        command.arg(format!("--catalog={name}={}", world.file(name).display()));
    }
    let file = NamedTempFile::new().expect("a file");
    let mut command = observed(&command, file.path());
    command.stdout(Stdio::null());
    let runs = 0..run.count(RUNS, 1);
    // Some manifests are denied.
    let least = runs.fold(Taken::MAX, |least, _| {
        least.least(taken(&mut command, &[1]))
    });
    let peak = peak(file.path());
    let seconds = least.wall.as_secs_f64();
    note(run, "check of 1,000 manifests", Unit::Seconds, seconds, 1.0);
    note(run, "its peak, the whole process", Unit::MiB, peak, 100.0);
}

fn note(run: &Run, row: &str, unit: Unit, value: f64, most: f64) {
    run.note(&Figure {
        aim: Some(Aim::AtMost(most)),
        ..run.figure(row, unit, value)
    });
}

/// Existing and missing versions, pinned and in ranges.
fn manifest(world: &World, number: usize) -> String {
    let (package, bundle, from, to) = package(world, number);
    let catalog = *world.names().iter().cycle().nth(number).expect("not empty");
    let range = match number % 3 {
        0 => to.to_owned(),
        1 => format!(">={from}"),
        _ => "99.0.0".to_owned(),
    };
    format!(
        "apiVersion: olm.operatorframework.io/v1\nkind: ClusterExtension\n\
         metadata: {{name: extension-{number}}}\nspec:\n  namespace: ns-{number}\n  source:\n    \
         sourceType: Catalog\n    catalog:\n      packageName: {package}\n      \
         version: \"{range}\"\n      selector:\n        matchLabels:\n          \
         olm.operatorframework.io/metadata.name: {catalog}\n\
         status:\n  install:\n    bundle: {{name: {bundle}{from}, version: {from}}}\n"
    )
}

fn package(world: &World, number: usize) -> Package {
    let packages = match world {
        World::Whole(_) => WHOLE,
        World::Small => SMALL,
    };
    *packages.iter().cycle().nth(number).expect("not empty")
}

/// A package, the names of its bundles up to the version, the installed version, and another version.
type Package = (&'static str, &'static str, &'static str, &'static str);

const WHOLE: &[Package] = &[
    (
        "rabbitmq-cluster-operator",
        "rabbitmq-cluster-operator.v",
        "2.9.0",
        "2.10.0",
    ),
    (
        "opendatahub-operator",
        "opendatahub-operator.v",
        "2.21.0",
        "2.30.0",
    ),
    ("project-quay", "quay-operator.v", "3.10.13", "3.12.8"),
    ("sailoperator", "sailoperator.v", "1.25.2", "1.26.0"),
    (
        "victoriametrics-operator",
        "victoriametrics-operator.v",
        "0.50.0",
        "0.55.0",
    ),
];

const SMALL: &[Package] = &[("lantern-operator", "lantern-operator.v", "1.0.0", "1.1.0")];

const RUNS: usize = 5;

/// Measures a catalog in an image, compared with its file and the download of the layer.
fn image(run: &Run, world: &World) {
    let [.., newest] = world.names();
    let content = with_icons(world.content(newest), run.count(ICONS, 1));
    let folder = tempfile::tempdir().expect("a directory to write to");
    let file = folder.path().join("catalog.json.gz");
    fs::write(&file, gzip(&content)).expect("a file to write to");
    let layer = Layer::of(&[]).file("configs/catalog.json", &content).gzip();
    let registry = TestRegistry::of(TestImage::catalog(std::slice::from_ref(&layer)));
    let image = format!("oci:{}", registry.image("catalog:v1"));
    let cache = folder.path().join("cache");
    let read = |place: &str| versions(world, place, &cache);
    let rounds = (0..run.count(RUNS, 1)).map(|_| {
        let of_file = read(&file.display().to_string());
        drop(fs::remove_dir_all(&cache));
        let (pulled, again) = (read(&image), read(&image));
        let whole = of_file.seconds + registry.download(&layer).as_secs_f64();
        [
            of_file.seconds,
            pulled.seconds / whole,
            again.seconds,
            pulled.peak - of_file.peak,
        ]
    });
    let rounds: Vec<_> = rounds.collect();
    let blobs = registry
        .asked()
        .into_iter()
        .filter(|one| one.head.contains("/blobs/"));
    // Each round has the configuration, the layer, and the separate download.
    assert_eq!(
        blobs.count(),
        3 * rounds.len(),
        "the second time pulls nothing"
    );
    let [of_file, ratio, again, peak] =
        [0, 1, 2, 3].map(|at| median(rounds.iter().map(|round| round[at]).collect()));
    run.note(&run.figure("a catalog in a file: read", Unit::Seconds, of_file));
    let row = "the same in an image, pulled and read, against that and the download";
    note(run, row, Unit::Times, ratio, 1.3);
    run.note(&run.figure("the same again", Unit::Seconds, again));
    note(
        run,
        "its peak, minus the peak of the file",
        Unit::MiB,
        peak,
        16.0,
    );
}

/// A catalog with this many additional packages, each with an icon that does not compress.
fn with_icons(mut content: Vec<u8>, packages: usize) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(1);
    for number in 0..packages {
        let icon: Vec<u8> = (0..ICON).map(|_| random.u8(..)).collect();
        let icon = base64_simd::STANDARD.encode_to_string(icon);
        let package = json!({"schema": "olm.package", "name": format!("icon-{number}"),
            "icon": {"base64data": icon, "mediatype": "image/png"}});
        content.extend(package.to_string().into_bytes());
        content.push(b'\n');
    }
    content
}

/// The number of icons. With them, the layer has 40 MB.
const ICONS: usize = 400;

/// The size of an icon in bytes.
const ICON: usize = 96 << 10;

/// The time of a run, and its peak memory in MiB.
struct ReadCatalog {
    seconds: f64,
    peak: f64,
}

/// Runs `olmguard versions` for a package of a catalog at a place.
fn versions(world: &World, place: &str, cache: &Path) -> ReadCatalog {
    let file = NamedTempFile::new().expect("a file");
    let mut command = olmguard();
    command.arg("versions").arg(package(world, 0).0);
    command.arg(format!("--catalog=c={place}"));
    let mut command = observed(&command, file.path());
    command.env("XDG_CACHE_HOME", cache);
    let taken = taken(command.stdout(Stdio::null()), &[0]);
    ReadCatalog {
        seconds: taken.wall.as_secs_f64(),
        peak: peak(file.path()),
    }
}
