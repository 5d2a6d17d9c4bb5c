//! The picture as one page that needs nothing else: no network, no other file.
//!
//! The SVG stands in it as it is; a script of our own zooms, folds, searches, and follows edges. What may
//! be followed or folded is worked out here, not there: the page holds, for each version, the steps that
//! OLM takes.
//! Nothing else may run or be loaded: the policy in its head names our script and style by digest, and
//! the data stand in a block that no browser runs, without a character that could end it.

mod changes;
mod data;
mod folds;
mod notes;
mod words;

use crate::picture::scene::Scene;
use crate::picture::sketch::Sketch;
use crate::picture::{svg, text};
use crate::xml::{Attributes, Xml};

/// A whole page.
pub fn html(sketch: &Sketch<'_, '_>, scene: &Scene) -> String {
    let mut xml = Xml::default();
    xml.raw("<!doctype html>\n");
    xml.open("html", &[("lang", &"en")]);
    head(sketch, &mut xml);
    xml.open("body", &[]);
    bar(sketch, &mut xml);
    xml.open("main", &[]);
    xml.open("div", &[("id", &"canvas")]);
    svg::draw(sketch, scene, "group", &mut xml);
    xml.close();
    xml.text(
        "aside",
        &[
            ("id", &"panel"),
            ("aria-live", &"polite"),
            ("aria-label", &words::PANEL),
        ],
        "",
    );
    xml.close();
    xml.raw("<script type=\"application/json\" id=\"data\">");
    xml.raw(&data::data(sketch, scene));
    xml.raw("</script>\n");
    xml.ours("script", SCRIPT);
    xml.finish()
}

fn head(sketch: &Sketch<'_, '_>, xml: &mut Xml) {
    xml.open("head", &[]);
    xml.empty("meta", &[("charset", &"utf-8")]);
    let picture_style = match sketch.comparison {
        Some(_) => COMPARING_STYLE_DIGEST,
        None => PICTURE_STYLE_DIGEST,
    };
    let policy = format!(
        "default-src 'none'; script-src '{SCRIPT_DIGEST}'; style-src '{STYLE_DIGEST}' \
         '{picture_style}'; base-uri 'none'; form-action 'none'"
    );
    xml.empty(
        "meta",
        &[
            ("http-equiv", &"Content-Security-Policy"),
            ("content", &policy),
        ],
    );
    xml.empty(
        "meta",
        &[
            ("name", &"viewport"),
            ("content", &"width=device-width, initial-scale=1"),
        ],
    );
    xml.empty(
        "meta",
        &[("name", &"color-scheme"), ("content", &"light dark")],
    );
    xml.text("title", &[], &words::page_title(&text::title(sketch)));
    xml.ours("style", STYLE);
    xml.close();
}

fn bar(sketch: &Sketch<'_, '_>, xml: &mut Xml) {
    xml.open("header", &[]);
    xml.text("h1", &[], &words::page_title(&text::title(sketch)));
    xml.open("form", &[("id", &"find"), ("role", &"search")]);
    xml.empty(
        "input",
        &[
            ("id", &"search"),
            ("type", &"search"),
            ("autocomplete", &"off"),
            ("placeholder", &words::SEARCH),
            ("aria-label", &words::SEARCH),
            ("aria-controls", &"matches"),
        ],
    );
    let matches: Attributes<'_> = &[
        ("id", &"matches"),
        ("role", &"group"),
        ("aria-label", &words::MATCHES),
        ("hidden", &""),
    ];
    xml.text("div", matches, "");
    xml.close();
    buttons(words::ZOOM, &words::ZOOMS, xml);
    let fold: Attributes<'_> = &[("id", &"fold"), ("type", &"button"), ("hidden", &"")];
    xml.text("button", fold, words::FOLD);
    buttons(words::SAVE, &words::SAVES, xml);
    xml.text(
        "button",
        &[("id", &"theme"), ("type", &"button")],
        words::THEME,
    );
    xml.close();
}

/// Buttons side by side: the id of each, what it does, its text.
fn buttons(name: &str, all: &[(&str, &str, &str)], xml: &mut Xml) {
    let group: Attributes<'_> = &[
        ("class", &"group"),
        ("role", &"group"),
        ("aria-label", &name),
    ];
    xml.open("div", group);
    for (id, label, shown) in all {
        let button: Attributes<'_> = &[
            ("id", id),
            ("type", &"button"),
            ("aria-label", label),
            ("title", label),
        ];
        xml.text("button", button, shown);
    }
    xml.close();
}

const SCRIPT: &str = concat!(
    include_str!("html/places.js"),
    include_str!("html/look.js"),
    include_str!("html/walk.js"),
    include_str!("html/panel.js"),
    include_str!("html/search.js"),
    include_str!("html/save.js"),
    include_str!("html/state.js"),
);
const STYLE: &str = include_str!("html/page.css");

// A digest is that of the text as it stands in the page; a test says what it should be.
const SCRIPT_DIGEST: &str = "sha256-jgCVwmMijL5zJGmAqMlreoz77/PH+ARmjy/0Lbsb228=";
const STYLE_DIGEST: &str = "sha256-h3IPHo0hM2VPXoonQjKvP3EUUdmZ/y8ZWPDwR1Y1wbI=";
const COMPARING_STYLE_DIGEST: &str = "sha256-nCAgkE/ARrUaASRzNnqnuqP9JM0SRH29kSQLY70tHf4=";
const PICTURE_STYLE_DIGEST: &str = "sha256-iQee6mZYEX4ewNDPoVuspoU/RE9HWibvCaMroOw11jE=";
