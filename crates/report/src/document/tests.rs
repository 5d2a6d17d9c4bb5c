use super::*;
use crate::finding::Severity;

const HOSTILE: &str = "</td><script>\u{1b}|`[x](y)\n@all";

/// A document in which every external text is hostile.
fn document(rows: usize) -> Document {
    let row = Row {
        tone: Tone::Bad,
        findings: vec!["behind"],
        cells: vec![
            Content::foreign(HOSTILE).then_foreign("a.yaml:1:1"),
            Content::foreign("1.2.0"),
            Content::words("3: ").and_foreign(HOSTILE),
        ],
        details: Details {
            summary: "Downgrade".to_owned(),
            items: vec![(Some("behind".to_owned()), HOSTILE.to_owned())],
            facts: vec![("Range".to_owned(), HOSTILE.to_owned())],
        },
    };
    Document {
        name: "olmguard report",
        command: "olmguard report",
        result: Content::words("1 extension"),
        faults: vec![Finding::of_run("run", Severity::Warning, HOSTILE)],
        totals: vec![Total {
            id: "behind",
            label: "behind".to_owned(),
            count: rows,
            tone: Tone::Caution,
        }],
        sections: vec![Section {
            caption: "Extensions",
            layout: Layout::List,
            heads: vec!["Name".into(), Head::of_pages("Newest"), "What to do".into()],
            rows: vec![row; rows],
            details: ["block", "blocks"],
        }],
    }
}

#[test]
fn a_comment_has_texts_of_others_in_code_and_no_column_of_pages() {
    let expected = "\
<!-- olmguard report -->
### olmguard report: 1 extension

- warning: ``</td><script>\\x1b|`[x](y)\\n@all``

| name | what to do |
| --- | --- |
| ``</td><script>\\x1b\\|`[x](y)\\n@all``<br>`a.yaml:1:1` | 3: ``</td><script>\\x1b\\|`[x](y)\\n@all`` |

<details><summary><code>&lt;/td&gt;&lt;script&gt;\\x1b|`[x](y)\\n@all</code>: Downgrade</summary>

```text
behind: </td><script>\\x1b|`[x](y)
@all
```

</details>
";
    assert_eq!(document(1).to_markdown(), expected);
}

#[test]
fn a_comment_that_is_too_long_counts_what_it_leaves_out() {
    let comment = document(2000).to_markdown();
    assert!(comment.len() <= 65_536, "{}", comment.len());
    let rows = comment.matches("| ``").count();
    let last = format!(
        "\n{} rows of the table and 2000 blocks are omitted because of the size limit; `olmguard \
         report` prints all.\n",
        2000 - rows
    );
    assert!(rows > 500 && comment.ends_with(&last), "{rows}: {last}");
}

#[test]
fn a_page_has_every_text_of_others_escaped() {
    let page = document(1).to_html();
    assert!(!page.contains("</td><script>"), "{page}");
    assert!(!page.contains('\u{1b}'), "{page}");
    for part in [
        "<p id=\"result\">1 extension</p>",
        "<li data-state=\"warn\">\n<b>1</b>\n<span>behind</span>",
        "<tbody data-state=\"bad\" data-findings=\"behind\">",
        "data-head=\"Newest\">1.2.0</td>",
        "<b>behind</b>\n<span>&lt;/td&gt;",
        "<dt>Range</dt>\n<dd>&lt;/td&gt;",
    ] {
        assert!(page.contains(part), "{part}\n{page}");
    }
}
