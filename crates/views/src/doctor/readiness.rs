//! What `/readyz` of a replica says.

/// Whether edits should be sent to a replica, and how each thing is that this rests on.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Readiness {
    /// Whether they should.
    pub is_ready: bool,
    /// The first line: the whole answer.
    pub words: String,
    /// Each thing, what is said of it, and whether that is well.
    things: Vec<(String, String)>,
}

impl Readiness {
    /// Reads the body of an answer, of 200 or not.
    pub fn read(is_ready: bool, body: &str) -> Self {
        let mut lines = body.lines();
        let words = lines.next().unwrap_or_default().to_owned();
        let things = lines.filter_map(thing).collect();
        Self {
            is_ready,
            words,
            things,
        }
    }

    /// What is said of a thing, if it is spoken of.
    pub(super) fn of(&self, thing: &str) -> Option<&str> {
        let found = self.things.iter().find(|(name, _)| name == thing);
        found.map(|(_, words)| words.as_str())
    }
}

/// `[+] catalogs: 2 of 2 loaded`.
fn thing(line: &str) -> Option<(String, String)> {
    let rest = ["[+] ", "[-] "]
        .iter()
        .find_map(|mark| line.strip_prefix(mark))?;
    let (name, words) = rest.split_once(": ")?;
    Some((name.to_owned(), words.to_owned()))
}
