//! What each address may have of something that all share.
//!
//! One address may have half of it, so that no flood from one takes all. It is half and not less because
//! behind a proxy every API server of a cluster may have the same address.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;

/// The shares of all addresses.
#[derive(Debug)]
pub(super) struct Peers {
    /// How much each may have.
    pub(super) each: usize,
    shares: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
}

impl Peers {
    /// Of so much in all, one at least for each.
    pub(super) fn of(all: usize) -> Self {
        Self {
            each: (all / 2).clamp(1, Semaphore::MAX_PERMITS),
            shares: Mutex::default(),
        }
    }

    /// The share of an address. It is forgotten once nothing of it is taken.
    pub(super) fn share(&self, peer: IpAddr) -> Arc<Semaphore> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = shares.get(&peer).and_then(Weak::upgrade) {
            return share;
        }
        shares.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.each));
        shares.insert(peer, Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn each_address_has_half_and_is_forgotten_afterwards() {
        let peers = Peers::of(9);
        let [one, other] = [1, 2].map(|last| IpAddr::from(Ipv4Addr::new(192, 0, 2, last)));
        let all = peers.share(one).try_acquire_many_owned(4).unwrap();
        assert!(peers.share(one).try_acquire_owned().is_err());
        let of_other = peers.share(other).try_acquire_owned().unwrap();
        drop((all, of_other));
        assert_eq!(peers.share(one).available_permits(), 4);
        assert_eq!(peers.shares.lock().unwrap().len(), 1);
    }
}
