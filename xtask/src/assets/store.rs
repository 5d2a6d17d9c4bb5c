//! The directory of all programs, shared by all checkouts of this user.

use std::fs::{self, File, TryLockError};
use std::path::{self, Path, PathBuf};
use std::{env, io};

use super::AssetsError;
use super::home::Home;
use super::table::{self, Module};
use crate::report::say;

/// The directory, locked: no other run writes to it until this is dropped.
pub(super) struct Store {
    pub(super) folder: PathBuf,
    _held: File,
}

impl Store {
    /// Opens the directory. Waits for a run that has it locked.
    pub(super) fn open() -> Result<Self, AssetsError> {
        let folder = folder().ok_or(AssetsError::NoFolder)?;
        let lock = folder.join(".lock");
        fs::create_dir_all(&folder)
            .and_then(|()| hold(&lock))
            .map(|held| Self {
                folder,
                _held: held,
            })
            .map_err(|source| AssetsError::File { path: lock, source })
    }

    pub(super) fn home(&self, module: &'static Module) -> Result<Home, AssetsError> {
        Home::of(module, &self.folder)
    }

    /// Removes the directories of modules whose key no longer matches.
    pub(super) fn prune(&self) -> Result<(), AssetsError> {
        let homes = table::all().map(|module| self.home(module).map(|home| home.name));
        let current: Vec<String> = homes.collect::<Result<_, _>>()?;
        for name in names(&self.folder)? {
            if is_of_a_module(&name) && !current.contains(&name) {
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    fn remove(&self, name: &str) -> Result<(), AssetsError> {
        let path = self.folder.join(name);
        say(format_args!("removed {}", path.display()));
        fs::remove_dir_all(&path).map_err(|source| AssetsError::File { path, source })
    }
}

fn hold(lock: &Path) -> io::Result<File> {
    let file = File::create(lock)?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            say(format_args!(
                "waiting for the run that holds {}",
                lock.display()
            ));
            file.lock()?;
        }
        Err(TryLockError::Error(error)) => return Err(error),
        Ok(()) => {}
    }
    Ok(file)
}

fn folder() -> Option<PathBuf> {
    if let Some(folder) = named("OLMGUARD_E2E_ASSETS") {
        return path::absolute(folder).ok();
    }
    let cache = named("XDG_CACHE_HOME").filter(|cache| cache.is_absolute());
    let cache = cache.or_else(|| Some(named("HOME")?.join(".cache")))?;
    cache.is_absolute().then(|| cache.join("olmguard/e2e"))
}

fn named(variable: &str) -> Option<PathBuf> {
    let value = env::var_os(variable).filter(|value| !value.is_empty())?;
    Some(PathBuf::from(value))
}

/// The names of subdirectories. Names that are not valid text are not ours, so they are skipped.
fn names(folder: &Path) -> Result<Vec<String>, AssetsError> {
    let failed = |source| AssetsError::File {
        path: folder.to_owned(),
        source,
    };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir() {
            names.extend(entry.file_name().into_string());
        }
    }
    Ok(names)
}

/// Whether a name is `<module>-<16 digits>`. Nothing else in the directory may be removed.
fn is_of_a_module(name: &str) -> bool {
    let Some((module, key)) = name.rsplit_once('-') else {
        return false;
    };
    let is_key = key.len() == 16 && key.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_key && table::all().any(|known| known.name == module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_folders_of_modules_are_ours_to_remove() {
        for ours in ["olm-0123456789abcdef", "kubernetes-1.30-0123456789abcdef"] {
            assert!(is_of_a_module(ours), "{ours}");
        }
        for other in [
            "olm",
            "olm-1",
            "olm-0123456789abcdeg",
            "mine-0123456789abcdef",
            "0123456789abcdef",
        ] {
            assert!(!is_of_a_module(other), "{other}");
        }
    }
}
