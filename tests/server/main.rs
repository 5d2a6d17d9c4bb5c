//! The webhook, called as an API server calls it.

mod hostile_requests;
mod parity;
mod rotation;
mod serve;
mod telemetry;
