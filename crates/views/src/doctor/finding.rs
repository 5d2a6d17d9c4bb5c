//! What is said about a check.

use std::time::Duration;

use crate::doctor::facts::{MissingAnswer, Need};
use olmguard_catalog::word_set;

/// What was found by one check.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Finding {
    /// Which check.
    pub check: Check,
    /// How it came out.
    pub state: State,
    /// What was found, in one line.
    pub found: String,
    /// Why that is so, or why it matters, in one line.
    pub cause: Option<String>,
    /// What to run next, to mend it or to see more.
    pub command: Option<String>,
}

word_set! {
    /// How a check came out.
    pub enum State {
        /// As it should be.
        Ok => "ok",
        /// It works, and somebody should look at it.
        Warn => "warn",
        /// It could not be checked.
        Unknown => "unknown",
        /// It does not work.
        Fail => "fail",
    }
}

word_set! {
    /// The checks, in the order in which they are reported.
    pub enum Check {
        /// Is the configuration there, with the guard's webhook in it.
        Configuration => "configuration",
        /// Is that webhook as this version ships it.
        Shipped => "shipped",
        /// What becomes of an edit when the guard cannot be asked.
        FailurePolicy => "failure-policy",
        /// How long an API server waits.
        Timeout => "timeout",
        /// Is the Service there, with the port that is asked.
        Service => "service",
        /// Is anything ready behind it.
        Endpoints => "endpoints",
        /// Are there as many replicas as there should be.
        Deployment => "deployment",
        /// How is each replica.
        Replica => "replica",
        /// Are all replicas of this release.
        Version => "version",
        /// Are the catalogs loaded.
        Catalogs => "catalogs",
        /// Which OLM it judges for.
        Olm => "olm",
        /// Does the `caBundle` vouch for what is shown.
        CaBundle => "ca-bundle",
        /// Is what is shown for the name that API servers use.
        ServerName => "server-name",
        /// For how long is it valid.
        Expiry => "expiry",
        /// May the guard do what it needs.
        Permissions => "permissions",
        /// Does olmguard accept the policies of the cluster.
        Policies => "policies",
        /// Is an edit that must be denied denied, through the API server.
        RoundTrip => "round-trip",
    }
}

impl Check {
    pub(super) fn ok(self, found: impl Into<String>) -> Finding {
        self.finding(State::Ok, found)
    }

    pub(super) fn warn(self, found: impl Into<String>) -> Finding {
        self.finding(State::Warn, found)
    }

    pub(super) fn fail(self, found: impl Into<String>) -> Finding {
        self.finding(State::Fail, found)
    }

    pub(super) fn unknown(self, found: impl Into<String>) -> Finding {
        self.finding(State::Unknown, found)
    }

    /// It could not be asked.
    pub(super) fn unasked(self, unasked: &MissingAnswer) -> Finding {
        let MissingAnswer {
            need,
            is_forbidden,
            why,
        } = unasked;
        let finding = self.unknown(format!("could not be checked: {why}"));
        if !is_forbidden {
            return finding;
        }
        finding
            .since(format!(
                "you do not have the right to {} {}",
                need.verb,
                need.object()
            ))
            .run(can_i(need, None))
    }

    fn finding(self, state: State, found: impl Into<String>) -> Finding {
        Finding {
            check: self,
            state,
            found: found.into(),
            cause: None,
            command: None,
        }
    }
}

impl Finding {
    /// Adds the cause.
    pub(super) fn since(mut self, cause: impl Into<String>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Adds what to run.
    pub(super) fn run(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }
}

impl Need {
    /// What the right is on, and where.
    pub(super) fn object(&self) -> String {
        let name = self.name.as_deref().map(|name| format!("/{name}"));
        let namespace = self.namespace.as_deref().map(|name| format!(" in {name}"));
        let (name, namespace) = (name.unwrap_or_default(), namespace.unwrap_or_default());
        format!("{}{name}{namespace}", self.resource)
    }
}

/// The command that tells whether somebody has a right; without a name, whoever runs it.
pub(super) fn can_i(need: &Need, account: Option<&str>) -> String {
    let name = need.name.as_deref().map(|name| format!("/{name}"));
    // A subresource is no part of the resource for kubectl.
    let (resource, subresource) = match need.resource.split_once('/') {
        Some((resource, sub)) => (resource, format!(" --subresource={sub}")),
        None => (need.resource.as_str(), String::new()),
    };
    let namespace = need.namespace.as_deref().map(|name| format!(" -n {name}"));
    let account = account.map(|account| format!(" --as={account}"));
    format!(
        "kubectl auth can-i {} {resource}{}{subresource}{}{}",
        need.verb,
        name.unwrap_or_default(),
        namespace.unwrap_or_default(),
        account.unwrap_or_default(),
    )
}

/// A length of time in its largest unit that has at least two.
pub(super) fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    let units = [(24 * 60 * 60, "d"), (60 * 60, "h"), (60, "min")];
    let unit = units.into_iter().find(|(length, _)| seconds >= 2 * length);
    let (length, unit) = unit.unwrap_or((1, "s"));
    format!("{} {unit}", seconds / length)
}
