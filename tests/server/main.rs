//! The webhook, asked as an API server asks it.

mod hostile_requests;
mod parity;
mod rotation;
mod serve;
mod telemetry;
