//! Memory for each idle connection after one request.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::bench::catalogs;
use crate::bench::process::Process;
use crate::bench::server::Mode;
use olmguard_support::load::wire::{Connection, Target};

pub(crate) async fn print() {
    println!("memory for each idle connection after one request (aim: below 32 KiB, and flat)");
    for count in COUNTS {
        let process = Process::start(Mode::Judge);
        // What the first requests take, they take once: threads, arenas, the code itself.
        drop(opened(process.target(), WARM_UP).await);
        let before = process.kib("VmRSS");
        let open = opened(process.target(), count).await;
        let after = process.kib("VmRSS");
        let each = after.saturating_sub(before) * 1024 / u64::from(count);
        println!(
            "  {} connections: {before} -> {after} KiB, {each} bytes each",
            open.len()
        );
    }
}

/// So many connections, each of which has asked once.
async fn opened(target: &Target, count: u32) -> Vec<Connection> {
    let request: Arc<[u8]> = catalogs::allowed().request().into();
    let at_once = Arc::new(Semaphore::new(AT_ONCE));
    let mut opening = JoinSet::new();
    for _ in 0..count {
        let (target, request) = (target.clone(), Arc::clone(&request));
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
