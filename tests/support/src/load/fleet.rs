//! Many connections that ask the same thing again and again, as API servers do under load.
//!
//! In an open loop a request is due at its time whatever became of those before it, and its latency
//! counts from there: a server that stalls is not asked less for it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

use crate::load::figures::Figures;
use crate::load::review::{Edit, UID_TOLD, post};
use crate::load::wire::{Broken, Connection, Response, Target};

/// What is asked, by how many, how often.
#[derive(Clone)]
pub struct Fleet {
    pub target: Target,
    /// The bytes of a request, head and body.
    pub request: Arc<[u8]>,
    /// What each answer must hold, all of it.
    pub expected: Arc<[&'static str]>,
    /// What marks the answers that are counted apart, if any are.
    pub marked: Option<&'static str>,
    pub connections: u32,
    pub rate: Rate,
}

/// When a request is due.
#[derive(Clone, Copy, Debug)]
pub enum Rate {
    /// When the one before it on its connection is answered.
    Closed,
    /// So many times a second, over all connections.
    PerSecond(u32),
}

/// The rate of tests that measure no throughput: far more than an API server sends, and it leaves processors to others.
pub const PACE: Rate = Rate::PerSecond(5_000);

impl Fleet {
    /// Edits of one extension, on so many connections, [`PACE`] a second in all.
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

    /// Asks for some time.
    pub async fn run_for(&self, time: Duration) -> Figures {
        let (stop, stopped) = watch::channel(());
        let (figures, ()) = tokio::join!(self.run_until(stopped), async {
            tokio::time::sleep(time).await;
            drop(stop);
        });
        figures
    }

    /// Asks until the sender of this is dropped; what was asked before is still waited for.
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
    /// When the next request of a member is due; absent if it does not wait.
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
                // Without a timer, which is not finer than a millisecond.
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

    /// Asks on the connection that is open, or on a new one.
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
