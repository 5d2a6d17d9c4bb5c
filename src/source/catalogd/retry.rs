//! When to try again.

use std::num::NonZero;
use std::time::Duration;

/// How often something is tried, and how long is waited in between: twice as long each time, up to
/// a limit, and each time by chance a part of that, so that replicas that failed together do not come
/// back together.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Retry {
    /// The longest pause after the first try.
    pub base: Duration,
    /// The longest pause at all.
    pub cap: Duration,
    /// How many tries there are in all.
    pub tries: NonZero<u32>,
}

impl Retry {
    /// How long to wait after so many tries that failed; `None` if there is no further one.
    ///
    /// `random` is between 0 and 1, new each time. The pause is at least half of the longest.
    pub fn pause(&self, failed: u32, random: f64) -> Option<Duration> {
        (failed < self.tries.get()).then(|| self.delay(failed, random))
    }

    /// The same without an end to the tries.
    pub fn delay(&self, failed: u32, random: f64) -> Duration {
        let doublings = failed.saturating_sub(1).min(u32::BITS - 1);
        let longest = self.base.saturating_mul(1 << doublings).min(self.cap);
        let random = if random.is_finite() {
            random.clamp(0.0, 1.0)
        } else {
            1.0
        };
        // A float rounds: it must not make more of it.
        (longest / 2 + (longest / 2).mul_f64(random)).min(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RETRY: Retry = Retry {
        base: Duration::from_secs(1),
        cap: Duration::from_secs(30),
        tries: NonZero::new(5).unwrap(),
    };

    #[test]
    fn pauses_grow_up_to_their_limit() {
        let longest = |failed| RETRY.delay(failed, 1.0).as_secs();
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(longest), [1, 2, 4, 8, 16, 30, 30]);
        let shortest = |failed| RETRY.delay(failed, 0.0).as_millis();
        assert_eq!([1, 2, 3].map(shortest), [500, 1000, 2000]);
    }

    #[test]
    fn tries_have_an_end() {
        let pauses = (1..).map_while(|failed| RETRY.pause(failed, 0.5));
        assert_eq!(pauses.count(), 4);
    }

    proptest! {
        #[test]
        fn a_pause_keeps_its_bounds(failed: u32, random: f64, base: u64, cap: u64) {
            let (base, cap) = (Duration::from_millis(base), Duration::from_millis(cap));
            let retry = Retry { base, cap, ..RETRY };
            let delay = retry.delay(failed, random);
            prop_assert!(delay <= cap);
            prop_assert!(failed > 1 || delay <= base);
            prop_assert!(delay >= base.min(cap) / 2);
        }
    }
}
