//! Lines side by side that do not run over each other.

/// Puts stretches on tracks, each on the first where nothing is in its way; in the order given, so what
/// should lie innermost comes first. Returns the track of each.
pub(super) fn tracks(stretches: impl IntoIterator<Item = (u32, u32)>) -> Vec<usize> {
    let mut taken = Vec::<Vec<(u32, u32)>>::new();
    let place = |(top, bottom): (u32, u32)| {
        let is_free = |track: &Vec<(u32, u32)>| {
            track
                .iter()
                .all(|(other_top, other_bottom)| bottom < *other_top || *other_bottom < top)
        };
        let free = taken.iter().position(is_free);
        let at = free.unwrap_or(taken.len());
        match taken.get_mut(at) {
            Some(track) => track.push((top, bottom)),
            None => taken.push(vec![(top, bottom)]),
        }
        at
    };
    stretches.into_iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_touches_takes_another_track() {
        for (stretches, expected) in [
            (vec![], vec![]),
            (vec![(0, 2), (3, 5)], vec![0, 0]),
            (vec![(0, 2), (2, 5)], vec![0, 1]),
            (vec![(1, 2), (0, 9), (4, 5), (4, 4)], vec![0, 1, 0, 2]),
        ] {
            assert_eq!(tracks(stretches.clone()), expected, "{stretches:?}");
        }
    }
}
