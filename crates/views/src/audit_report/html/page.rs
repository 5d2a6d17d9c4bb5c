//! A page of articles with a filter, which needs nothing else.

use crate::xml::{Attributes, Xml};

/// What is around the articles of a page.
pub(crate) struct Page<'a> {
    /// Its title.
    pub(crate) title: &'a str,
    /// What is counted, in a line.
    pub(crate) counts: &'a str,
    /// What could not be read, a line each.
    pub(crate) unread: &'a [String],
    /// The words that the filter offers, each as people are shown it, and with how many articles have it.
    pub(crate) findings: &'a [(&'a str, String, usize)],
}

impl Page<'_> {
    /// The whole page. Each article has the words that the filter offers in its `data-findings`.
    pub(crate) fn write(&self, articles: impl FnOnce(&mut Xml)) -> String {
        let mut xml = Xml::default();
        xml.raw("<!doctype html>\n");
        xml.open("html", &[("lang", &"en")]);
        self.head(&mut xml);
        xml.open("body", &[]);
        xml.text("h1", &[], self.title);
        xml.text("p", &[], self.counts);
        self.not_read(&mut xml);
        self.filter(&mut xml);
        xml.open("main", &[]);
        articles(&mut xml);
        xml.close();
        xml.ours("script", SCRIPT);
        xml.finish()
    }

    /// The form that filters; without its script it is not shown.
    fn filter(&self, xml: &mut Xml) {
        xml.open(
            "form",
            &[("id", &"filter"), ("role", &"search"), ("hidden", &"")],
        );
        xml.open("label", &[]);
        xml.text("span", &[], "Text");
        xml.empty(
            "input",
            &[
                ("id", &"text"),
                ("type", &"search"),
                ("autocomplete", &"off"),
            ],
        );
        xml.close();
        xml.open("label", &[]);
        xml.text("span", &[], "Finding");
        xml.open("select", &[("id", &"finding")]);
        xml.text("option", &[("value", &"")], "any");
        for (id, label, count) in self.findings {
            xml.text("option", &[("value", id)], &format!("{label} ({count})"));
        }
        xml.close();
        xml.close();
        xml.text("output", &[("id", &"shown"), ("for", &"text finding")], "");
        xml.close();
    }

    fn head(&self, xml: &mut Xml) {
        xml.open("head", &[]);
        xml.empty("meta", &[("charset", &"utf-8")]);
        let policy = format!(
            "default-src 'none'; script-src '{SCRIPT_DIGEST}'; style-src '{STYLE_DIGEST}'; base-uri 'none'; \
         form-action 'none'"
        );
        let policy: Attributes<'_> = &[
            ("http-equiv", &"Content-Security-Policy"),
            ("content", &policy),
        ];
        xml.empty("meta", policy);
        let viewport: Attributes<'_> = &[
            ("name", &"viewport"),
            ("content", &"width=device-width, initial-scale=1"),
        ];
        xml.empty("meta", viewport);
        xml.text("title", &[], self.title);
        xml.ours("style", STYLE);
        xml.close();
    }

    fn not_read(&self, xml: &mut Xml) {
        if self.unread.is_empty() {
            return;
        }
        xml.open("section", &[("id", &"faults")]);
        xml.text("h2", &[], "Not read");
        xml.open("ul", &[]);
        for fault in self.unread {
            xml.text("li", &[], fault);
        }
        xml.close();
        xml.close();
    }
}

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("filter.js");

// A digest is the one of the text in the page; a test computes it.
const SCRIPT_DIGEST: &str = "sha256-iaXsC19rswBJj89PGQqY3AJALKn8fIInZ0qlYdt8EOo=";
const STYLE_DIGEST: &str = "sha256-hs+Oi2rXOQRbm7lwxp75Gys0I4T7QoaE4LbdJdPTII8=";
