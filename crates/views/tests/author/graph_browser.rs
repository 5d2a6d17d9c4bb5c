//! The page of an upgrade graph in a real browser: the layout is as computed, a click shows the path, the
//! search works, the page can be dark, and it makes no network request.
//!
//! `OLMGUARD_CHROMEDRIVER` names the driver, which finds its Chromium. Without it the tests are
//! skipped. Screenshots are in the directory for temporary files of the build.

#![expect(
    clippy::print_stdout,
    reason = "a test may fail, and says what it left out"
)]

use std::fs;
use std::path::{Path, PathBuf};

use olmguard_catalog::graph::Graph;
use olmguard_fixtures::written::written;
use olmguard_views::picture::html::html;
use olmguard_views::picture::layout::{layout, layout_for_page};
use olmguard_views::picture::sketch::VersionRow;
use olmguard_views::picture::walk::ReachedRows;
use olmguard_views::picture::{Sketch, View};
use serde_json::{Value, json};

use crate::picture::browser::Browser;
use crate::picture::guarded::with_guardrails;
use crate::picture::packages::{Drawn, fixtures, recorded};

#[test]
fn a_small_package() {
    look(|drawn| drawn.name == "promoted");
}

#[test]
fn a_middle_package() {
    look(|drawn| drawn.name == "sailoperator");
}

#[test]
fn the_largest_package() {
    look(|drawn| drawn.name == "project-quay@bundles");
}

#[test]
fn a_package_whose_names_are_attacks() {
    look(|drawn| drawn.name == "hostile");
}

#[test]
fn hops_are_counted_from_the_start_that_was_clicked_last() {
    let mut browser = match Browser::start() {
        Ok(browser) => browser,
        Err(why) => return println!("left out: the hops of a page in a browser, {why}"),
    };
    let drawn = fixtures()
        .into_iter()
        .find(|drawn| drawn.name == "promoted");
    let drawn = drawn.expect("a fixture");
    let package = drawn.catalog.package(drawn.package()).expect("it");
    let graph = Graph::of(drawn.package(), package.expect("decoded"));
    let oldest = graph.find("P.v0.1.0");
    let view = View {
        catalog: "hub",
        from: oldest,
        ..View::default()
    };
    let sketch = Sketch::of(&graph, view).expect("not too large");
    let page = folder().join("graph-hops.html");
    fs::write(&page, html(&sketch, &layout(&sketch))).expect("a page");
    browser.open(&format!("file://{}", page.display()));
    let reach = sketch.reach.as_ref().expect("it starts somewhere");
    assert!(reach.hops.values().any(|hops| *hops > 1), "{reach:?}");
    assert_eq!(hops_at_the_axis(&mut browser), told_hops(reach));
    browser.run("dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))");
    assert_eq!(hops_at_the_axis(&mut browser), json!({}));
    let next = sketch.walk.from(reach.start).first().expect("it leads on");
    browser.click(&format!(".card .pill[data-row=\"{}\"]", next.to.0));
    let from_next = sketch.walk.reach(next.to, None, |_| true);
    assert_ne!(from_next.hops, reach.hops);
    assert_eq!(hops_at_the_axis(&mut browser), told_hops(&from_next));
    browser.is_quiet();
}

/// Returns the row and the text next to each version.
fn hops_at_the_axis(browser: &mut Browser) -> Value {
    browser.run(
        "const said = [...document.querySelectorAll('.axis .row')].map((row) => [row.dataset.row, row.querySelector('.hops')?.textContent]);
         return Object.fromEntries(said.filter(([, hops]) => hops));",
    )
}

fn told_hops(reach: &ReachedRows) -> Value {
    let told = reach.hops.iter().map(|(row, hops)| {
        let hops = match hops {
            0 => "start".to_owned(),
            hops => format!("+{hops}"),
        };
        (row.0.to_string(), json!(hops))
    });
    Value::Object(told.collect())
}

#[test]
fn a_package_with_guardrails() {
    let Ok(mut browser) = Browser::start() else {
        return println!("left out: the page of guardrails in a browser, there is none");
    };
    let mut all = fixtures().into_iter();
    let drawn = all.find(|drawn| drawn.name == "promoted");
    with_guardrails(&drawn.expect("a package of ours"), |graph, guarded| {
        let view = View {
            catalog: "hub",
            guarded: Some(guarded),
            ..View::default()
        };
        let sketch = Sketch::of(graph, view).expect("not too large");
        let page = folder().join("graph-guardrails.html");
        fs::write(&page, html(&sketch, &layout(&sketch))).expect("a page");
        browser.open(&format!("file://{}", page.display()));
        nothing_overlaps(&mut browser);
        let last = u32::try_from(sketch.rows.len()).expect("few");
        let mut barring = (0..last)
            .map(VersionRow)
            .filter(|row| sketch.barred.from(*row).next().is_some());
        let start = barring.next_back().expect("something is forbidden");
        browser.click(&format!(".pill[data-row=\"{}\"]", start.0));
        let told = browser
            .run("return [...document.querySelectorAll('#barred li b')].map((b) => b.textContent)");
        let barred = sketch.barred.from(start);
        let barred: Vec<_> = barred.map(|(to, _)| sketch.label(to)).collect();
        assert_eq!(told, json!(barred));
        browser.screenshot(&page.with_extension("barred.png"));
        browser.is_quiet();
    });
}

fn look(is_it: impl Fn(&Drawn) -> bool) {
    let mut browser = match Browser::start() {
        Ok(browser) => browser,
        Err(why) => return println!("left out: the page in a browser, {why}"),
    };
    let all = fixtures().into_iter().chain(recorded().unwrap_or_default());
    let Some(drawn) = all.into_iter().find(is_it) else {
        return println!("left out: the page of a recorded package in a browser, it is not here");
    };
    let package = drawn
        .catalog
        .package(drawn.package())
        .expect("it")
        .expect("decoded");
    let graph = Graph::of(drawn.package(), package);
    let view = View {
        catalog: "hub",
        ..View::default()
    };
    let sketch = Sketch::of(&graph, view).expect("not too large");
    let page = folder().join(format!("graph-{}.html", drawn.name.replace('@', "-")));
    fs::write(&page, html(&sketch, &layout(&sketch))).expect("a page");
    browser.open(&format!("file://{}", page.display()));
    browser.screenshot(&page.with_extension("light.png"));
    nothing_overlaps(&mut browser);
    unfold(&mut browser, &sketch, &page);
    let last = u32::try_from(sketch.rows.len() - 1).expect("few");
    let start = (0..=last).rev().find(|row| {
        let row = VersionRow(*row);
        let is_in_lane = sketch.lanes.iter().any(|lane| lane.marks(row).is_some());
        is_in_lane && !sketch.walk.from(row).is_empty()
    });
    let start = VersionRow(start.expect("something leads somewhere"));
    click_tells(&mut browser, &sketch, start, &page);
    search_finds(&mut browser, sketch.label(start));
    keys_lead(&mut browser);
    turns_dark(&mut browser, &page);
    browser.is_quiet();
}

/// Checks that every version is visible once everything is unfolded.
fn unfold(browser: &mut Browser, sketch: &Sketch<'_, '_>, page: &Path) {
    let seen = "return [...document.querySelectorAll('.axis .row')].filter((row) => row.getClientRects().length).length";
    let is_folded = browser.run("return !document.getElementById('fold').hidden");
    if is_folded == json!(true) {
        assert!(browser.run(seen).as_u64() < Some(sketch.rows.len() as u64));
        browser.click("#fold");
        nothing_overlaps(browser);
        browser.screenshot(&page.with_extension("unfolded.png"));
    }
    assert_eq!(browser.run(seen), json!(sketch.rows.len()));
}

/// Checks the texts by the measurements of the browser.
fn nothing_overlaps(browser: &mut Browser) {
    let pairs = browser.run(
        "document.getElementById('canvas').scrollTo(0, 0);
         const boxes = [...document.querySelectorAll('#canvas text')].map((text) => [text.getBoundingClientRect(), text.textContent]);
         const bad = [];
         boxes.forEach(([a, one], at) => boxes.slice(at + 1).forEach(([b, other]) => {
           const across = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
           const down = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
           if (across > 1 && down > 4) bad.push([one, other]);
         }));
         return bad;",
    );
    assert_eq!(pairs, json!([]), "texts overlap");
}

/// Clicks a version, and checks that the panel shows its upgrades and the path to the highest version.
fn click_tells(browser: &mut Browser, sketch: &Sketch<'_, '_>, start: VersionRow, page: &Path) {
    browser.click(&format!(".pill[data-row=\"{}\"]", start.0));
    let reach = sketch.walk.reach(start, None, |_| true);
    let told = browser
        .run("return [...document.querySelectorAll('#next li b')].map((b) => b.textContent)");
    let mut next: Vec<_> = sketch
        .walk
        .from(start)
        .iter()
        .map(|hop| sketch.label(hop.to))
        .collect();
    next.dedup();
    assert_eq!(told, json!(next));
    let told = browser
        .run("return [...document.querySelectorAll('#hops li b')].map((b) => b.textContent)");
    let way: Vec<_> = reach
        .way
        .iter()
        .map(|(_, hop)| sketch.label(hop.to))
        .collect();
    assert_eq!(told, json!(way));
    let drawn = browser.run("return document.querySelectorAll('#way path').length");
    assert_eq!(drawn, json!(way.len()), "each hop is followed");
    browser.screenshot(&page.with_extension("way.png"));
    // A click on a second version shows the path between the two.
    let second = sketch
        .walk
        .from(start)
        .last()
        .expect("it leads somewhere")
        .to;
    browser.click(&format!(".pill[data-row=\"{}\"]", second.0));
    let told = browser
        .run("return [...document.querySelectorAll('#hops li b')].map((b) => b.textContent)");
    assert_eq!(told, json!([sketch.label(second)]));
    browser.run("dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}))");
    let way = browser.run("return document.querySelectorAll('#way path, .on-way, .chosen').length");
    assert_eq!(way, json!(0), "Escape starts anew");
}

fn search_finds(browser: &mut Browser, label: &str) {
    browser.run_with(
        "const search = document.getElementById('search');
         search.value = arguments[0];
         document.getElementById('find').requestSubmit();",
        &json!(label),
    );
    let found = browser.run("return document.querySelector('#panel h2').textContent");
    assert_eq!(found, json!(label));
    let is_seen = browser.run(
        "const pill = document.activeElement.getBoundingClientRect(), canvas = document.getElementById('canvas').getBoundingClientRect();
         return pill.top >= canvas.top && pill.bottom <= canvas.bottom && pill.left >= canvas.left - 1;",
    );
    assert_eq!(is_seen, json!(true), "what is found is in sight");
    browser.run(
        "document.getElementById('search').value = 'no such version';
         document.getElementById('find').requestSubmit();",
    );
    let told = browser.run("return document.querySelector('#matches p').textContent");
    assert_eq!(told, json!("No version matches no such version"));
    let invalid =
        browser.run("return document.getElementById('search').getAttribute('aria-invalid')");
    assert_eq!(invalid, json!("true"));
}

fn keys_lead(browser: &mut Browser) {
    let led = browser.run(
        "for (const _ of ['the list of matches', 'the selection']) dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
         const first = document.querySelector('.card .pill');
         first.focus();
         const press = (key) => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
         press('End');
         const end = document.activeElement;
         press('Enter');
         return [end.getAttribute('role'), end.getAttribute('tabindex'), end.getAttribute('aria-label') !== '', end.classList.contains('chosen')];",
    );
    assert_eq!(led, json!(["button", "0", true, true]));
}

fn turns_dark(browser: &mut Browser, page: &Path) {
    let paper = "return getComputedStyle(document.body).backgroundColor";
    let before = browser.run(paper);
    browser.click("#theme");
    let after = browser.run(paper);
    assert_ne!(before, after);
    browser.screenshot(&page.with_extension("dark.png"));
}

/// A package of two groups, each of which is folded, with an installed version in the lower one.
fn long_page(name: &str, installed: &str) -> String {
    let group = |minor: u32| {
        let entries = (0..25).map(|patch| match patch {
            0 => format!("1.{minor}.0"),
            patch => format!("1.{minor}.{patch} replaces 1.{minor}.{}", patch - 1),
        });
        entries.collect::<Vec<_>>().join("; ")
    };
    let lines = format!("new: {}\nold: {}", group(1), group(0));
    let drawn = Drawn::new("long", written(&lines).fbc());
    let package = drawn.catalog.package("P").expect("it").expect("decoded");
    let graph = Graph::of("P", package);
    let view = View {
        catalog: "hub",
        installed: graph.find(installed),
        from: graph.find(installed),
        ..View::default()
    };
    let sketch = Sketch::of(&graph, view).expect("not too large");
    let page = folder().join(name);
    fs::write(&page, html(&sketch, &layout_for_page(&sketch))).expect("a page");
    format!("file://{}", page.display())
}

const IS_SEEN: &str = "const box = document.querySelector(arguments[0]).getBoundingClientRect(), canvas = document.getElementById('canvas').getBoundingClientRect();
    return box.top >= canvas.top && box.bottom <= canvas.bottom && box.left >= canvas.left && box.right <= canvas.right;";

#[test]
fn a_page_opens_at_the_installed_version_and_fits_as_a_whole() {
    let Ok(mut browser) = Browser::start() else {
        return println!("left out: where a page opens, there is no browser");
    };
    browser.open(&long_page("graph-long.html", "P.v1.0.12"));
    let installed = json!(".card .pill.installed");
    assert_eq!(browser.run_with(IS_SEEN, &installed), json!(true));
    browser.click("#fold");
    assert_eq!(browser.run("return location.hash"), json!(""));
    browser.click("#zoom-fit");
    let whole = browser.run_with(IS_SEEN, &json!("#canvas svg"));
    assert_eq!(whole, json!(true), "in width and height");
    browser.click("#zoom-width");
    let gap = browser.run("return Math.abs(document.querySelector('#canvas svg').getBoundingClientRect().width - document.getElementById('canvas').clientWidth)");
    assert!(gap.as_f64() < Some(2.0), "{gap}");
    let notes = browser
        .run("return [...document.querySelectorAll('.remark')].map((note) => note.textContent)");
    let gap = "Gap: no upgrade crosses this line: 1.0.24 and older cannot reach 1.1.0 or newer.";
    assert_eq!(notes, json!([gap]));
    browser.is_quiet();
}

#[test]
fn the_link_of_a_page_holds_its_state_and_nothing_else_comes_of_it() {
    let Ok(mut browser) = Browser::start() else {
        return println!("left out: the link of a page, there is no browser");
    };
    let page = long_page("graph-link.html", "P.v1.0.12");
    let state = "return [chosen && rows[chosen.row].label, chosen && chosen.end && rows[chosen.end].label, scale, search.value, [...opened]]";
    for (link, expected) in [
        ("", json!(["1.0.12", null, 1, "", []])),
        (
            "#from=1.1.3&in=new&to=1.1.9&zoom=50&find=1.1&unfold=0",
            json!(["1.1.3", "1.1.9", 0.5, "1.1", [0]]),
        ),
        ("#from=", json!([null, null, 1, "", []])),
        (
            "#from=%3Cimg%20src%3Dx%3E&zoom=1e9&unfold=9-x-&find=%3Cb%3E",
            json!([null, null, 1, "<b>", []]),
        ),
        ("#zoom=999", json!(["1.0.12", null, 4, "", []])),
    ] {
        browser.open("about:blank");
        browser.open(&format!("{page}{link}"));
        assert_eq!(browser.run(state), expected, "{link}");
    }
    browser.open("about:blank");
    browser.open(&format!("{page}#zoom=50&find={}", "a".repeat(5000)));
    assert_eq!(browser.run(state), json!(["1.0.12", null, 1, "", []]));
    browser.run("document.getElementById('zoom-in').click(); toggle(folds.keys(), true); choose(3, 0, null)");
    let link = browser.run("return String(stated())");
    assert_eq!(link, json!("from=1.1.21&in=new&zoom=125&unfold=all"));
    browser.is_quiet();
}

#[test]
fn a_search_lists_its_matches_and_a_saved_picture_is_whole() {
    let Ok(mut browser) = Browser::start() else {
        return println!("left out: the search of a page, there is no browser");
    };
    browser.open(&long_page("graph-search.html", "P.v1.0.12"));
    browser.run("search.value = '1.1.2'; search.dispatchEvent(new Event('input'))");
    let listed = "return [...document.querySelectorAll('#matches b')].map((b) => b.textContent)";
    let expected = json!(["1.1.2", "1.1.24", "1.1.23", "1.1.22", "1.1.21", "1.1.20"]);
    assert_eq!(browser.run(listed), expected);
    browser.click("#matches li:nth-child(3) button");
    let found = browser.run("return document.querySelector('#panel h2').textContent");
    assert_eq!(found, json!("1.1.23"));
    let saved = browser.run("return still(asSvg)");
    let saved = saved.as_str().expect("a text");
    let document = roxmltree::Document::parse(saved).expect("well-formed");
    let texts: Vec<_> = document
        .descendants()
        .filter_map(|node| node.text())
        .collect();
    assert!(texts.contains(&"P"), "its title is there again");
    assert!(
        texts
            .iter()
            .any(|text| text.starts_with("Gap: no upgrade crosses"))
    );
    assert!(
        !saved.contains("tabindex") && !saved.contains("data-page"),
        "{saved:.600}"
    );
    // The driver waits for the promise.
    let painted = browser.run(
        "const size = new Promise((done) => asPng((blob) => done(blob.size)));
         const page = svg.dataset.page;
         return size.then((size) => [page, size]);",
    );
    assert_eq!(painted[0], json!(""));
    assert!(painted[1].as_u64() > Some(10_000), "{painted}");
    browser.is_quiet();
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}
