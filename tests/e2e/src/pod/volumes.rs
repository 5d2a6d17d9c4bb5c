//! The volumes of a pod, as directories.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use k8s_openapi::api::core::v1::{ConfigMap, KeyToPath, PodSpec, Secret, Volume};
use kube::Api;

/// The mounted volumes, each with its path in the container.
pub(super) struct Volumes {
    client: kube::Client,
    namespace: String,
    mounted: Vec<Mounted>,
}

/// The files of a volume, by name.
type Files = BTreeMap<String, Vec<u8>>;

struct Mounted {
    path: String,
    folder: PathBuf,
    volume: Volume,
}

impl Volumes {
    pub(super) async fn mount(
        dir: &Path,
        client: &kube::Client,
        namespace: &str,
        spec: &PodSpec,
    ) -> Result<Self> {
        let mounts = spec
            .containers
            .iter()
            .flat_map(|container| container.volume_mounts.iter().flatten());
        let mounted = mounts
            .map(|mount| {
                let volume = spec
                    .volumes
                    .iter()
                    .flatten()
                    .find(|volume| volume.name == mount.name);
                Ok(Mounted {
                    path: mount.mount_path.clone(),
                    folder: dir.join(&mount.name),
                    volume: volume
                        .with_context(|| format!("no volume is named {}", mount.name))?
                        .clone(),
                })
            })
            .collect::<Result<_>>()?;
        let volumes = Self {
            client: client.clone(),
            namespace: namespace.to_owned(),
            mounted,
        };
        volumes.refresh().await?;
        Ok(volumes)
    }

    /// Replaces the container's paths in a text of the template by the directories.
    pub(super) fn located(&self, text: &str) -> String {
        let replaced = |text: String, mounted: &Mounted| {
            text.replace(&mounted.path, &mounted.folder.to_string_lossy())
        };
        self.mounted.iter().fold(text.to_owned(), replaced)
    }

    /// Fills each directory from its object.
    pub(super) async fn refresh(&self) -> Result<()> {
        for mounted in &self.mounted {
            fs::create_dir_all(&mounted.folder)?;
            if let Some(files) = self.files(&mounted.volume).await? {
                swap(&mounted.folder, &files)?;
            }
        }
        Ok(())
    }

    /// Returns the files in the object of a volume, or `None` for a volume that starts empty.
    async fn files(&self, volume: &Volume) -> Result<Option<Files>> {
        if volume.empty_dir.is_some() {
            return Ok(None);
        }
        if let Some(source) = &volume.secret {
            let api: Api<Secret> = Api::namespaced(self.client.clone(), &self.namespace);
            let name = source
                .secret_name
                .as_deref()
                .context("a Secret's volume names it")?;
            let object = api.get_opt(name).await?;
            let data = found(object, source.optional, name)?
                .and_then(|secret| secret.data)
                .unwrap_or_default();
            let files = data.into_iter().map(|(file, bytes)| (file, bytes.0));
            let items = source.items.as_deref().unwrap_or_default();
            return chosen(files.collect(), items, source.optional, name).map(Some);
        }
        if let Some(source) = &volume.config_map {
            let api: Api<ConfigMap> = Api::namespaced(self.client.clone(), &self.namespace);
            let object = api.get_opt(&source.name).await?;
            let data = found(object, source.optional, &source.name)?
                .and_then(|map| map.data)
                .unwrap_or_default();
            let files = data
                .into_iter()
                .map(|(file, text)| (file, text.into_bytes()));
            let items = source.items.as_deref().unwrap_or_default();
            return chosen(files.collect(), items, source.optional, &source.name).map(Some);
        }
        bail!("a volume of a kind that no one plays here: {volume:?}")
    }
}

fn found<T>(object: Option<T>, optional: Option<bool>, name: &str) -> Result<Option<T>> {
    if object.is_none() && optional != Some(true) {
        bail!("the pod would wait for {name}, which is not there");
    }
    Ok(object)
}

/// Returns the files that a volume selects, under its own names, or all files if it has no
/// selection.
fn chosen(files: Files, items: &[KeyToPath], optional: Option<bool>, name: &str) -> Result<Files> {
    if items.is_empty() {
        return Ok(files);
    }
    let mut chosen = Files::new();
    for KeyToPath { key, path, .. } in items {
        match files.get(key) {
            Some(bytes) => {
                chosen.insert(path.clone(), bytes.clone());
            }
            None if optional == Some(true) => {}
            None => bail!("the pod would wait for {key} of {name}, which is not there"),
        }
    }
    Ok(chosen)
}

/// Replaces files as the kubelet does: a new directory, then one rename of the link to it.
fn swap(folder: &Path, files: &Files) -> Result<()> {
    let data = folder.join("..data");
    let old = fs::read_link(&data).ok();
    let fresh = tempfile::Builder::new()
        .prefix("..v")
        .tempdir_in(folder)?
        .keep();
    for (file, bytes) in files {
        fs::write(fresh.join(file), bytes)?;
        let link = folder.join(file);
        if link.symlink_metadata().is_err() {
            symlink(Path::new("..data").join(file), link)?;
        }
    }
    let name = fresh.file_name().context("a folder has a name")?;
    symlink(name, folder.join("..data_tmp"))?;
    fs::rename(folder.join("..data_tmp"), &data)?;
    if let Some(old) = old {
        fs::remove_dir_all(folder.join(old))?;
    }
    Ok(())
}
