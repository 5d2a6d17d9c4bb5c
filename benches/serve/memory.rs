//! The memory of each idle connection after one request.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use olmguard_figures::{Aim, Figure, Unit, number};
use olmguard_support::load::wire::{Connection, Target};

use super::process::Process;
use super::server::Mode;
use crate::run::Run;
use crate::world::World;

pub(crate) async fn measure(run: &Run, world: &World) {
    let [allowed, ..] = world.questions();
    let request: Arc<[u8]> = allowed.request().into();
    for count in COUNTS.into_iter().take(run.count(COUNTS.len(), 1)) {
        let process = Process::start(Mode::Judge, world);
        // The first requests need memory that is allocated only once: for threads, arenas, and the
        // code itself.
        drop(opened(process.target(), &request, WARM_UP).await);
        let before = process.kib("VmRSS");
        let open = opened(process.target(), &request, count).await;
        let after = process.kib("VmRSS");
        assert_eq!(open.len(), count as usize);
        #[expect(clippy::cast_precision_loss, reason = "a figure for people")]
        let grown = after.saturating_sub(before) as f64;
        let count = f64::from(count);
        let row = format!("memory for each of {} idle connections", number(count));
        run.note(&Figure {
            aim: Some(Aim::AtMost(32.0)),
            ..run.figure(row, Unit::KiB, grown / count)
        });
    }
}

/// Opens this many connections, each of which makes one request.
async fn opened(target: &Target, request: &Arc<[u8]>, count: u32) -> Vec<Connection> {
    let at_once = Arc::new(Semaphore::new(AT_ONCE));
    let mut opening = JoinSet::new();
    for _ in 0..count {
        let (target, request) = (target.clone(), Arc::clone(request));
        let turn = Arc::clone(&at_once);
        opening.spawn(async move {
            let _turn = turn.acquire().await.expect("it is never closed");
            let mut connection = target.connect().await.expect("a connection");
            let response = connection.ask(&request).await.expect("an answer");
            assert_eq!(response.status, 200, "{}", response.head);
            connection
        });
    }
    opening.join_all().await
}

const COUNTS: [u32; 3] = [200, 1000, 5000];
const WARM_UP: u32 = 64;
const AT_ONCE: usize = 16;
