//! A logarithmic axis, and the distances between labels.

use olmguard_figures::number;

/// Whole decades from the smallest to the largest of some values, mapped to a range of coordinates.
pub(super) struct Scale {
    first: f64,
    last: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Returns `None` if no value is positive.
    pub(super) fn of(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Self> {
        let powers = values
            .filter(|value| *value > 0.0 && value.is_finite())
            .map(f64::log10);
        let (low, high) = powers.fold((f64::MAX, f64::MIN), |(low, high), value| {
            (low.min(value), high.max(value))
        });
        let (first, last) = (low.floor(), high.ceil());
        (low <= high).then_some(Self {
            first,
            last: last.max(first + 1.0),
            from,
            to,
        })
    }

    pub(super) fn place(&self, value: f64) -> f64 {
        let part = (value.log10() - self.first) / (self.last - self.first);
        self.from + part.clamp(0.0, 1.0) * (self.to - self.from)
    }

    /// Each power of ten, with its coordinate.
    pub(super) fn decades(&self) -> impl Iterator<Item = (f64, f64)> {
        let powers = std::iter::successors(Some(self.first), |power| Some(power + 1.0));
        let powers = powers.take_while(|power| *power <= self.last);
        powers.map(|power| {
            let value = 10_f64.powf(power);
            (value, self.place(value))
        })
    }
}

/// Formats microseconds in a readable unit.
pub(super) fn duration(microseconds: f64) -> String {
    let (value, unit) = match microseconds {
        long if long >= 1e6 => (long / 1e6, "s"),
        middle if middle >= 1e3 => (middle / 1e3, "ms"),
        short => (short, "µs"),
    };
    format!("{} {unit}", number(value))
}

/// Moves sorted coordinates between `top` and `bottom` apart, so that they have this distance.
pub(super) fn spread(mut places: Vec<f64>, room: f64, top: f64, bottom: f64) -> Vec<f64> {
    let mut least = top;
    for place in &mut places {
        *place = place.max(least);
        least = *place + room;
    }
    let mut most = bottom;
    for place in places.iter_mut().rev() {
        *place = place.min(most);
        most = *place - room;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_has_whole_decades() {
        let scale = Scale::of([30.0, 4_000.0].into_iter(), 0.0, 300.0).unwrap();
        let decades: Vec<_> = scale
            .decades()
            .map(|(value, place)| (number(value), number(place)))
            .collect();
        let expected = [
            ("10", "0"),
            ("100", "100"),
            ("1,000", "200"),
            ("10,000", "300"),
        ];
        assert_eq!(
            decades,
            expected.map(|(value, place)| (value.to_owned(), place.to_owned()))
        );
        assert!(Scale::of([0.0].into_iter(), 0.0, 1.0).is_none());
    }

    #[test]
    fn labels_have_room_and_stay_inside() {
        let spread = spread(vec![10.0, 12.0, 95.0, 96.0], 10.0, 0.0, 100.0);
        let places: Vec<_> = spread.into_iter().map(number).collect();
        assert_eq!(places, ["10", "20", "90", "100"]);
    }

    #[test]
    fn a_time_has_the_unit_of_its_size() {
        let times = [0.1, 10.0, 1e4, 1e6].map(duration);
        assert_eq!(times, ["0.10 µs", "10 µs", "10 ms", "1 s"]);
    }
}
