//! How tones look on a terminal.
//!
//! Whether there is colour at all is told by the stream it is written to: anstream leaves it out
//! where the reader is no terminal, or `NO_COLOR` is set.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use olmguard_report::{Text, Tone};

/// Writes the text, each piece in the style of its tone.
pub(crate) fn write(text: &Text, to: &mut (impl Write + ?Sized)) -> io::Result<()> {
    text.pieces().try_for_each(|(tone, piece)| {
        let style = style(tone);
        write!(to, "{style}{piece}{style:#}")
    })
}

/// The style of a tone.
fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Label => Style::new().dimmed(),
        Tone::Good => AnsiColor::Green.on_default(),
        Tone::Caution => AnsiColor::Yellow.on_default(),
        Tone::Bad => AnsiColor::Red.on_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use olmguard_views::range_report::Grammar;
    use olmguard_views::range_report::RangeReport;

    #[test]
    fn styles_end_where_their_piece_ends() {
        let text = RangeReport::new("1x", Grammar::SkipRange, []).to_text();
        let mut painted = Vec::new();
        write(&text, &mut painted).unwrap();
        let painted = String::from_utf8(painted).unwrap();
        assert!(
            painted.starts_with("1x\n\u{1b}[31m^\u{1b}[0m\n\u{1b}[31mCould not"),
            "{painted:?}"
        );
        assert_eq!(
            anstream::adapter::strip_str(&painted).to_string(),
            text.to_string()
        );
    }
}
