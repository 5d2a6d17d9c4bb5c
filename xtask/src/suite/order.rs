//! The order of the executables: which run alone, and which of the others start first.

use std::collections::VecDeque;

use super::executable::Executable;

/// The executables that run in parallel, longest first, and the executables that run alone after
/// them.
pub(super) struct Order {
    pub(super) beside: VecDeque<Executable>,
    pub(super) alone: VecDeque<Executable>,
}

/// A list below names an executable that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("xtask/src/suite/order.rs names {0}, which is not a test executable")]
pub(crate) struct OrderError(&'static str);

impl Order {
    pub(super) fn of(mut executables: Vec<Executable>) -> Result<Self, OrderError> {
        let mut take = |name: &'static str| {
            let at = executables.iter().position(|one| one.name == name);
            at.map(|at| executables.remove(at)).ok_or(OrderError(name))
        };
        let alone = ALONE.map(|(name, why)| {
            take(name).map(|one| Executable {
                alone: Some(why),
                ..one
            })
        });
        let mut beside = LONGEST
            .map(&mut take)
            .into_iter()
            .collect::<Result<VecDeque<_>, _>>()?;
        let alone = alone.into_iter().collect::<Result<_, _>>()?;
        beside.extend(executables);
        Ok(Self { beside, alone })
    }
}

/// Executables that measure something that a busy processor changes, with the reason.
const ALONE: [(&str, &str); 3] = [
    (
        "tests/measured/main.rs",
        "it measures the time and the memory of processes",
    ),
    ("tests/heap/main.rs", "it measures its own heap"),
    (
        "tests/swaps.rs",
        "it measures the heap while catalogs change under load",
    ),
];

/// The longest executables. If one of them started late, the other processors would be idle at the
/// end.
const LONGEST: [&str; 4] = [
    "src/lib.rs",
    "tests/cli/main.rs",
    "crates/views/tests/author/main.rs",
    "crates/engine/tests/engine/main.rs",
];

#[cfg(test)]
mod tests {
    use super::super::executable::tests::executable;
    use super::*;

    fn names(executables: &VecDeque<Executable>) -> Vec<&str> {
        executables.iter().map(|one| &*one.name).collect()
    }

    fn all() -> Vec<Executable> {
        let alone = ALONE.iter().map(|(name, _)| *name);
        let names = ["tests/a.rs"]
            .into_iter()
            .chain(alone)
            .chain(LONGEST)
            .chain(["tests/z.rs"]);
        names.map(executable).collect()
    }

    #[test]
    fn every_executable_has_one_place_and_those_alone_their_reason() {
        let order = Order::of(all()).unwrap();
        let beside: Vec<_> = LONGEST
            .into_iter()
            .chain(["tests/a.rs", "tests/z.rs"])
            .collect();
        assert_eq!(names(&order.beside), beside);
        assert_eq!(names(&order.alone), ALONE.map(|(name, _)| name));
        let reasons: Vec<_> = order.alone.iter().map(|one| one.alone).collect();
        assert_eq!(reasons, ALONE.map(|(_, why)| Some(why)));
        assert!(order.beside.iter().all(|one| one.alone.is_none()));
    }

    #[test]
    fn a_list_that_names_what_does_not_exist_is_a_fault() {
        let error = Order::of(Vec::new()).err().map(|error| error.to_string());
        let expected = "xtask/src/suite/order.rs names src/lib.rs, which is not a test executable";
        assert_eq!(error.as_deref(), Some(expected));
    }
}
