use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use super::{happened, result, runs};
use crate::cli::Exit;
use olmguard_engine::explain::one_line;
use olmguard_engine::judge::Token;
use olmguard_report::text::clean;

/// The contents that a reader of GitHub's Markdown finds.
#[derive(Debug, Default)]
struct Seen {
    /// The cells of each row of the table, without its head: the code in each cell.
    rows: Vec<Vec<Vec<String>>>,
    /// The texts in blocks of code.
    blocks: Vec<String>,
    /// All that is neither code nor markup.
    prose: Vec<String>,
    html: Vec<String>,
    /// Links, images and the like.
    odd: Vec<String>,
}

fn seen(text: &str) -> Seen {
    let mut seen = Seen::default();
    let mut is_block = false;
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_GFM;
    for event in Parser::new_ext(text, options) {
        match event {
            Event::Start(Tag::TableRow) => seen.rows.push(Vec::new()),
            Event::Start(Tag::TableCell) => {
                if let Some(row) = seen.rows.last_mut() {
                    row.push(Vec::new());
                }
            }
            Event::Start(Tag::CodeBlock(_)) => {
                is_block = true;
                seen.blocks.push(String::new());
            }
            Event::End(TagEnd::CodeBlock) => is_block = false,
            Event::Text(text) if is_block => seen.blocks.last_mut().unwrap().push_str(&text),
            Event::Text(text) => seen.prose.push(text.to_string()),
            Event::Code(code) => {
                if let Some(cell) = seen.rows.last_mut().and_then(|row| row.last_mut()) {
                    cell.push(code.to_string());
                }
            }
            Event::Html(html) | Event::InlineHtml(html) => seen.html.push(html.to_string()),
            Event::Start(
                Tag::Table(_)
                | Tag::TableHead
                | Tag::Heading { .. }
                | Tag::HtmlBlock
                | Tag::Item
                | Tag::List(_)
                | Tag::Paragraph,
            )
            | Event::End(_) => {}
            odd => seen.odd.push(format!("{odd:?}")),
        }
    }
    seen
}

#[test]
fn a_row_and_what_was_said() {
    let texts = ["lamp", "apps/a.yaml", "p: refused", "1.0 || 2.0", "old"];
    let denied = result(Token::NotASuccessor, Exit::Denied, texts);
    let good = result(
        Token::Resolved,
        Exit::Good,
        ["good", "apps/b.yaml", "", "1.0", ""],
    );
    let expected = "\
<!-- olmguard check -->
### olmguard check: no extension found

| verdict | extension | from | to | answer | what to do |
| --- | --- | --- | --- | --- | --- |
| denied | `lamp`<br>`apps/a.yaml:11:16` | `1.0 \\|\\| 2.0` | `1.0 \\|\\| 2.0` | `NotASuccessor` | `set 1.0 \\|\\| 2.0 to \"it\"` |
| allowed | `good`<br>`apps/b.yaml:11:16` | `1.0` | `1.0` | `Resolved` |  |

<details><summary><code>lamp</code>: NotASuccessor</summary>

```text
apps/a.yaml:11:16
p: refused
Fix: set 1.0 || 2.0 to it
Help: p: refused
warning: old
```

</details>
";
    let mut run = happened(vec![good, denied]);
    assert_eq!(run.run().document().to_markdown(), expected);
    run.quiet = true;
    assert!(!run.run().document().to_markdown().contains("good"));
}

#[test]
fn a_comment_has_a_limit() {
    let one = |token, counts| {
        let long = "`".repeat(5000);
        result(token, counts, [&*long, "f", &*long, "1", "w"])
    };
    let many = std::iter::repeat_with(|| one(Token::Resolved, Exit::Good)).take(100);
    let bad = std::iter::repeat_with(|| one(Token::Downgrade, Exit::Denied)).take(10);
    let text = happened(many.chain(bad).collect())
        .run()
        .document()
        .to_markdown();
    assert!(text.len() <= 65_536, "{}", text.len());
    let seen = seen(&text);
    assert!(text.find("denied") < text.find("allowed"));
    assert_eq!(seen.blocks.len(), 0);
    let rows = 110 - seen.rows.len();
    let last = format!(
        "\n{rows} rows of the table and 110 blocks of details are omitted because of the size limit; \
         `olmguard check` prints all.\n"
    );
    assert!(text.ends_with(&last), "{last}");
    assert!(seen.rows.len() > 10, "{}", seen.rows.len());
}

proptest! {
    #[test]
    fn texts_of_others_are_code_and_nothing_else(happened in runs()) {
        let run = happened.run();
        let text = run.document().to_markdown();
        prop_assert!(text.starts_with("<!-- olmguard check -->\n"));
        let seen = seen(&text);
        prop_assert_eq!(seen.odd, Vec::<String>::new(), "{}", text);
        let mut shown: Vec<_> = run.shown().filter(|told| told.is_bad()).collect();
        shown.extend(run.shown().filter(|told| !told.is_bad()));
        prop_assert_eq!(seen.rows.len(), shown.len(), "{}", text);
        for (row, told) in seen.rows.iter().zip(&shown) {
            prop_assert_eq!(row.len(), 6, "{}", text);
            prop_assert_eq!(&row[4], &[told.token()]);
            let name = one_line(&told.name());
            if !name.contains('\\') && !name.is_empty() && name.chars().count() < 200 {
                prop_assert_eq!(&row[1][0], &name);
            }
        }
        let known = ["olmguard check: ", "denied", "undecided", "allowed", "not judged", "error:",
            "warning:",
            "note:", "verdict", "extension", "from", "to", "answer", "what to do", "no extension found"];
        for prose in seen.prose {
            prop_assert!(known.iter().any(|known| prose.contains(known)) && prose.len() < 40, "{}", prose);
        }
        let bodies: Vec<_> = shown.iter().filter(|told| told.answer.message.is_some()).collect();
        for told in bodies {
            let whole = clean(&told.text());
            prop_assert!(seen.blocks.iter().any(|block| block.contains(&whole)), "{}", text);
        }
        let is_ours = |html: &String| {
            let html = html.trim();
            html.is_empty() || html == "<br>" || html == "</details>" || html.starts_with("<!-- olmguard")
                || html.starts_with("<details><summary><code>")
        };
        prop_assert!(seen.html.iter().all(is_ours), "{:?}", seen.html);
    }
}
