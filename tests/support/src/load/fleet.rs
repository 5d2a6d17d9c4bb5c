//! Many connections that repeat the same request, as API servers do under load.
//!
//! In an open loop, a request is due at its time, whatever happens to those before it, and its latency counts from
//! there. So a server that stalls does not get fewer requests.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::load::figures::Figures;
use crate::load::review::{Edit, UID_TOLD, post};
use crate::load::wire::{Broken, Connection, Response, Target};

/// A request, and the connections and the rate at which it is sent.
#[derive(Clone)]
pub struct Fleet {
    pub target: Target,
    /// The bytes of the request, head and body.
    pub request: Arc<[u8]>,
    /// The texts that each answer must contain.
    pub expected: Arc<[&'static str]>,
    /// A text that marks the answers to count separately, if any.
    pub marked: Option<&'static str>,
    pub connections: u32,
    pub rate: Rate,
}

/// The time at which a request is due.
#[derive(Clone, Copy, Debug)]
pub enum Rate {
    /// The next request is due when the previous one on its connection is answered.
    Closed,
    /// This many requests are due per second, over all connections.
    PerSecond(u32),
}

/// The rate of tests that do not measure throughput: far more than an API server sends, but it leaves processors to
/// others.
pub const PACE: Rate = Rate::PerSecond(5_000);

impl Fleet {
    /// Edits of one extension on this many connections, with the total rate [`PACE`].
    pub fn of_edits(target: &Target, connections: u32) -> Self {
        let edit = Edit {
            package: "p",
            catalog: "c",
            installed: ("p.v1", "1.0.0"),
            wanted: "1.1.0",
        };
        Self {
            target: target.clone(),
            request: post(&edit.review()).into(),
            expected: Arc::from([UID_TOLD]),
            marked: None,
            connections,
            rate: PACE,
        }
    }

    /// Sends requests for this time.
    pub async fn run_for(&self, time: Duration) -> Figures {
        let (stop, stopped) = watch::channel(());
        let (figures, ()) = tokio::join!(self.run_until(stopped), async {
            tokio::time::sleep(time).await;
            drop(stop);
        });
        figures
    }

    /// Sends requests until the sender of `stopped` is dropped. Open requests are still awaited.
    pub async fn run_until(&self, stopped: watch::Receiver<()>) -> Figures {
        let begun = Instant::now();
        let mut members = JoinSet::new();
        for number in 0..self.connections {
            let member = Member {
                fleet: self.clone(),
                connection: None,
                figures: Figures::default(),
            };
            members.spawn(member.run(number, begun, stopped.clone()));
        }
        let mut all = Figures::default();
        while let Some(figures) = members.join_next().await {
            all.add(figures.expect("a member does not panic"));
        }
        all
    }
}

impl Rate {
    /// Returns the time of the next request of a member, or `None` if it does not wait.
    fn due(self, begun: Instant, turn: u32) -> Option<Instant> {
        match self {
            Self::Closed => None,
            Self::PerSecond(rate) => Some(begun + Duration::from_secs(turn.into()) / rate),
        }
    }
}

/// One of the connections.
struct Member {
    fleet: Fleet,
    connection: Option<Connection>,
    figures: Figures,
}

impl Member {
    async fn run(
        mut self,
        number: u32,
        begun: Instant,
        mut stopped: watch::Receiver<()>,
    ) -> Figures {
        for turn in (number..).step_by(self.fleet.connections as usize) {
            let due = match self.fleet.rate.due(begun, turn) {
                Some(due) => tokio::select! {
                    biased;
                    _ = stopped.changed() => break,
                    () = sleep_until(due) => due,
                },
                // No timer is used here, because its resolution is only a millisecond.
                None if stopped.has_changed().is_err() => break,
                None => Instant::now(),
            };
            match self.ask().await {
                Ok(response) => self.note(&response, due),
                Err(why) => self.figures.fail(why),
            }
        }
        self.figures
    }

    /// Sends the request on the open connection, or on a new one.
    async fn ask(&mut self) -> Result<Response, String> {
        if let Some(mut open) = self.connection.take() {
            match open.ask(&self.fleet.request).await {
                Ok(response) => return Ok(self.keep(open, response)),
                Err(Broken::BeforeRequest) => self.figures.reconnected += 1,
                Err(Broken::UnderRequest) => self.figures.sent_twice += 1,
                Err(Broken::Failed(why)) => return Err(why),
            }
        }
        let connected = self.fleet.target.connect().await;
        let mut fresh = connected.map_err(|error| format!("cannot connect: {error}"))?;
        let response = fresh.ask(&self.fleet.request).await;
        let response = response.map_err(|broken| format!("on a new connection: {broken}"))?;
        Ok(self.keep(fresh, response))
    }

    fn keep(&mut self, connection: Connection, response: Response) -> Response {
        self.connection = (!response.is_last()).then_some(connection);
        response
    }

    fn note(&mut self, response: &Response, due: Instant) {
        let holds = |mark: &str| memchr::memmem::find(&response.body, mark.as_bytes()).is_some();
        if response.status == 200 && self.fleet.expected.iter().all(|mark| holds(mark)) {
            self.figures.answer(due.elapsed());
            self.figures.farewells += u64::from(response.is_last());
            self.figures.marked += u64::from(self.fleet.marked.is_some_and(holds));
        } else {
            let body = String::from_utf8_lossy(&response.body);
            self.figures
                .fail(format!("status {}: {body}", response.status));
        }
    }
}
