//! Text with tones: what the words say stays here, how a terminal shows it is the program's.
//!
//! Without a terminal the tones are left out, so no fact may rest on one alone.

use std::fmt;

/// How a piece of text is meant.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tone {
    /// Nothing in particular.
    Plain,
    /// The name of what follows.
    Label,
    /// As it should be.
    Good,
    /// Worth a second look.
    Caution,
    /// In the way.
    Bad,
}

/// Text in pieces, each with its tone; printed, the pieces alone.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TonedText {
    pieces: Vec<(Tone, String)>,
}

impl TonedText {
    /// The pieces in order.
    pub fn pieces(&self) -> impl Iterator<Item = (Tone, &str)> {
        self.pieces.iter().map(|(tone, text)| (*tone, &**text))
    }

    /// Adds a piece, which holds nothing that a terminal would obey.
    pub fn say(&mut self, tone: Tone, text: impl Into<String>) {
        self.pieces.push((tone, text.into()));
    }

    /// Ends the line.
    pub fn end_line(&mut self) {
        self.say(Tone::Plain, "\n");
    }
}

impl fmt::Display for TonedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces().try_for_each(|(_, text)| f.write_str(text))
    }
}
