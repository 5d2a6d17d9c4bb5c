//! How deep an expression is nested.

use super::super::Refusal;
use super::token::Token;
use crate::limits;

/// The open brackets, and the sum of their counts.
#[derive(Debug, Default)]
pub(super) struct Levels {
    open: Vec<Level>,
    /// The text outside all brackets.
    outside: Level,
    nesting: usize,
    comprehensions: usize,
    before: Option<Token>,
}

#[derive(Debug, Default)]
struct Level {
    at: usize,
    closes: u8,
    is_comprehension: bool,
    operators: usize,
    questions: usize,
}

impl Levels {
    /// Counts one token.
    pub(super) fn take(&mut self, at: usize, token: Token) -> Result<(), Refusal> {
        match token {
            Token::Nothing => return Ok(()),
            Token::Open { closes } => self.open(at, closes)?,
            Token::Close(byte) => self.close(at, byte)?,
            Token::Operator => self.grow(at, |level| &mut level.operators)?,
            Token::Question => {
                self.forget_operators();
                self.grow(at, |level| &mut level.questions)?;
            }
            Token::Joint | Token::Colon => self.forget_operators(),
            Token::Comma => {
                self.forget_operators();
                let questions = std::mem::take(&mut self.innermost().questions);
                self.nesting -= questions;
            }
            Token::Literal | Token::Name { .. } | Token::Comprehension => {}
        }
        self.before = Some(token);
        Ok(())
    }

    /// Every bracket must be closed.
    pub(super) fn finish(&self) -> Result<(), Refusal> {
        match self.open.last() {
            None => Ok(()),
            Some(Level { at, closes, .. }) => {
                let expected = char::from(*closes);
                let reason = format!("a bracket is not closed: expected {expected:?}");
                Err(Refusal::new(reason, Some(*at)))
            }
        }
    }

    fn open(&mut self, at: usize, closes: u8) -> Result<(), Refusal> {
        let follows_value = matches!(
            self.before,
            Some(Token::Literal | Token::Name { .. } | Token::Comprehension | Token::Close(_))
        );
        if follows_value {
            self.grow(at, |level| &mut level.operators)?;
        }
        let is_comprehension = self.before == Some(Token::Comprehension);
        self.comprehensions += usize::from(is_comprehension);
        if self.comprehensions > limits::EXPRESSION_COMPREHENSIONS {
            let most = limits::EXPRESSION_COMPREHENSIONS;
            let reason = format!("comprehensions are nested too deeply: expected at most {most}");
            return Err(Refusal::new(reason, Some(at)));
        }
        self.open.push(Level {
            at,
            closes,
            is_comprehension,
            ..Level::default()
        });
        self.deeper(at)
    }

    fn close(&mut self, at: usize, byte: u8) -> Result<(), Refusal> {
        let level = self.open.pop().filter(|level| level.closes == byte);
        let Some(level) = level else {
            let reason = format!(
                "unexpected {:?}: no bracket that it closes",
                char::from(byte)
            );
            return Err(Refusal::new(reason, Some(at)));
        };
        self.nesting -= 1 + level.operators + level.questions;
        self.comprehensions -= usize::from(level.is_comprehension);
        Ok(())
    }

    fn grow(&mut self, at: usize, count: fn(&mut Level) -> &mut usize) -> Result<(), Refusal> {
        *count(self.innermost()) += 1;
        self.deeper(at)
    }

    fn deeper(&mut self, at: usize) -> Result<(), Refusal> {
        self.nesting += 1;
        if self.nesting > limits::EXPRESSION_NESTING {
            let most = limits::EXPRESSION_NESTING;
            let reason = format!("nested too deeply: expected at most {most} levels");
            return Err(Refusal::new(reason, Some(at)));
        }
        Ok(())
    }

    fn forget_operators(&mut self) {
        let operators = std::mem::take(&mut self.innermost().operators);
        self.nesting -= operators;
    }

    fn innermost(&mut self) -> &mut Level {
        self.open.last_mut().unwrap_or(&mut self.outside)
    }
}
