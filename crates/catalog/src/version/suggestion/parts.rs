//! A version as people write it, whole or short, and the comparators that it makes.

use super::Target;

/// The parts of a version.
#[derive(Clone, Debug)]
pub(super) struct Parts {
    /// One to three; those that are missing and those after a wildcard are not in it.
    numbers: Vec<u64>,
    /// Whether a wildcard follows them.
    is_wild: bool,
    /// Prerelease and build metadata, with their signs.
    rest: String,
}

impl Parts {
    /// None for what is no version.
    pub(super) fn read(text: &str) -> Option<Self> {
        let text = text.strip_prefix(['v', 'V']).unwrap_or(text);
        let core = text.find(|sign: char| !sign.is_ascii_digit() && !".*xX".contains(sign));
        // Gradle's wildcard is `1.2.+`.
        let core = core.filter(|at| !text.ends_with(".+") || at + 1 < text.len());
        let (core, rest) = text.split_at(core.unwrap_or(text.len()));
        let (mut numbers, mut is_wild) = (Vec::new(), false);
        for part in core.split('.') {
            if ["*", "x", "X", "+"].contains(&part) {
                is_wild = true;
            } else if !is_wild {
                numbers.push(part.parse().ok()?);
            }
        }
        let is_version = (1..=3).contains(&numbers.len()) && core.split('.').count() <= 3;
        let rest = match rest.chars().next() {
            Some(letter) if letter.is_ascii_alphabetic() => format!("-{rest}"),
            _ => rest.to_owned(),
        };
        is_version.then_some(Self {
            numbers,
            is_wild,
            rest,
        })
    }

    /// The same with zeros for what is missing.
    pub(super) fn whole(mut self) -> Self {
        if !self.is_wild {
            self.numbers.resize(3, 0);
        }
        self
    }

    /// The comparators of an operator; none if no tool has it.
    pub(super) fn comparator(&self, operator: &str, target: Target) -> Option<String> {
        let operator = match operator {
            "=" | "==" | "===" => "",
            "=>" => ">=",
            "=<" => "<=",
            "<>" | "!" | "!==" => "!=",
            "~>" => "~",
            other => other,
        };
        let is_known = ["", "!=", ">", "<", ">=", "<=", "~", "^"].contains(&operator);
        match (operator, target) {
            ("~=", _) => self.up_to(self.numbers.len().checked_sub(1).filter(|kept| *kept > 0)?),
            (_, Target::Spec) if is_known => Some(format!("{operator}{}", self.written())),
            (_, Target::SkipRange) if is_known => self.skipped(operator),
            (_, Target::Prereleases) => self.with_prereleases(operator),
            _ => None,
        }
    }

    /// With the lowest prerelease, if that changes nothing about releases.
    fn with_prereleases(&self, operator: &str) -> Option<String> {
        let is_short = self.numbers.len() < 3;
        let keeps_releases = match operator {
            ">=" | "<" => true,
            "^" | "~" => !is_short,
            _ => false,
        };
        match self.rest.chars().next() {
            _ if self.is_wild => None,
            None => keeps_releases.then(|| format!("{operator}{}-0", self.padded())),
            Some('-') if !is_short => Some(format!("{operator}{}", self.written())),
            Some(_) => None,
        }
    }

    /// In the grammar of `skipRange`, where a version is whole.
    fn skipped(&self, operator: &str) -> Option<String> {
        let given = self.numbers.len();
        let is_short = given < 3;
        match operator {
            "~" => self.up_to(given.min(2)),
            "^" => {
                let nonzero = self.numbers.iter().position(|number| *number > 0);
                self.up_to(nonzero.map_or(given, |at| at + 1))
            }
            "" if is_short => self.up_to(given),
            "!=" if is_short => None,
            ">" if is_short => Some(format!(">={}", self.next(given)?)),
            "<=" if is_short => Some(format!("<{}", self.next(given)?)),
            operator => Some(format!("{operator}{}", self.padded())),
        }
    }

    /// From the version up to the next one of its first numbers.
    fn up_to(&self, kept: usize) -> Option<String> {
        Some(format!(">={} <{}", self.padded(), self.next(kept)?))
    }

    /// The first version above all that have the same first numbers.
    fn next(&self, kept: usize) -> Option<String> {
        let mut numbers = self.numbers.get(..kept)?.to_vec();
        let last = numbers.last_mut()?;
        *last = last.checked_add(1)?;
        let next = Self {
            numbers,
            is_wild: false,
            rest: String::new(),
        };
        Some(next.padded())
    }

    fn padded(&self) -> String {
        let mut whole = self.clone();
        whole.is_wild = false;
        whole.whole().written()
    }

    fn written(&self) -> String {
        let numbers = self.numbers.iter().map(u64::to_string);
        let wild = self.is_wild.then(|| "x".to_owned());
        let parts: Vec<_> = numbers.chain(wild).collect();
        format!("{}{}", parts.join("."), self.rest)
    }
}
