//! The open connections, and which one is closed when there are too many.
//!
//! Slow clients keep no one out. If the last seat is taken, the connection is evicted that has used the largest share of
//! the time allowed in its current state. So a silent handshake is evicted before an idle connection of the same age,
//! and the newest connection last. A connection that waits for an answer is never evicted.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;

use tokio::task::{AbortHandle, Id};

use crate::server::limits::Patience;
use crate::server::pace::PeerWait;

/// The connections that are open.
#[derive(Debug)]
pub(super) struct ConnectionTable {
    most: NonZeroUsize,
    most_per_peer: NonZeroUsize,
    patience: Patience,
    seats: HashMap<Id, Seat>,
    peers: HashMap<IpAddr, usize>,
}

/// One connection.
#[derive(Debug)]
struct Seat {
    peer: IpAddr,
    pace: Arc<PeerWait>,
    task: AbortHandle,
}

/// What became of the wish for one more seat.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Seating {
    /// There is one.
    Free,
    /// There is one now: somebody had to go.
    Made,
    /// There is none: everybody waits for an answer.
    None,
}

impl ConnectionTable {
    pub(super) fn new(most: NonZeroUsize, most_per_peer: NonZeroUsize, patience: Patience) -> Self {
        Self {
            most,
            most_per_peer,
            patience,
            seats: HashMap::new(),
            peers: HashMap::new(),
        }
    }

    /// Sees to it that this peer can have one more.
    pub(super) fn make_room(&mut self, peer: IpAddr) -> Seating {
        let of_peer = self.peers.get(&peer).copied().unwrap_or_default();
        if of_peer >= self.most_per_peer.get() {
            self.evict(|seat| seat.peer == peer)
        } else if self.seats.len() >= self.most.get() {
            self.evict(|_| true)
        } else {
            Seating::Free
        }
    }

    /// How many connections have a seat.
    pub(super) fn len(&self) -> usize {
        self.seats.len()
    }

    /// Notes a connection that has been opened.
    pub(super) fn enter(&mut self, peer: IpAddr, pace: Arc<PeerWait>, task: AbortHandle) {
        *self.peers.entry(peer).or_default() += 1;
        self.seats.insert(task.id(), Seat { peer, pace, task });
    }

    /// Notes that a connection has ended; that of one that was evicted is no news.
    pub(super) fn leave(&mut self, task: Id) {
        let Some(seat) = self.seats.remove(&task) else {
            return;
        };
        if let Some(count) = self.peers.get_mut(&seat.peer) {
            *count -= 1;
            if *count == 0 {
                self.peers.remove(&seat.peer);
            }
        }
    }

    /// Sends one away, whoever it is: the system has no more to give.
    pub(super) fn evict_any(&mut self) -> Seating {
        self.evict(|_| true)
    }

    fn evict(&mut self, may_go: impl Fn(&Seat) -> bool) -> Seating {
        let candidates = self.seats.iter().filter(|(_, seat)| may_go(seat));
        let strained =
            candidates.filter_map(|(id, seat)| Some((seat.pace.strain(&self.patience)?, *id)));
        let Some((_, id)) = strained.max_by_key(|(strain, _)| *strain) else {
            return Seating::None;
        };
        if let Some(seat) = self.seats.get(&id) {
            seat.task.abort();
        }
        self.leave(id);
        Seating::Made
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::time::Duration;

    use tokio::task::JoinSet;

    use super::*;
    use crate::server::pace::WaitingFor;

    struct Hall {
        connections: ConnectionTable,
        tasks: JoinSet<()>,
    }

    impl Hall {
        fn of(most: usize, most_per_peer: usize) -> Self {
            Self {
                connections: ConnectionTable::new(
                    NonZeroUsize::new(most).unwrap(),
                    NonZeroUsize::new(most_per_peer).unwrap(),
                    Patience::default(),
                ),
                tasks: JoinSet::new(),
            }
        }

        /// Takes a seat a second after the last one.
        async fn enter(&mut self, peer: u8, waiting: WaitingFor) -> Id {
            tokio::time::advance(Duration::from_secs(1)).await;
            let pace = Arc::new(PeerWait::new());
            pace.change(waiting);
            let task = self.tasks.spawn(std::future::pending());
            let id = task.id();
            self.connections.enter(address(peer), pace, task);
            id
        }

        /// The connection that was evicted.
        async fn gone(&mut self) -> Id {
            let ended = self.tasks.join_next().await.unwrap().unwrap_err();
            assert!(ended.is_cancelled());
            ended.id()
        }
    }

    fn address(last: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, last).into()
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_used_up_most_patience_goes_first() {
        let mut hall = Hall::of(5, 5);
        let idle = hall.enter(1, WaitingFor::Idle).await;
        hall.enter(1, WaitingFor::Answer).await;
        let fresh = hall.enter(2, WaitingFor::Fresh).await;
        let shaking = hall.enter(2, WaitingFor::Handshake).await;
        let writing = hall.enter(2, WaitingFor::Write).await;
        for expected in [fresh, shaking, writing, idle] {
            assert_eq!(hall.connections.make_room(address(3)), Seating::Made);
            assert_eq!(hall.gone().await, expected);
            hall.enter(3, WaitingFor::Answer).await;
        }
        assert_eq!(hall.connections.make_room(address(3)), Seating::None);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_just_come_outlasts_who_has_been_idle_for_long() {
        let mut hall = Hall::of(2, 2);
        let idle = hall.enter(1, WaitingFor::Idle).await;
        tokio::time::advance(Duration::from_secs(45)).await;
        hall.enter(2, WaitingFor::Handshake).await;
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(hall.connections.make_room(address(3)), Seating::Made);
        assert_eq!(hall.gone().await, idle);
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_too_many_loses_one_of_its_own() {
        let mut hall = Hall::of(8, 2);
        hall.enter(1, WaitingFor::Handshake).await;
        let own = hall.enter(2, WaitingFor::Idle).await;
        assert_eq!(hall.connections.make_room(address(2)), Seating::Free);
        hall.enter(2, WaitingFor::Answer).await;
        assert_eq!(hall.connections.make_room(address(2)), Seating::Made);
        assert_eq!(hall.gone().await, own);
        assert_eq!(hall.connections.make_room(address(2)), Seating::Free);
    }

    #[tokio::test(start_paused = true)]
    async fn who_leaves_frees_a_seat_once() {
        let mut hall = Hall::of(1, 1);
        let id = hall.enter(1, WaitingFor::Idle).await;
        hall.connections.leave(id);
        hall.connections.leave(id);
        assert_eq!(hall.connections.make_room(address(1)), Seating::Free);
        assert!(hall.connections.peers.is_empty());
    }
}
