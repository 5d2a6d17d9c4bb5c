//! All test executables of the workspace. Cargo builds them, and they run in parallel.
//!
//! Cargo runs one executable after another. Many have only one test, which leaves processors idle. Here, as many
//! executables run at the same time as there are processors. Each runs its tests one after another, so the time
//! between two results is the time of a test. Executables that measure run alone, after the others.

mod clock;
mod executable;
mod order;
mod run;

use std::collections::VecDeque;
use std::num::NonZero;
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

pub(crate) use self::clock::{Timed, slowest};
pub(crate) use self::executable::{Built, Executable, MessageError};
use self::order::Order;
pub(crate) use self::order::OrderError;
pub(crate) use self::run::Ran;

/// Runs every executable, and passes each to `each` when it ends. A failure does not stop the others.
pub(crate) fn run(
    executables: Vec<Executable>,
    environment: &[(&str, std::ffi::OsString)],
    mut each: impl FnMut(Ran),
) -> Result<(), OrderError> {
    let order = Order::of(executables)?;
    let lanes = thread::available_parallelism().map_or(1, NonZero::get);
    side_by_side(order.beside, lanes, environment, &mut each);
    side_by_side(order.alone, 1, environment, &mut each);
    Ok(())
}

fn side_by_side(
    executables: VecDeque<Executable>,
    lanes: usize,
    environment: &[(&str, std::ffi::OsString)],
    each: &mut impl FnMut(Ran),
) {
    let queue = &Mutex::new(executables);
    let next = || {
        queue
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    thread::scope(|scope| {
        let (sender, ended) = mpsc::channel();
        for _ in 0..lanes {
            let sender = sender.clone();
            scope.spawn(move || {
                while let Some(executable) = next() {
                    // The receiver lives until every sender is dropped.
                    let _ = sender.send(run::run(executable, environment));
                }
            });
        }
        drop(sender);
        ended.into_iter().for_each(each);
    });
}
