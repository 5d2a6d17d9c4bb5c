use serde_json::json;

use super::*;

/// A broken file that holds an extension of this name, and is as long as asked for.
fn broken(name: &str, bytes: usize) -> Vec<u8> {
    let mut text = format!("kind: ClusterExtension\nmetadata: {{name: {name}\n#").into_bytes();
    text.resize(bytes.max(text.len()), b'-');
    text
}

fn read(files: Vec<(&str, Vec<u8>)>) -> Objects {
    let mut objects = Objects::default();
    let files = files.into_iter();
    let errors =
        objects.read(files.map(|(file, bytes)| (file.to_owned(), Ok::<_, Problem>(bytes))));
    assert_eq!(errors.len(), objects.unread.len());
    objects
}

/// Whether an extension of this name is found, or the file that leaves it open.
fn find(objects: &Objects, name: &str) -> Result<bool, String> {
    let text = json!({
        "apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterExtension",
        "metadata": {"name": name},
    });
    let text = text.to_string();
    let document = documents(text.as_bytes()).next().expect("a document");
    let (list, _) = document.expect("JSON").into_objects();
    match objects.find("new.yaml", &list[0]) {
        Ok(found) => Ok(found.is_some()),
        Err(Doubt::Unread(file)) => Err(file),
        Err(Doubt::Twice(one, _)) => panic!("{one}: twice"),
    }
}

#[test]
fn a_broken_file_leaves_open_what_it_names() {
    let objects = read(vec![("a.yaml", broken("a", 0)), ("b.yaml", broken("b", 0))]);
    let unread = |file: &str| Err(file.to_owned());
    assert_eq!(find(&objects, "a"), unread("a.yaml"));
    assert_eq!(find(&objects, "b"), unread("b.yaml"));
    assert_eq!(find(&objects, "c"), Ok(false));
}

#[test]
fn past_a_bound_broken_files_are_not_kept_and_leave_everything_open() {
    let third = MOST_KEPT / 3 + 1;
    let files = ["a.yaml", "b.yaml", "c.yaml", "d.yaml"];
    let mut objects = read(files.map(|file| (file, broken("a", third))).to_vec());
    assert_eq!(objects.kept, 2 * third);
    assert_eq!(find(&objects, "other"), Err("c.yaml".to_owned()));
    assert_eq!(
        objects.keep(vec![0; 1024]).map(|kept| kept.len()),
        Some(1024)
    );
}
