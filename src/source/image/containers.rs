//! The files that configure podman, CRI-O and operator-controller: `registries.conf`, and the certificates of hosts.
//!
//! ```text
//! registries.conf     the first of: the user's, /etc/containers, /usr/share/containers
//! registries.conf.d   the same places, each also with one for root or for other users; in the order of file names,
//!                     and only the first of several files with the same name
//! certs.d/HOST        the same places, then /etc/docker; only the first directory that exists
//! ```
//!
//! `CONTAINERS_REGISTRIES_CONF` names one file instead of all these, and `CONTAINERS_REGISTRIES_CONF_OVERRIDE` one more,
//! which is read last.
//!
//! A link to no file is ignored, as upstream does, and a file that cannot be read is an error.
//!
//! Upstream: go.podman.io/storage v1.63.0, [`pkg/configfile/parse.go`]; go.podman.io/image v5.40.0,
//! [`docker/docker_client.go`] (`dockerCertDir`).
//!
//! [`pkg/configfile/parse.go`]: https://github.com/containers/container-libs/blob/storage/v1.63.0/storage/pkg/configfile/parse.go
//! [`docker/docker_client.go`]: https://github.com/containers/container-libs/blob/image/v5.40.0/image/docker/docker_client.go

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs::{self, DirEntry, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use rustix::process::getuid;

/// The places that are searched for the configuration. By default there are none.
#[derive(Clone, Debug, Default)]
pub(super) struct ContainersConfig {
    /// The file that replaces all others.
    only: Option<PathBuf>,
    /// The file that is read last.
    last: Option<PathBuf>,
    /// The directory of the user.
    own: Option<PathBuf>,
    /// The directories of the machine, the most important first.
    shared: Vec<PathBuf>,
    /// Docker's certificates.
    docker: Option<PathBuf>,
    user: u32,
}

/// A file of the configuration, as text.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct ConfigText {
    pub(super) file: PathBuf,
    pub(super) text: String,
}

impl ConfigText {
    /// Returns the line and the column of a byte, counted from 1.
    pub(super) fn position(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(&self.text);
        let last = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, last.chars().count() + 1)
    }
}

/// Why a file of the configuration cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ContainersFault {
    /// The file or directory cannot be read.
    #[error("{}: cannot read: {source}", .path.display())]
    Read {
        /// The file or directory.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file is too large for a configuration.
    #[error("{}: too large: expected a file of at most {CONFIG_BYTES} bytes", .path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

impl ContainersConfig {
    /// The configuration of the current user.
    pub(super) fn of_user() -> Self {
        Self::of(env::var_os, Path::new("/"), getuid().as_raw())
    }

    /// The configuration of a user with these variables, on a machine with this root directory.
    pub(super) fn of(
        variable: impl Fn(&'static str) -> Option<OsString>,
        root: &Path,
        user: u32,
    ) -> Self {
        let path = |name| {
            let value = variable(name).filter(|value| !value.is_empty());
            value.map(PathBuf::from)
        };
        let home = || path("HOME").map(|home| home.join(".config"));
        let own = path("XDG_CONFIG_HOME").or_else(home);
        Self {
            only: path("CONTAINERS_REGISTRIES_CONF"),
            last: path("CONTAINERS_REGISTRIES_CONF_OVERRIDE"),
            own: own.map(|own| own.join("containers")),
            shared: ["etc/containers", "usr/share/containers"]
                .map(|at| root.join(at))
                .into(),
            docker: Some(root.join("etc/docker/certs.d")),
            user,
        }
    }

    /// Returns `registries.conf` and its drop-ins. Later files take precedence.
    pub(super) fn registries(&self) -> Result<Vec<ConfigText>, ContainersFault> {
        let mut texts = Vec::new();
        if let Some(file) = &self.only {
            texts.push(required(file)?);
        } else {
            texts.extend(self.main()?);
            for file in self.drop_ins()?.values() {
                texts.extend(optional(file)?);
            }
        }
        if let Some(file) = &self.last {
            texts.push(required(file)?);
        }
        Ok(texts)
    }

    /// Returns the directory with the certificates for a host.
    pub(super) fn certificates(&self, host: &str) -> Result<Option<PathBuf>, ContainersFault> {
        let directories = self.directories("certs", "").into_iter();
        for directory in directories.chain(self.docker.clone()) {
            let path = directory.join(host);
            match fs::metadata(&path) {
                Ok(_) => return Ok(Some(path)),
                Err(error) if is_absent(&error) => {}
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                Err(source) => return Err(ContainersFault::Read { path, source }),
            }
        }
        Ok(None)
    }

    /// Returns the first main file that exists.
    fn main(&self) -> Result<Option<ConfigText>, ContainersFault> {
        let places = self.own.iter().chain(&self.shared);
        let mut read = places.map(|place| optional(&place.join("registries.conf")));
        read.find_map(Result::transpose).transpose()
    }

    /// Returns the drop-ins by their file names.
    fn drop_ins(&self) -> Result<BTreeMap<OsString, PathBuf>, ContainersFault> {
        let mut files = BTreeMap::new();
        for path in self.directories("registries", ".conf").into_iter().rev() {
            match listed(&path) {
                Ok(found) => files.extend(found),
                Err(error) if is_absent(&error) => {}
                Err(source) => return Err(ContainersFault::Read { path, source }),
            }
        }
        Ok(files)
    }

    /// Returns the directories of this name, the most important first.
    fn directories(&self, name: &str, extension: &str) -> Vec<PathBuf> {
        let common = format!("{name}{extension}.d");
        let own = self.own.iter().map(|place| place.join(&common));
        let mut found: Vec<_> = own.collect();
        for place in &self.shared {
            let of = |users| place.join(format!("{name}.{users}{extension}.d"));
            match self.user {
                0 => found.push(of("rootful")),
                user => found.extend([of("rootless").join(user.to_string()), of("rootless")]),
            }
            found.push(place.join(&common));
        }
        found
    }
}

/// Returns the files of a directory that end in `.conf`, by their names.
fn listed(directory: &Path) -> io::Result<Vec<(OsString, PathBuf)>> {
    let entries: Vec<DirEntry> = fs::read_dir(directory)?.collect::<io::Result<_>>()?;
    let is_drop_in = |entry: &DirEntry| {
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        !is_directory && entry.file_name().as_encoded_bytes().ends_with(b".conf")
    };
    let found = entries.iter().filter(|entry| is_drop_in(entry));
    Ok(found
        .map(|entry| (entry.file_name(), entry.path()))
        .collect())
}

fn required(file: &Path) -> Result<ConfigText, ContainersFault> {
    read(file).map_err(|source| failed(file, source))
}

fn optional(file: &Path) -> Result<Option<ConfigText>, ContainersFault> {
    match read(file) {
        Err(error) if is_absent(&error) => Ok(None),
        read => read.map(Some).map_err(|source| failed(file, source)),
    }
}

fn read(file: &Path) -> io::Result<ConfigText> {
    let mut text = String::new();
    File::open(file)?
        .take(CONFIG_BYTES + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > CONFIG_BYTES {
        return Err(ErrorKind::FileTooLarge.into());
    }
    let file = file.to_owned();
    Ok(ConfigText { file, text })
}

fn failed(path: &Path, source: io::Error) -> ContainersFault {
    let path = path.to_owned();
    match source.kind() {
        ErrorKind::FileTooLarge => ContainersFault::TooLarge { path },
        _ => ContainersFault::Read { path, source },
    }
}

pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

/// The largest configuration file. Files with many registries have some kilobytes.
const CONFIG_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use tempfile::TempDir;

    use super::*;

    /// A machine with these files, and a user with these variables. `ROOT` is its root directory.
    struct Machine(TempDir, ContainersConfig);

    impl Machine {
        fn new(variables: &[(&str, &str)], user: u32, files: &[&str]) -> Self {
            let folder = TempDir::new().unwrap();
            let root = folder.path().to_owned();
            let variable = |name: &'static str| {
                let found = variables.iter().find(|(of, _)| *of == name)?;
                Some(found.1.replace("ROOT", root.to_str().unwrap()).into())
            };
            let config = ContainersConfig::of(variable, &root, user);
            for file in files {
                let path = root.join(file);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, file).unwrap();
            }
            Self(folder, config)
        }

        /// The files that are read, in their order, or the fault.
        fn registries(&self) -> Result<Vec<String>, String> {
            let texts = self
                .1
                .registries()
                .map_err(|fault| self.shown(&fault.to_string()))?;
            Ok(texts.into_iter().map(|text| text.text).collect())
        }

        fn certificates(&self, host: &str) -> Option<String> {
            let found = self.1.certificates(host).unwrap();
            found.map(|path| self.shown(&path.display().to_string()))
        }

        fn shown(&self, text: &str) -> String {
            text.replace(&format!("{}/", self.0.path().display()), "")
        }
    }

    const HOME: &[(&str, &str)] = &[("HOME", "ROOT/home")];

    #[test]
    fn the_first_main_file_is_read_and_then_the_drop_ins() {
        let all = [
            "home/.config/containers/registries.conf",
            "etc/containers/registries.conf",
            "usr/share/containers/registries.conf",
        ];
        for from in 0..3 {
            let machine = Machine::new(HOME, 7, &all[from..]);
            assert_eq!(machine.registries().unwrap(), [all[from]]);
        }
        let drop_ins = [
            "usr/share/containers/registries.conf.d/30.conf",
            "etc/containers/registries.conf.d/20.conf",
            "home/.config/containers/registries.conf.d/10.conf",
            "etc/containers/registries.conf.d/no.txt",
            "etc/containers/registries.conf.d/directory.conf/x",
        ];
        let machine = Machine::new(HOME, 7, &[&all[1..2], &drop_ins].concat());
        let directory = machine.0.path().join("etc/containers/registries.conf.d");
        symlink("20.conf", directory.join("25.conf")).unwrap();
        symlink("none", directory.join("26.conf")).unwrap();
        let expected = [all[1], drop_ins[2], drop_ins[1], drop_ins[1], drop_ins[0]];
        assert_eq!(machine.registries().unwrap(), expected);
        symlink("directory.conf", directory.join("27.conf")).unwrap();
        assert_eq!(
            machine.registries().unwrap_err(),
            "etc/containers/registries.conf.d/27.conf: cannot read: Is a directory (os error 21)"
        );
    }

    #[test]
    fn the_first_of_several_drop_ins_with_one_name_counts() {
        let rootless = [
            "home/.config/containers/registries.conf.d/a.conf",
            "etc/containers/registries.rootless.conf.d/7/a.conf",
            "etc/containers/registries.rootless.conf.d/a.conf",
            "etc/containers/registries.conf.d/a.conf",
            "usr/share/containers/registries.rootless.conf.d/7/a.conf",
            "usr/share/containers/registries.rootless.conf.d/a.conf",
            "usr/share/containers/registries.conf.d/a.conf",
        ];
        let rootful = [
            rootless[0],
            "etc/containers/registries.rootful.conf.d/a.conf",
            rootless[3],
            "usr/share/containers/registries.rootful.conf.d/a.conf",
            rootless[6],
        ];
        for (user, files) in [(7, &rootless[..]), (0, &rootful)] {
            for (at, first) in files.iter().enumerate() {
                let machine = Machine::new(HOME, user, &files[at..]);
                assert_eq!(machine.registries().unwrap(), [*first]);
            }
        }
        let others = Machine::new(HOME, 8, &rootless[1..2]);
        assert_eq!(others.registries().unwrap(), [""; 0]);
    }

    #[test]
    fn the_environment_names_files_that_must_exist() {
        let files = [
            "etc/containers/registries.conf",
            "etc/containers/registries.conf.d/a.conf",
            "config/containers/registries.conf",
            "mine.conf",
            "last.conf",
        ];
        let only = ("CONTAINERS_REGISTRIES_CONF", "ROOT/mine.conf");
        let last = ("CONTAINERS_REGISTRIES_CONF_OVERRIDE", "ROOT/last.conf");
        let config = ("XDG_CONFIG_HOME", "ROOT/config");
        for (variables, expected) in [
            (&[][..], &[files[0], files[1]][..]),
            (&[config, HOME[0]], &[files[2], files[1]]),
            (&[only], &[files[3]]),
            (&[only, last], &[files[3], files[4]]),
            (&[last], &[files[0], files[1], files[4]]),
            (&[("CONTAINERS_REGISTRIES_CONF", "")], &[files[0], files[1]]),
        ] {
            let machine = Machine::new(variables, 7, &files);
            assert_eq!(machine.registries().unwrap(), expected, "{variables:?}");
        }
        let missing = Machine::new(&[("CONTAINERS_REGISTRIES_CONF", "ROOT/no.conf")], 7, &files);
        let expected = "no.conf: cannot read: No such file or directory (os error 2)";
        assert_eq!(missing.registries().unwrap_err(), expected);
    }

    #[test]
    fn a_file_that_is_too_large_is_refused() {
        let machine = Machine::new(HOME, 7, &["etc/containers/registries.conf"]);
        let path = machine.0.path().join("etc/containers/registries.conf");
        let size = usize::try_from(CONFIG_BYTES).unwrap();
        fs::write(&path, "#".repeat(size)).unwrap();
        assert!(machine.registries().is_ok());
        fs::write(&path, "#".repeat(size + 1)).unwrap();
        let expected =
            "etc/containers/registries.conf: too large: expected a file of at most 1048576 bytes";
        assert_eq!(machine.registries().unwrap_err(), expected);
    }

    #[test]
    fn the_first_directory_of_certificates_counts() {
        let files = [
            "home/.config/containers/certs.d/r.example:5000/ca.crt",
            "etc/containers/certs.rootless.d/7/r.example:5000/ca.crt",
            "etc/containers/certs.rootless.d/r.example:5000/ca.crt",
            "etc/containers/certs.d/r.example:5000/ca.crt",
            "usr/share/containers/certs.d/r.example:5000/ca.crt",
            "etc/docker/certs.d/r.example:5000/ca.crt",
        ];
        for (at, first) in files.iter().enumerate() {
            let machine = Machine::new(HOME, 7, &files[at..]);
            let found = machine.certificates("r.example:5000").unwrap();
            assert_eq!(found, first.trim_end_matches("/ca.crt"));
            assert_eq!(machine.certificates("r.example"), None, "the port counts");
        }
        assert_eq!(
            ContainersConfig::default()
                .certificates("r.example")
                .unwrap(),
            None
        );
    }
}
