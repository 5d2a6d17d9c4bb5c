//! Normalization of program output, so that runs can be compared.

use std::sync::LazyLock;

use regex::Regex;

/// Replaces the parts of a text that differ from run to run.
pub(crate) fn steady(text: &str) -> String {
    VARIABLE
        .iter()
        .fold(text.to_owned(), |text, (pattern, word)| {
            pattern.replace_all(&text, *word).into_owned()
        })
}

static VARIABLE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"[0-9a-f]{64}", "DIGEST"),
        (
            r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9:.]+(Z| [+-][0-9]{4})",
            "TIME",
        ),
        (r"/\S+/kubectl-edit-[0-9]+", "/tmp/kubectl-edit-N"),
        (r"/\S+/(LIVE|MERGED)-[0-9]+/", "/tmp/$1-N/"),
        (r"127\.96\.0\.[0-9]+", "CLUSTER-IP"),
        (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
        (r#"(resourceVersion: )"?[0-9]+"?"#, "${1}N"),
    ]
    .into_iter()
    .filter_map(|(pattern, word)| Some((Regex::new(pattern).ok()?, word)))
    .collect()
});
