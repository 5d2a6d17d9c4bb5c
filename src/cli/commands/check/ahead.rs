//! Inputs that are read before the base.
//!
//! Most files do not change. If the content of the inputs is known first, git need not find and
//! unpack unchanged files.

use std::collections::VecDeque;

use crate::manifest::Input;

/// Inputs in their order, of which the first can be read ahead.
#[derive(Debug)]
pub(super) struct InputsAhead<I> {
    read: VecDeque<Input>,
    rest: I,
}

impl<I: Iterator<Item = Input>> InputsAhead<I> {
    pub(super) fn new(rest: I) -> Self {
        let read = VecDeque::new();
        Self { read, rest }
    }

    /// Reads inputs until they use [`MOST_AHEAD`] bytes.
    pub(super) fn read_ahead(&mut self) {
        let mut taken: usize = self.read.iter().map(room).sum();
        while taken < MOST_AHEAD
            && let Some(input) = self.rest.next()
        {
            taken += room(&input);
            self.read.push_back(input);
        }
    }

    /// The content of each input that was read ahead.
    pub(super) fn contents(&self) -> impl Iterator<Item = &[u8]> {
        self.read
            .iter()
            .filter_map(|input| Some(&**input.bytes.as_ref().ok()?))
    }
}

impl<I: Iterator<Item = Input>> Iterator for InputsAhead<I> {
    type Item = Input;

    fn next(&mut self) -> Option<Input> {
        self.read.pop_front().or_else(|| self.rest.next())
    }
}

/// The memory that an input uses. Even an empty file has a path.
fn room(input: &Input) -> usize {
    size_of::<Input>() + input.path.len() + input.bytes.as_ref().map_or(0, Vec::len)
}

/// The maximum size of the inputs that are read ahead, not counting the last file. It fits many
/// thousands of manifests.
const MOST_AHEAD: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::InputError;

    fn input(path: &str, bytes: Result<Vec<u8>, InputError>) -> Input {
        let path = path.to_owned();
        Input { path, bytes }
    }

    fn paths(inputs: impl Iterator<Item = Input>) -> Vec<String> {
        inputs.map(|input| input.path).collect()
    }

    #[test]
    fn what_is_read_ahead_keeps_its_order() {
        let all = || {
            let broken = Err(InputError::NotFound);
            let all = [
                ("a", Ok(b"1".to_vec())),
                ("b", broken),
                ("c", Ok(Vec::new())),
            ];
            all.map(|(path, bytes)| input(path, bytes)).into_iter()
        };
        assert_eq!(paths(InputsAhead::new(all())), ["a", "b", "c"]);
        let mut ahead = InputsAhead::new(all());
        ahead.read_ahead();
        assert_eq!(ahead.contents().collect::<Vec<_>>(), [&b"1"[..], b""]);
        assert_eq!(paths(ahead), ["a", "b", "c"]);
    }

    #[test]
    fn what_is_read_ahead_is_bounded() {
        let half = || Ok(vec![b'a'; MOST_AHEAD / 2]);
        let all = ["a", "b", "c"].map(|path| input(path, half()));
        let mut ahead = InputsAhead::new(all.into_iter());
        ahead.read_ahead();
        ahead.read_ahead();
        assert_eq!(ahead.contents().count(), 2);
        assert_eq!(paths(ahead), ["a", "b", "c"]);
    }
}
