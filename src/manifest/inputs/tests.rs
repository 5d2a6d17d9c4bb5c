use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::{InputError, Inputs, MAX_BYTES};
use crate::links::lookups;

/// A directory that is removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("olmguard-inputs-{test}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().expect("below the folder")).unwrap();
        fs::write(path, text).unwrap();
    }

    #[cfg(unix)]
    fn link(&self, name: &str, to: &str) {
        std::os::unix::fs::symlink(to, self.0.join(name)).unwrap();
    }

    /// Returns `path=content` for each file of these arguments, with paths relative to the
    /// directory.
    fn read(&self, arguments: &[&str]) -> Vec<String> {
        let arguments = arguments.iter().map(|argument| self.argument(argument));
        let inputs = Inputs::new(arguments, &b"from stdin"[..]);
        let prefix = format!("{}/", self.0.display());
        inputs
            .map(|input| format!("{}={}", input.path.replace(&prefix, ""), shown(input.bytes)))
            .collect()
    }

    fn argument(&self, name: &str) -> PathBuf {
        if name == "-" {
            PathBuf::from(name)
        } else {
            self.0.join(name)
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

fn shown(bytes: Result<Vec<u8>, InputError>) -> String {
    match bytes {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => format!("error: {error}"),
    }
}

const MISSING: &str = "error: does not exist: expected a file or a directory";
const LOOP: &str =
    "error: is a link back to a directory that contains it: expected no loop, so remove the link";
#[cfg(unix)]
const OUT: &str = "error: is a link out of the directory: expected a target inside it, so copy the \
    target there, or name it on its own";
const TOO_LARGE: &str =
    "error: is larger than 32 MiB: expected a manifest, so split it, or omit it";

#[test]
fn arguments_come_in_their_order_and_folders_in_byte_order() {
    let folder = Folder::new("order");
    for name in [
        "d/b.yaml",
        "d/a/z.yml",
        "d/B.json",
        "d/notes.txt",
        "d/.git/c.yaml",
        "d/.h.yaml",
        "d/c.YAML",
    ] {
        folder.write(name, name);
    }
    folder.write("single.txt", "named");
    assert_eq!(
        folder.read(&["single.txt", "-", "d", "-", "missing.yaml"]),
        [
            "single.txt=named",
            "-=from stdin",
            "d/B.json=d/B.json",
            "d/a/z.yml=d/a/z.yml",
            "d/b.yaml=d/b.yaml",
            &format!("missing.yaml={MISSING}"),
        ]
    );
    assert_eq!(folder.read(&["d/a/"]), ["d/a/z.yml=d/a/z.yml"]);
    assert_eq!(folder.read(&["d/a", "d/a"]).len(), 2);
}

#[cfg(unix)]
#[test]
fn links_inside_are_followed_and_loops_reported_once() {
    let folder = Folder::new("links");
    folder.write("top/real/a.yaml", "a");
    folder.write("top/b.yaml", "b");
    folder.write("top/deep/c.yaml", "c");
    folder.link("top/again", "real");
    folder.link("top/more", "deep/../real");
    folder.link("top/deep/up", "..");
    folder.link("top/self", ".");
    folder.link("top/file.yaml", "../top/real/a.yaml");
    folder.link("top/gone.yaml", "nowhere");
    folder.link("top/gone", "nowhere");
    assert_eq!(
        folder.read(&["top"]),
        [
            "top/again/a.yaml=a",
            "top/b.yaml=b",
            "top/deep/c.yaml=c",
            &format!("top/deep/up={LOOP}"),
            "top/file.yaml=a",
            &format!("top/gone.yaml={MISSING}"),
            &format!("top/self={LOOP}"),
        ]
    );
}

#[cfg(unix)]
#[test]
fn links_out_of_the_directory_are_refused() {
    let folder = Folder::new("out");
    folder.write("secret.json", "token");
    folder.write("elsewhere/a.yaml", "a");
    folder.write("top/b.yaml", "b");
    folder.write("topmost/c.yaml", "c");
    folder.link("top/directory", "../elsewhere");
    folder.link("top/file.yaml", "../secret.json");
    folder.link("top/named-alike", "../topmost");
    folder.link("top/notes.txt", "../secret.json");
    folder.link("top/through.yaml", "directory/a.yaml");
    folder.link("top/up", "..");
    folder.link("top/absolute.yaml", "/etc/hostname");
    assert_eq!(
        folder.read(&["top"]),
        [
            &format!("top/absolute.yaml={OUT}"),
            "top/b.yaml=b",
            &format!("top/directory={OUT}"),
            &format!("top/file.yaml={OUT}"),
            &format!("top/named-alike={OUT}"),
            &format!("top/through.yaml={OUT}"),
            &format!("top/up={OUT}"),
        ]
    );
}

/// Links as in a mounted `ConfigMap`, and a directory that is an alias of another.
#[cfg(unix)]
#[test]
fn what_is_named_is_read_wherever_it_is() {
    let folder = Folder::new("named");
    folder.write("mount/..2026/a.yaml", "a");
    folder.link("mount/..data", "..2026");
    folder.link("mount/a.yaml", "..data/a.yaml");
    folder.link("alias", "mount");
    folder.link("file", "mount/a.yaml");
    assert_eq!(
        folder.read(&["mount", "alias", "alias/", "file"]),
        [
            "mount/a.yaml=a",
            "alias/a.yaml=a",
            "alias/a.yaml=a",
            "file=a"
        ]
    );
}

/// The cost used to grow with the square of the depth, because each directory was resolved from the
/// root.
#[test]
fn the_file_system_is_asked_as_often_as_there_are_entries() {
    let lookups = |depth: usize| {
        let folder = Folder::new(&format!("deep-{depth}"));
        folder.write(&format!("top/{}a.yaml", "d/".repeat(depth)), "a");
        lookups::of(|| assert_eq!(folder.read(&["top"]).len(), 1))
    };
    let (some, more) = (lookups(50), lookups(450));
    assert_eq!(more - some, 400, "one more for each level");
}

#[cfg(unix)]
#[test]
fn a_link_to_itself_is_an_error() {
    let folder = Folder::new("itself");
    folder.link("self.yaml", "self.yaml");
    let read = folder.read(&[""]);
    assert_eq!(read.len(), 1);
    assert!(
        read[0].contains("self.yaml=error: cannot be read: "),
        "{read:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_socket_in_a_folder_is_not_read() {
    let folder = Folder::new("socket");
    let _socket = std::os::unix::net::UnixListener::bind(folder.0.join("s.yaml")).unwrap();
    let want =
        "error: is not a regular file: expected a manifest, so name it on its own, or omit it";
    assert_eq!(folder.read(&["."]), [format!("./s.yaml={want}")]);
}

#[test]
fn a_huge_file_is_refused_unread() {
    let folder = Folder::new("huge");
    let file = fs::File::create(folder.0.join("huge.yaml")).unwrap();
    file.set_len(1 << 40).unwrap();
    assert_eq!(
        folder.read(&["huge.yaml"]),
        [format!("huge.yaml={TOO_LARGE}")]
    );
}

#[test]
fn an_endless_pipe_is_read_to_the_limit_only() {
    let mut inputs = Inputs::new([PathBuf::from("-")], io::repeat(b'#'));
    let bytes = inputs.next().expect("standard input").bytes;
    assert!(matches!(bytes, Err(InputError::TooLarge)));
    let exactly = io::repeat(b'#').take(MAX_BYTES);
    let bytes = Inputs::new([PathBuf::from("-")], exactly)
        .next()
        .expect("standard input")
        .bytes;
    assert_eq!(bytes.expect("within the limit").len() as u64, MAX_BYTES);
}

#[test]
fn an_unreadable_pipe_is_an_error() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("gone"))
        }
    }
    let input = Inputs::new([PathBuf::from("-")], Broken)
        .next()
        .expect("standard input");
    assert_eq!(shown(input.bytes), "error: cannot be read: gone");
}

#[test]
fn files_are_read_when_they_are_asked_for() {
    let folder = Folder::new("lazy");
    folder.write("a.yaml", "a");
    let mut inputs = Inputs::new([folder.0.clone()], io::empty());
    folder.write("b.yaml", "b");
    assert!(
        inputs
            .next()
            .is_some_and(|input| Path::new(&input.path).ends_with("a.yaml"))
    );
    folder.write("b.yaml", "changed");
    assert_eq!(
        inputs.next().map(|input| shown(input.bytes)),
        Some("changed".to_owned())
    );
}
