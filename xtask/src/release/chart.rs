//! The chart in one file, as `helm package` makes it, but reproducible.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::archive::{Archive, gzip};
use crate::build::Package;

/// The reason why there is no chart.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ChartError {
    #[error("{path}: {source}", path = .path.display())]
    File { path: PathBuf, source: io::Error },
    #[error("{path} does not have the line `{line}`, which Cargo.toml asks for", path = .path.display())]
    Version { path: PathBuf, line: String },
    #[error(
        "{path} has the pattern {pattern:?}: only `.*` and paths without wildcards are understood",
        path = .path.display()
    )]
    Pattern { path: PathBuf, pattern: String },
}

/// Packs all files except those in `.helmignore`, below a directory with the name of the chart.
pub(super) fn pack(chart: &Path, package: &Package, seconds: u64) -> Result<Vec<u8>, ChartError> {
    check_version(chart, package)?;
    let ignored = ignored(chart)?;
    let mut archive = Archive::new(seconds);
    for path in paths(chart, "")? {
        if !is_ignored(&path, &ignored) {
            let content = fs::read(chart.join(&path)).map_err(at(chart, &path))?;
            archive = archive.file(&format!("{}/{path}", package.name), 0o644, &content);
        }
    }
    Ok(gzip(&archive.finish()))
}

fn check_version(chart: &Path, package: &Package) -> Result<(), ChartError> {
    let text = text(chart, "Chart.yaml")?;
    for key in ["version", "appVersion"] {
        let line = format!("{key}: {}", package.version);
        if !text.lines().any(|found| found == line) {
            let path = chart.join("Chart.yaml");
            return Err(ChartError::Version { path, line });
        }
    }
    Ok(())
}

/// The patterns in `.helmignore`.
fn ignored(chart: &Path) -> Result<Vec<String>, ChartError> {
    let text = text(chart, HELMIGNORE)?;
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    let understood = lines.map(|line| match line {
        HIDDEN => Ok(line.to_owned()),
        _ if line.contains(['*', '?', '[', '!']) => Err(ChartError::Pattern {
            path: chart.join(HELMIGNORE),
            pattern: line.to_owned(),
        }),
        _ => Ok(line.to_owned()),
    });
    understood.collect()
}

fn is_ignored(path: &str, ignored: &[String]) -> bool {
    ignored.iter().any(|pattern| match pattern.as_str() {
        HIDDEN => path.split('/').any(|name| name.starts_with('.')),
        pattern => path == pattern,
    })
}

/// All files below a directory of the chart, by their paths from the chart, in order.
fn paths(chart: &Path, folder: &str) -> Result<Vec<String>, ChartError> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(chart.join(folder)).map_err(at(chart, folder))? {
        let entry = entry.map_err(at(chart, folder))?;
        let path = format!("{folder}{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            paths.extend(self::paths(chart, &format!("{path}/"))?);
        } else {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

fn text(chart: &Path, name: &str) -> Result<String, ChartError> {
    fs::read_to_string(chart.join(name)).map_err(at(chart, name))
}

fn at(chart: &Path, path: &str) -> impl FnOnce(io::Error) -> ChartError + use<> {
    let path = chart.join(path);
    |source| ChartError::File { path, source }
}

const HELMIGNORE: &str = ".helmignore";

/// The pattern of all names that start with a dot.
const HIDDEN: &str = ".*";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_of_another_version_is_an_error() {
        let error = pack_with("version: 0.1.0\nappVersion: 0.0.9\n", "").unwrap_err();
        let error = error.to_string();
        assert!(
            error.ends_with(
                "Chart.yaml does not have the line `appVersion: 0.1.0`, which Cargo.toml asks for"
            ),
            "{error}"
        );
    }

    #[test]
    fn a_pattern_that_is_not_understood_is_an_error() {
        let error = pack_with(
            "version: 0.1.0\nappVersion: 0.1.0\n",
            "# names\n.*\n*.bak\n",
        );
        let error = error.unwrap_err().to_string();
        assert!(
            error.ends_with(
                ".helmignore has the pattern \"*.bak\": only `.*` and paths without wildcards are understood"
            ),
            "{error}"
        );
    }

    fn pack_with(chart: &str, ignored: &str) -> Result<Vec<u8>, ChartError> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("Chart.yaml"), chart).unwrap();
        fs::write(folder.path().join(HELMIGNORE), ignored).unwrap();
        let text = str::to_owned;
        let package = Package {
            name: text("olmguard"),
            version: text("0.1.0"),
            description: text("says"),
            license: text("Apache-2.0"),
        };
        pack(folder.path(), &package, 0)
    }
}
