//! The page of an upgrade graph in a real browser: it is drawn as reckoned, a click tells the way, the
//! search finds, it can be dark, and nothing is asked of any network.
//!
//! `OLMGUARD_CHROMEDRIVER` names the driver, which finds its Chromium; without it the tests are left
//! out. Screenshots lie in the folder for temporary files of the build.

#![expect(
    clippy::print_stdout,
    reason = "a test may fail, and says what it left out"
)]

use std::fs;
use std::path::{Path, PathBuf};

use olmguard_catalog::graph::Graph;
use olmguard_views::picture::html::html;
use olmguard_views::picture::layout::layout;
use olmguard_views::picture::sketch::Row;
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
    let from_next = sketch.walk.reach(next.to, None);
    assert_ne!(from_next.hops, reach.hops);
    assert_eq!(hops_at_the_axis(&mut browser), told_hops(&from_next));
    browser.is_quiet();
}

/// What stands beside each version: its row, and the words.
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
            .map(Row)
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
    let last = u32::try_from(sketch.rows.len() - 1).expect("few");
    let start = (0..=last).rev().find(|row| {
        let row = Row(*row);
        let is_in_lane = sketch.lanes.iter().any(|lane| lane.marks(row).is_some());
        is_in_lane && !sketch.walk.from(row).is_empty()
    });
    let start = Row(start.expect("something leads somewhere"));
    click_tells(&mut browser, &sketch, start, &page);
    search_finds(&mut browser, sketch.label(start));
    keys_lead(&mut browser);
    turns_dark(&mut browser, &page);
    browser.is_quiet();
}

/// What the browser itself measures of the texts.
fn nothing_overlaps(browser: &mut Browser) {
    let pairs = browser.run(
        "const boxes = [...document.querySelectorAll('#canvas text')].map((text) => [text.getBBox(), text.textContent]);
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

/// A click on a version: the panel says where it leads and the way to the highest version.
fn click_tells(browser: &mut Browser, sketch: &Sketch<'_, '_>, start: Row, page: &Path) {
    browser.click(&format!(".pill[data-row=\"{}\"]", start.0));
    let reach = sketch.walk.reach(start, None);
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
    // A second version: the way between the two.
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
    let invalid =
        browser.run("return document.getElementById('search').getAttribute('aria-invalid')");
    assert_eq!(invalid, json!("true"));
}

fn keys_lead(browser: &mut Browser) {
    let led = browser.run(
        "dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
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

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}
