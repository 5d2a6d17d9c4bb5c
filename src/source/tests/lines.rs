//! A file of JSON is read on several cores as on one: the same blobs, places and faults in the same order.

use std::fs;

use super::{Blobs, read_path};
use crate::source::{Progress, read_into};
use olmguard_catalog::fbc::intake::{BlobPlace, Intake, TextOrigin};
use olmguard_catalog::fbc::json::{Cursor, CursorResult};
use olmguard_catalog::fbc::raw::{self, Raw};
use olmguard_catalog::fbc::reader::Places;
use olmguard_catalog::fbc::{self, FbcError};

/// All that is written in a file, and where, faults too.
#[derive(Default)]
struct Written(Vec<String>);

impl Intake for Written {
    type Blob<'a> = Raw<'a>;

    const PLACES: Places = Places::Wanted;

    fn read<'a>(cursor: &mut Cursor<'a>) -> CursorResult<Raw<'a>> {
        raw::read(cursor)
    }

    fn take(&mut self, blob: Raw<'_>, place: &BlobPlace<'_>) {
        let (position, origin) = (place.position, place.origin);
        let length = place.text.len();
        self.0
            .push(format!("{position} {origin:?} {length} {blob:?}"));
    }

    fn fault(
        &mut self,
        _: &str,
        fault: FbcError,
        origin: TextOrigin,
        _: &[u8],
    ) -> Result<(), FbcError> {
        self.0.push(format!("{origin:?} {fault}"));
        Ok(())
    }
}

fn agrees(text: &str) {
    assert!(text.len() > 3 << 20, "enough for several cores");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("catalog");
    fs::write(&path, text).expect("a file");

    let (mut here, mut there) = (Written::default(), Written::default());
    fbc::read_into("catalog", text.as_bytes(), &mut here).expect("faults are taken");
    read_into(&path, &Progress::default(), &mut there).expect("faults are taken");
    let difference = here.0.iter().zip(&there.0).position(|(a, b)| a != b);
    assert_eq!(difference, None);
    assert_eq!(here.0.len(), there.0.len());

    let mut blobs = Blobs::default();
    let alone = fbc::read("ROOT", text.as_bytes(), &mut blobs);
    let alone =
        alone.map_err(|fault| format!("{}: {}", fault.position.in_file("ROOT"), fault.malformed));
    assert!(read_path(&path) == alone.map(|()| blobs.0), "what decides");
}

/// So many blobs, the line feeds in them as in `between`.
fn blobs(count: usize, between: &str) -> Vec<String> {
    let blob = |n: usize| {
        let entry = |m: usize| {
            format!(
                r#"{{"name":"n{n}.{m}",{between}"skips":["\u00e9 ç",{between}"b"],"odd":{{"x":[1,null]}}}}"#
            )
        };
        let entries = (0..10)
            .map(entry)
            .collect::<Vec<_>>()
            .join(&format!(",{between}"));
        format!(
            r#"{{"schema":"olm.channel",{between}"package":"p","name":"c{n}","entries":[{between}{entries}]}}"#
        )
    };
    (0..count).map(blob).collect()
}

#[test]
fn lines_are_read_alike() {
    let lines = blobs(6000, "");
    agrees(&lines.join("\n"));
    agrees(&(lines.join(" \r\n\t\n ") + "\n"));
    agrees(&lines.concat());
    agrees(&lines.join("\nnull\n{}\n7 [] "));
}

/// A line that begins with `{` in the middle of a blob is no beginning of one.
#[test]
fn objects_over_many_lines_are_read_alike() {
    agrees(&blobs(5000, "\n").join("\n"));
    agrees(&blobs(5000, "\n  ").join("\n"));
}

#[test]
fn faults_are_found_alike() {
    for broken in [
        r#"{"schema":"olm.channel","name":"#,
        "{\"schema\":\"olm.channel\",\"name\":\"a\nb\"}",
        r#"{"schema":"olm.bundle","package":"p","name":7}"#,
        r#"{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":{}}]}"#,
        "}{",
    ] {
        for at in [3, 2999, 5999] {
            let mut lines = blobs(6000, "");
            lines[at].replace_range(.., broken);
            agrees(&lines.join("\n"));
        }
    }
    let lines = blobs(6000, "").join("\n");
    agrees(&lines[..lines.len() - 40]);
}

#[test]
fn a_blob_larger_than_what_is_held_is_read_alike() {
    let mut lines = blobs(3000, "");
    let long = "\\n odd".repeat(400_000);
    lines[1000] = lines[1000].replacen("odd", &long, 1);
    agrees(&lines.join("\n"));
}
