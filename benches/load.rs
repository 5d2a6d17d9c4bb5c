//! The speed of reading catalogs: from memory, and as a process compared with operator-registry's `declcfg.LoadFS`.

mod peer;

use std::hint::black_box;
use std::io::Cursor;

use olmguard::source::{Progress, read_from};
use olmguard_catalog::blob::{BlobContent, BlobFault, BlobKey, Sink};
use olmguard_catalog::fbc;
use olmguard_figures::Unit;

use crate::run::Run;
use crate::turns::each;
use crate::world::World;

pub(crate) use self::peer::{is_loader, run_loader};

pub(crate) fn measure(run: &Run) {
    let Some(world) = World::of(run) else { return };
    if run.wants("memory") {
        for name in world.names() {
            note(
                run,
                &format!("from memory, {name}, JSON, one core"),
                &world.content(name),
                |text, sink| fbc::read("bench", text, sink).expect("a catalog"),
            );
        }
        let yaml = world.yaml().join(&b"\n---\n"[..]);
        note(
            run,
            "from memory, v4.18, YAML, all cores",
            &yaml,
            |text, sink| {
                let text = Cursor::new(text);
                read_from("bench", text, &Progress::default(), sink).expect("a catalog");
            },
        );
    }
    if run.wants("processes") {
        peer::measure(run, &world);
    }
}

fn note(run: &Run, row: &str, text: &[u8], read: impl Fn(&[u8], &mut Forget)) {
    let seconds = each(run, || {
        let mut sink = Forget::default();
        read(text, &mut sink);
        assert!(sink.read > 0, "it has blobs");
    });
    #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
    let megabytes = text.len() as f64 / 1e6;
    run.note(&run.figure(row, Unit::MegabytesPerSecond, megabytes / seconds));
}

/// A sink that counts blobs and drops them.
#[derive(Default)]
struct Forget {
    read: usize,
}

impl Sink for Forget {
    fn blob(&mut self, key: BlobKey<'_>, content: Result<BlobContent<'_>, BlobFault>) {
        self.read += usize::from(black_box((key, content.is_ok())).1);
    }
}
