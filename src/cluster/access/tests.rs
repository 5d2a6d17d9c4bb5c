//! Where the way into a cluster is found, and what is said where it is not.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::find::{Pod, Surroundings};
use super::*;

const GOOD: &str = "\
apiVersion: v1
kind: Config
current-context: dev
clusters:
- {name: here, cluster: {server: 'http://127.0.0.1:1'}}
contexts:
- {name: dev, context: {cluster: here, namespace: tools}}
- {name: broken, context: {cluster: nowhere}}
";

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn path(&self) -> &Path {
        self.0.path()
    }
}

fn named(path: impl Into<PathBuf>) -> Access {
    Access {
        kubeconfig: Some(path.into()),
        context: None,
    }
}

async fn words(access: &Access) -> String {
    match connect(access, Caller::Command).await {
        Ok(cluster) => cluster.words,
        Err(error) => error.to_string(),
    }
}

/// What is said of a kubeconfig with this content, its path left out.
async fn said(yaml: &str, context: Option<&str>) -> String {
    let folder = Folder::new();
    let path = folder.file("config", yaml);
    let access = Access {
        context: context.map(str::to_owned),
        ..named(&path)
    };
    words(&access)
        .await
        .replace(path.to_str().unwrap(), "CONFIG")
}

#[tokio::test]
async fn a_kubeconfig_leads_to_its_current_context_or_to_the_one_asked_for() {
    let folder = Folder::new();
    let path = folder.file("config", GOOD);
    let cluster = connect(&named(&path), Caller::Command).await.unwrap();
    assert_eq!(cluster.namespace, "tools");
    let expected = format!(
        "kubeconfig {}, context \"dev\", http://127.0.0.1:1/",
        path.display()
    );
    assert_eq!(cluster.words, expected);
    assert_eq!(
        said(&GOOD.replace("current-context: dev\n", ""), Some("dev")).await,
        "kubeconfig CONFIG, context \"dev\", http://127.0.0.1:1/"
    );
}

#[tokio::test]
async fn what_is_wrong_with_a_kubeconfig_is_said_with_the_way_out() {
    let missing = "no/such/config";
    assert_eq!(
        words(&named(missing)).await,
        "kubeconfig no/such/config: no such file, named by --kubeconfig: expected the file that \
         kubectl uses"
    );
    assert_eq!(
        said("clusters: [\ntoken: hunter2", None).await,
        "kubeconfig CONFIG: line 1, column 11: not a kubeconfig: expected YAML with clusters, users \
         and contexts"
    );
    assert_eq!(
        said("kind: Config\nclusters: hunter2", None).await,
        "kubeconfig CONFIG: line 2, column 11: not a kubeconfig: expected YAML with clusters, users \
         and contexts"
    );
    assert_eq!(
        said(&GOOD.replace("dev\nclusters", "\"\"\nclusters"), None).await,
        "kubeconfig CONFIG: no current-context: expected --context with one of: broken, dev"
    );
    assert_eq!(
        said(GOOD, Some("prod")).await,
        "kubeconfig CONFIG: no context \"prod\": expected one of: broken, dev"
    );
    assert_eq!(
        said(GOOD, Some("broken")).await,
        "kubeconfig CONFIG: cannot be used: no cluster \"nowhere\" in it, which the context names"
    );
    assert_eq!(
        said(&GOOD.replace("server", "address"), None).await,
        "kubeconfig CONFIG: cannot be used: the cluster of the context has no server: expected its URL"
    );
}

#[tokio::test]
async fn the_output_of_a_plugin_is_not_shown() {
    let plugin = |command: &str| {
        format!(
            "{GOOD}- {{name: p, context: {{cluster: here, user: u}}}}\nusers:\n- name: u\n  user:\n    \
             exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, \
             args: [-c, '{command}']}}\n"
        )
    };
    assert_eq!(
        said(&plugin("echo hunter2; exit 3"), Some("p")).await,
        "kubeconfig CONFIG: cannot be used: the plugin for credentials ended with exit status: 3"
    );
    assert_eq!(
        said(&plugin("echo hunter2"), Some("p")).await,
        "kubeconfig CONFIG: cannot be used: the plugin for credentials answers what is no ExecCredential"
    );
}

/// The place that is found, or what is said.
fn place(access: &Access, caller: Caller, around: &Surroundings) -> String {
    match find::place(access, caller, around) {
        Ok(place) => place.to_string(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_first_place_that_there_is_counts() {
    let folder = Folder::new();
    let home = folder.file("home/.kube/config", GOOD);
    let (one, two) = (folder.file("one", GOOD), folder.file("two", GOOD));
    let mut around = Surroundings {
        kubeconfig: Some(env_list(&[&one, &folder.path().join("none"), &two])),
        home: Some(folder.path().join("home")),
        pod: Pod::Inside,
    };
    let access = Access::default();
    let kubeconfig = |path: &Path| format!("kubeconfig {}", path.display());
    for caller in [Caller::Server, Caller::Command] {
        assert_eq!(place(&named(&two), caller, &around), kubeconfig(&two));
        let both = format!("{}, {}", kubeconfig(&one), two.display());
        assert_eq!(place(&access, caller, &around), both);
    }
    around.kubeconfig = Some(":".into());
    let pod = "the service account of this pod";
    assert_eq!(place(&access, Caller::Server, &around), pod);
    assert_eq!(place(&access, Caller::Command, &around), kubeconfig(&home));
    let with_context = Access {
        context: Some("dev".to_owned()),
        ..Access::default()
    };
    assert_eq!(
        place(&with_context, Caller::Server, &around),
        kubeconfig(&home)
    );
    around.home = Some(folder.path().to_owned());
    assert_eq!(place(&access, Caller::Command, &around), pod);
    around.pod = Pod::Outside;
    assert_eq!(
        place(&access, Caller::Server, &around),
        format!(
            "no cluster: --kubeconfig and KUBECONFIG are not set, there is no {}/.kube/config, and this \
             runs in no pod with a service account: expected one of them",
            folder.path().display()
        )
    );
    around.kubeconfig = Some("/none/a:/none/b".into());
    assert_eq!(
        place(&access, Caller::Server, &around),
        "kubeconfig /none/a, /none/b: no such file, named by KUBECONFIG: expected the file that \
         kubectl uses"
    );
}

fn env_list(paths: &[&Path]) -> std::ffi::OsString {
    std::env::join_paths(paths).unwrap()
}

#[test]
fn several_files_are_read_as_one_and_an_empty_context_is_none() {
    let folder = Folder::new();
    let contexts = GOOD.replace(
        "clusters:\n- {name: here, cluster: {server: 'http://127.0.0.1:1'}}\n",
        "",
    );
    let clusters =
        "current-context: ''\nclusters: [{name: here, cluster: {server: 'http://first:1'}}]";
    let paths = vec![
        folder.file("a", clusters),
        folder.file("b", &contexts),
        folder.file("c", GOOD),
    ];
    let place = Place::Files(find::Files { paths });
    let (config, _) = load::config(&place, None).unwrap();
    assert_eq!(config.cluster_url.to_string(), "http://first:1/");
    assert_eq!(config.default_namespace, "tools");
}

#[test]
fn where_no_authority_is_used_none_of_the_system_is_needed() {
    let config = |url: &str| Config::new(url.parse().unwrap());
    let plain = tuned(config("http://127.0.0.1:1"), Caller::Server);
    assert_eq!(
        (plain.root_cert, plain.default_retry),
        (Some(vec![]), false)
    );
    let mut insecure = config("https://127.0.0.1:1");
    insecure.accept_invalid_certs = true;
    assert_eq!(tuned(insecure, Caller::Command).root_cert, Some(vec![]));
    let usual = tuned(config("https://127.0.0.1:1"), Caller::Command);
    assert_eq!((usual.root_cert, usual.default_retry), (None, true));
    assert_eq!(usual.read_timeout, Some(SILENCE));
}
