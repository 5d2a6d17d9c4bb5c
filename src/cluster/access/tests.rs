//! The location of the cluster configuration, and the errors if there is none.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use super::*;
use super::{Surroundings, find_place, load_config};

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

/// Returns the error for a kubeconfig with this content, without its path.
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
        "kubeconfig CONFIG:1:11: not a kubeconfig: expected YAML with clusters, users \
         and contexts"
    );
    assert_eq!(
        said("kind: Config\nclusters: hunter2", None).await,
        "kubeconfig CONFIG:2:11: not a kubeconfig: expected YAML with clusters, users \
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
        "kubeconfig CONFIG: cannot be used: the context names the cluster \"nowhere\", which does \
         not exist in it"
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
        "kubeconfig CONFIG: cannot be used: the credential plugin exited with exit status: 3"
    );
    assert_eq!(
        said(&plugin("echo hunter2"), Some("p")).await,
        "kubeconfig CONFIG: cannot be used: the credential plugin did not return an ExecCredential"
    );
}

#[tokio::test]
async fn the_output_of_a_plugin_that_fails_later_is_not_shown() {
    for (later, expected) in [
        ("echo hunter2; exit 3", "exited with exit status: 3"),
        ("echo hunter2", "did not return an ExecCredential"),
    ] {
        let folder = Folder::new();
        let ran = folder.path().join("ran");
        let script = format!(
            "if test -e '{ran}'; then {later}; exit; fi\ntouch '{ran}'\necho '{EXPIRED}'\n",
            ran = ran.display()
        );
        let script = folder.file("plugin", &script);
        let yaml = format!(
            "{GOOD}- {{name: p, context: {{cluster: here, user: u}}}}\nusers:\n- name: u\n  user:\n    \
             exec: {{apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: sh, \
             args: ['{}', hunter2]}}\n",
            script.display()
        );
        let access = Access {
            context: Some("p".to_owned()),
            ..named(folder.file("config", &yaml))
        };
        let cluster = connect(&access, Caller::Server).await.unwrap();
        let error = cluster.client.apiserver_version().await.unwrap_err();
        let fault = crate::cluster::WatchFault::from(&error);
        assert_eq!(fault.class.as_str(), "unauthorized");
        let expected = format!("the credential plugin {expected}");
        assert_eq!(fault.words, expected);
        let listed = crate::cluster::catalogs::list(cluster.client).await;
        assert_eq!(
            listed.unwrap_err().to_string(),
            format!("cannot find out how catalogs are served: {expected}")
        );
    }
}

/// A credential that must be obtained again for each request.
const EXPIRED: &str = r#"{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential",
    "status": {"token": "hunter2", "expirationTimestamp": "2020-01-01T00:00:00Z"}}"#;

#[tokio::test]
async fn passwords_in_urls_are_not_shown() {
    let with = |server: &str| GOOD.replace("http://127.0.0.1:1", server);
    for user in ["me:hunter2", "h", "a%40b:hunter2"] {
        assert_eq!(
            said(&with(&format!("http://{user}@127.0.0.1:1/x?h@y")), None).await,
            "kubeconfig CONFIG, context \"dev\", http://127.0.0.1:1/x?h@y"
        );
    }
    assert_eq!(
        said(
            &with("http://a:1', proxy-url: 'ftp://me:hunter2@proxy"),
            None
        )
        .await,
        "kubeconfig CONFIG: cannot be used: its proxy has the scheme \"ftp\": expected http, https or \
         socks5"
    );
}

#[tokio::test]
async fn an_empty_namespace_is_the_default_one() {
    let folder = Folder::new();
    let path = folder.file("config", &GOOD.replace("tools", "''"));
    let cluster = connect(&named(&path), Caller::Server).await.unwrap();
    assert_eq!(cluster.namespace, "default");
    assert_eq!(cluster.client.default_namespace(), "default");
}

#[test]
fn the_proxy_of_a_cluster_counts_before_those_of_the_environment() {
    let folder = Folder::new();
    let proxies = Proxies {
        http: "http://around:1".to_owned(),
        none: "*".to_owned(),
        ..Proxies::default()
    };
    let proxy = |server: &str, proxies: &Proxies| {
        let path = folder.file("config", &GOOD.replace("http://127.0.0.1:1", server));
        let place = KubeconfigPlace::Files(vec![path]);
        let (config, _) = load_config(&place, None, proxies).unwrap();
        config.proxy_url.map(|proxy| proxy.to_string())
    };
    let own = "http://a.example:1', proxy-url: 'http://own:1";
    assert_eq!(proxy(own, &proxies).as_deref(), Some("http://own:1/"));
    assert_eq!(proxy("http://a.example:1", &proxies), None);
    let proxies = Proxies {
        none: "around".to_owned(),
        ..proxies
    };
    let found = proxy("http://a.example:1', proxy-url: '", &proxies);
    assert_eq!(found.as_deref(), Some("http://around:1/"));
}

/// Returns the location, or the error.
fn place(access: &Access, caller: Caller, around: &Surroundings) -> String {
    match find_place(access, caller, around) {
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
        is_in_pod: true,
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
    assert_eq!(
        place(&with_context, Caller::Server, &around),
        format!(
            "no kubeconfig for the context \"dev\": --kubeconfig and KUBECONFIG are not set, and \
             {}/.kube/config does not exist; give --kubeconfig FILE, or omit --context to use the \
             service account of this pod",
            folder.path().display()
        )
    );
    around.is_in_pod = false;
    assert_eq!(
        place(&access, Caller::Server, &around),
        format!(
            "no cluster: --kubeconfig and KUBECONFIG are not set, {}/.kube/config does not exist, \
             and this is not a pod with a service account; give --kubeconfig FILE",
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

fn env_list(paths: &[&Path]) -> OsString {
    env::join_paths(paths).unwrap()
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
    let place = KubeconfigPlace::Files(paths);
    let (config, _) = load_config(&place, None, &Proxies::default()).unwrap();
    assert_eq!(config.cluster_url.to_string(), "http://first:1/");
    assert_eq!(config.default_namespace, "tools");
}

#[test]
fn where_no_authority_is_used_none_of_the_system_is_needed() {
    let config = |url: &str| Config::new(url.parse().unwrap());
    let plain = tuned(config("http://127.0.0.1:1"));
    assert_eq!(
        (plain.root_cert, plain.default_retry),
        (Some(vec![]), false)
    );
    let mut insecure = config("https://127.0.0.1:1");
    insecure.accept_invalid_certs = true;
    assert_eq!(tuned(insecure).root_cert, Some(vec![]));
    let usual = tuned(config("https://127.0.0.1:1"));
    assert_eq!((usual.root_cert, usual.default_retry), (None, false));
    assert_eq!(usual.read_timeout, Some(SILENCE));
}
