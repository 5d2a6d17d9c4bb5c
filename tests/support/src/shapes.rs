//! Catalogs that are small as text and large in memory, generated while they are read.

use std::fmt::Write as _;
use std::io::{self, Read};

use flate2::Compression;
use flate2::read::GzEncoder;

/// The default length of a catalog in bytes.
pub const LENGTH: usize = 60 << 20;

/// A numbered blob that is repeated.
pub struct Shape {
    pub name: &'static str,
    blob: fn(&mut String, usize),
}

pub const SHAPES: &[Shape] = &[
    Shape {
        name: "bundles, each of another package",
        blob: |text, n| {
            write!(
                text,
                r#"{{"schema":"olm.bundle","package":"p{n}","name":"b","image":"i","properties":[{{"type":"olm.package","value":{{"packageName":"p","version":"1.0.0"}}}}]}}"#
            )
            .expect("a text");
        },
    },
    Shape {
        name: "channels, each of another package",
        blob: |text, n| {
            write!(
                text,
                r#"{{"schema":"olm.channel","package":"p{n}","name":"c","entries":[{{"name":"b"}}]}}"#
            )
            .expect("a text");
        },
    },
    Shape {
        name: "deprecations, one a package",
        blob: |text, n| {
            write!(
                text,
                r#"{{"schema":"olm.deprecations","package":"p{n}","entries":[{{"reference":{{"schema":"olm.package"}},"message":"m"}}]}}"#
            )
            .expect("a text");
        },
    },
    Shape {
        name: "packages",
        blob: |text, n| {
            write!(text, r#"{{"schema":"olm.package","name":"p{n}"}}"#).expect("a text");
        },
    },
    Shape {
        name: "entries of channels",
        blob: |text, n| many(text, n, r#"{"name":"b"}"#, 100_000),
    },
    Shape {
        name: "empty entries of channels",
        blob: |text, n| many(text, n, "{}", 200_000),
    },
    Shape {
        name: "skips of an entry",
        blob: |text, n| {
            let skips = r#""b","#.repeat(100_000);
            let entry = format!(r#"{{"name":"b","skips":[{skips}"b"]}}"#);
            many(text, n, &entry, 1);
        },
    },
    Shape {
        name: "ranges, each another",
        blob: |text, n| {
            write!(
                text,
                r#"{{"schema":"olm.channel","package":"p","name":"c{n}","entries":[{{"name":"b{n}","skipRange":"<1.0.{n}"}}]}}"#
            )
            .expect("a text");
            write!(
                text,
                r#"{{"schema":"olm.bundle","package":"p","name":"b{n}","image":"i"}}"#
            )
            .expect("a text");
        },
    },
    Shape {
        name: "guardrails of empty objects",
        blob: |text, n| {
            let objects = r#"{"a":0},"#.repeat(50_000);
            write!(
                text,
                r#"{{"schema":"olmguard.guardrails.v1alpha1","package":"p{n}","rules":[{objects}{{}}]}}"#
            )
            .expect("a text");
        },
    },
    Shape {
        name: "one bundle's name, shared by all and named by all",
        blob: |text, n| {
            write!(
                text,
                r#"{{"schema":"olm.bundle","package":"p/{n}","name":"b","image":"i"}}{{"schema":"olm.channel","package":"p/{n}","name":"c","entries":[{{"name":"b"}}]}}"#
            )
            .expect("a text");
        },
    },
];

/// Writes a channel with `count` copies of an entry.
fn many(text: &mut String, n: usize, entry: &str, count: usize) {
    write!(
        text,
        r#"{{"schema":"olm.channel","package":"p","name":"c{n}","entries":["#
    )
    .expect("a text");
    for _ in 1..count {
        text.push_str(entry);
        text.push(',');
    }
    text.push_str(entry);
    text.push_str("]}");
}

impl Shape {
    /// Returns a catalog of this shape.
    pub fn text(&self) -> Text {
        self.text_of(LENGTH)
    }

    /// Returns a catalog of this shape with about this length.
    pub fn text_of(&self, length: usize) -> Text {
        Text {
            blob: self.blob,
            length,
            given: 0,
            blobs: 0,
            current: String::new(),
            at: 0,
        }
    }
}

/// A catalog that is generated while it is read.
pub struct Text {
    blob: fn(&mut String, usize),
    length: usize,
    given: usize,
    blobs: usize,
    current: String,
    at: usize,
}

impl Text {
    /// Returns the number of bytes read so far.
    pub fn given(&self) -> usize {
        self.given
    }
}

impl Read for Text {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.current.len() {
            if self.given >= self.length {
                return Ok(0);
            }
            self.current.clear();
            (self.blob)(&mut self.current, self.blobs);
            self.current.push('\n');
            (self.at, self.blobs) = (0, self.blobs + 1);
        }
        let count = (&self.current.as_bytes()[self.at..]).read(buffer)?;
        self.at += count;
        self.given += count;
        Ok(count)
    }
}

/// Returns the whole text, compressed.
pub fn gzip(text: Text) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(text, Compression::fast())
        .read_to_end(&mut packed)
        .expect("gzip");
    packed
}
