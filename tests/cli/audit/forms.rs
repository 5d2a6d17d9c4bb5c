//! The output formats of a report: the content of each, and that no foreign name can break out of it.

use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};

use super::{HUB, audit, list, object, scene};
use olmguard_support::junit::assert_is_junit;

/// Returns names with a special meaning in one of the formats. None has a placeholder, because that would be skipped.
fn hostile() -> Vec<String> {
    let names = [
        "<script >alert(1)</script >",
        "</style><img src=x onerror=alert(1)>",
        "a\" onload=\"alert(1)' x='",
        "a | b \\| c",
        "``` code ` in ``",
        "</details><b >bold</b > [link](javascript:1) @team #1 ![x](y)",
        "esc\u{1b}[31m\u{7}\u{0}\u{9b}2J",
        "line\n  moves: false\r\n---\nkind: Other",
        "turned \u{202e}txt\u{2066}",
        "]]>&#x1b;<!-- -->",
        "{{template ${expression ::error::no",
        "\u{fffe}\u{10ffff}\u{85}\u{feff}",
    ];
    let mut names: Vec<_> = names.map(str::to_owned).to_vec();
    names.push("long".repeat(2560));
    names
}

/// Returns an extension for each name, and another with the name as its package, range, channel and installed bundle.
fn inputs(names: &[String]) -> String {
    let by_name = names.iter().map(|name| object(name, "1.2.0", "1.0.0"));
    let others = names.iter().enumerate().map(|(number, name)| {
        let mut other = object(&format!("other-{number}"), name, name);
        let catalog = &mut other["spec"]["source"]["catalog"];
        catalog["packageName"] = name.as_str().into();
        catalog["channels"] = json!([name]);
        other
    });
    list(&by_name.chain(others).collect::<Vec<_>>())
}

/// Returns the output in this format.
#[track_caller]
fn printed(form: &str, names: &[String]) -> String {
    let (code, stdout, stderr) = audit(&scene(), &["-", HUB, "-o", form], &inputs(names));
    assert_eq!(code, Some(1), "{stderr}");
    assert!(is_plain(&stderr), "{stderr:?}");
    stdout
}

/// Whether a text has no control characters except line feeds, and none that changes the direction of text.
fn is_plain(text: &str) -> bool {
    let is_odd = |character: char| {
        let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{fffe}');
        turns || (character.is_control() && character != '\n')
    };
    !text.contains(is_odd)
}

#[test]
fn every_form_is_plain_text_of_a_bounded_size() {
    let names = hostile();
    for form in ["text", "json", "yaml", "markdown", "html", "junit"] {
        let text = printed(form, &names);
        assert!(is_plain(&text), "{form}: {text:?}");
        assert!(text.len() < 600_000, "{form}: {}", text.len());
    }
}

#[test]
fn text_has_a_line_for_each_name() {
    let names = hostile();
    let text = printed("text", &names);
    let is_head = |line: &&str| !line.starts_with("  ");
    // The summary is one more line.
    assert_eq!(
        text.lines().filter(is_head).count(),
        2 * names.len() + 1,
        "{text}"
    );
}

#[test]
fn json_has_the_names_as_they_are() {
    let names = hostile();
    let report: Value = serde_json::from_str(&printed("json", &names)).expect("one object");
    let extensions = report["extensions"].as_array().expect("a list");
    for name in &names {
        assert!(
            extensions.iter().any(|one| one["name"] == **name),
            "{name:?}"
        );
    }
    let first = extensions
        .iter()
        .find(|one| one["name"] == "other-0")
        .expect("it");
    assert_eq!(
        (&first["package"], &first["range"]),
        (&json!(names[0]), &json!(names[0]))
    );
}

#[test]
fn markdown_has_texts_of_others_in_code_only() {
    let names = hostile();
    let text = printed("markdown", &names);
    assert!(
        text.starts_with("<!-- olmguard audit -->\n### olmguard audit: 26 extensions: "),
        "{text}"
    );
    let mut rows = 0;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_GFM;
    for event in Parser::new_ext(&text, options) {
        match event {
            Event::Start(Tag::TableRow) => rows += 1,
            Event::Start(Tag::Link { .. } | Tag::Image { .. } | Tag::Emphasis | Tag::Strong) => {
                panic!("{text}")
            }
            Event::Html(html) | Event::InlineHtml(html) => {
                let html = html.trim();
                let is_ours = html.is_empty()
                    || html == "</details>"
                    || html.starts_with("<!-- olmguard audit -->")
                    || html.starts_with("<details><summary><code>");
                assert!(is_ours, "{html}");
            }
            _ => {}
        }
    }
    assert_eq!(rows, 2 * names.len());
}

#[test]
fn a_page_has_texts_of_others_as_text_only() {
    let names = hostile();
    let page = printed("html", &names);
    for (markup, count) in [
        ("<script", 1),
        ("<style", 1),
        ("<img", 0),
        ("<b>", 1),
        ("<tbody ", 26),
    ] {
        let found = page.matches(markup).count();
        assert!(
            found == count || (markup == "<b>" && found > 1),
            "{markup}: {found}"
        );
    }
    assert!(page.contains(">&lt;script &gt;alert(1)&lt;/script &gt;</button>"));
    // The page is XML, except for the first line, the script and the style.
    let body = page.split_once("<body>").expect("a body").1;
    let body = body.split_once("<script>").expect("a script").0;
    let body = format!("<body>{body}</body>");
    let document = roxmltree::Document::parse(&body);
    let document = document.expect("well-formed");
    let elements = document.descendants().filter(roxmltree::Node::is_element);
    let attributes = elements.flat_map(|element| element.attributes());
    assert!(attributes.clone().count() > 50);
    assert!(
        attributes
            .clone()
            .all(|attribute| !attribute.name().starts_with("on"))
    );
}

#[test]
fn junit_has_a_case_for_each_name() {
    let names = hostile();
    let xml = printed("junit", &names);
    assert_is_junit(&xml);
    let document = roxmltree::Document::parse(&xml).expect("XML");
    let cases = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"));
    assert_eq!(cases.count(), 2 * names.len());
}

#[test]
fn reports_of_openreports_are_documents() {
    let names = hostile();
    let scene = scene();
    let flags = ["-", HUB, "--report", "--at=2026-11-24T22:00:00Z"];
    let (code, stdout, _) = audit(&scene, &flags, &inputs(&names));
    assert_eq!(code, Some(1));
    assert!(
        is_plain(&stdout) && stdout.starts_with("---\napiVersion: \"openreports.io/v1alpha1\"\n")
    );
    assert!(stdout.contains("      seconds: 1795557600\n"), "{stdout}");
    let documents = olmguard::manifest::documents(stdout.as_bytes());
    let documents: Vec<_> = documents.map(|one| one.expect("YAML").value).collect();
    let results = documents
        .iter()
        .flat_map(|one| one["results"].as_array().expect("a list"));
    let subjects: Vec<_> = results
        .map(|result| &result["resources"][0]["name"])
        .collect();
    let short = names.iter().filter(|name| name.len() < 253);
    for name in short {
        assert!(subjects.contains(&&json!(name)), "{name:?}");
    }
    let (code, _, stderr) = audit(&scene, &["-", HUB, "--report", "-o", "json"], "");
    assert_eq!(code, Some(2));
    assert!(stderr.contains("--report"), "{stderr}");
}

const MARKDOWN: &str = "\
<!-- olmguard audit -->
### olmguard audit: 2 extensions: 1 cannot be resolved, 1 behind, 1 without findings

- error: `gone.yaml: does not exist: expected a file or a directory`

| extension | package | installed | findings | set version to |
| --- | --- | --- | --- | --- |
| `denied` | `p` | `1.0.0` | unresolvable, behind | `>=1.0.0 <=1.2.0` |
| `good` | `p` | `1.2.0` |  |  |

<details><summary><code>denied</code>: NotASuccessor</summary>

```text
unresolvable: 1.2.0 is not a successor of 1.0.0 in catalog hub
behind: 1.2.0 is reachable in 2 steps: set the version to \">=1.0.0 <=1.2.0\"
```

</details>
";

#[test]
fn markdown_counts_what_its_size_limit_omits_by_kind() {
    let objects: Vec<_> = (0..400)
        .map(|number| object(&format!("denied-{number:03}"), "1.2.0", "1.0.0"))
        .collect();
    let (_, text, _) = audit(&scene(), &["-", HUB, "-o", "markdown"], &list(&objects));
    assert!(text.len() <= 65_536, "{}", text.len());
    assert_eq!(text.matches("| `denied-").count(), 400);
    let folds = text.matches("<details>").count();
    assert!((1..400).contains(&folds), "{folds}");
    let omitted = 400 - folds;
    let line = format!(
        "\n{omitted} lists of findings are omitted because of the size limit; `olmguard audit` prints all.\n"
    );
    assert!(text.ends_with(&line), "{line}");
    let many: Vec<_> = (0..4000)
        .map(|number| object(&format!("denied-{number:04}"), "1.2.0", "1.0.0"))
        .collect();
    let (_, text, _) = audit(&scene(), &["-", HUB, "-o", "markdown"], &list(&many));
    let rows = 4000 - text.matches("| `denied-").count();
    let line = format!(
        "\n{rows} rows of the table and 4000 lists of findings are omitted because of the size limit; \
         `olmguard audit` prints all.\n"
    );
    assert!(text.ends_with(&line), "{line}");
}

#[test]
fn markdown_and_junit_name_what_could_not_be_read() {
    let objects = list(&[
        object("good", "1.2.0", "1.2.0"),
        object("denied", "1.2.0", "1.0.0"),
    ]);
    let scene = scene();
    let run = |form| {
        let (code, stdout, _) = audit(&scene, &["-", "gone.yaml", HUB, "-o", form], &objects);
        assert_eq!(code, Some(3), "{form}");
        stdout
    };
    assert_eq!(run("markdown"), MARKDOWN);
    let junit = run("junit");
    assert_is_junit(&junit);
    for part in [
        "<testsuite name=\"inputs\" tests=\"1\" skipped=\"0\" errors=\"1\" failures=\"0\">",
        "<testcase name=\"gone.yaml\" classname=\"inputs\">",
        "<failure message=\"unresolvable: 1.2.0 is not a successor of 1.0.0 in catalog hub\" type=\"NotASuccessor\">",
        "<testcase name=\"good\" classname=\"p\"/>",
    ] {
        assert!(junit.contains(part), "{part}\n{junit}");
    }
    let page = run("html");
    assert!(page.contains("<li>gone.yaml: "), "{page}");
}
