//! What is stored is read back, or refused without a word of what it is.

use std::time::{Duration, UNIX_EPOCH};

use serde_json::{Value, json};

use tokio::time::Instant;

use super::{MOST, State};
use crate::tls::self_managed::AUTHORITY_LIFE;
use crate::tls::self_managed::authority_history::{AuthorityHistory, View};

fn made() -> State {
    let now = UNIX_EPOCH + Duration::from_secs(1 << 30);
    let view = View {
        now,
        at: Instant::now(),
        history: &AuthorityHistory::default(),
        own: None,
    };
    State::default().advanced(view).unwrap().unwrap()
}

fn json_of(state: &State) -> Value {
    serde_json::from_slice(&state.write()).unwrap()
}

fn refusal(content: &[u8]) -> String {
    State::read(content).err().unwrap().to_string()
}

#[test]
fn what_is_written_is_read_back() {
    let now = UNIX_EPOCH + Duration::from_secs(1 << 31);
    let state = made().published(now).unwrap();
    let written = state.write();
    assert_eq!(written.capacity(), state.room(), "it never grew");
    let read = State::read(&written).unwrap();
    assert_eq!(json_of(&read), json_of(&state));
    assert!(read.published(now).is_none(), "all are");
}

#[test]
fn what_is_damaged_is_refused_and_not_told() {
    let good = json_of(&made());
    let other = json_of(&made());
    let with = |key: &str, value: Value| {
        let mut wire = good.clone();
        wire["authorities"][0][key] = value;
        serde_json::to_vec(&wire).unwrap()
    };
    let secret = good["authorities"][0]["key"].as_str().unwrap();
    let leaf = rcgen::generate_simple_self_signed(["x".to_owned()]).unwrap();
    let mut plain = good.clone();
    plain["authorities"][0] = json!({
        "certificate": leaf.cert.pem(), "key": leaf.signing_key.serialize_pem(), "published": null,
        "leaving": false,
    });
    let many = json!({"authorities": vec![good["authorities"][0].clone(); MOST + 1]});
    let rows = [
        (b"{".to_vec(), "found something else at line 1 column 1"),
        (
            serde_json::to_vec(&json!({"authorities": secret})).unwrap(),
            "found something else at line 1",
        ),
        (
            with("certificate", json!("x")),
            "authority 1: its certificate is not PEM",
        ),
        (
            with("key", json!(secret[..100])),
            "authority 1: its key cannot be read",
        ),
        (
            with("key", other["authorities"][0]["key"].clone()),
            "authority 1: its key does not belong to its certificate",
        ),
        (
            with("published", json!(u64::MAX)),
            "authority 1: it was published after the year 9999",
        ),
        (
            serde_json::to_vec(&plain).unwrap(),
            "authority 1: its certificate is not a CA certificate",
        ),
        (
            serde_json::to_vec(&many).unwrap(),
            "expected at most 8 authorities, found more",
        ),
    ];
    for (content, expected) in rows {
        let said = refusal(&content);
        assert!(said.contains(expected), "{expected}: {said}");
        assert!(
            said.starts_with("the stored certificate authority is damaged: "),
            "{said}"
        );
        assert!(!said.contains(&secret[40..60]), "{said}");
    }
}

#[test]
fn nothing_but_the_certificates_is_published() {
    let state = made();
    let mut wire = json_of(&state);
    let [first, second] = [0, 1].map(|_| made().bundle());
    let mut more = wire["authorities"][0].clone();
    let bundle = state.bundle();
    let untidy = format!(
        "a remark\r\n{}{first}{second}more",
        bundle.replace('\n', "\r\n")
    );
    wire["authorities"][0]["certificate"] = untidy.into();
    more["certificate"] = bundle.trim_end().into();
    wire["authorities"].as_array_mut().unwrap().push(more);
    let read = State::read(&serde_json::to_vec(&wire).unwrap()).unwrap();
    assert_eq!(read.bundle(), bundle.repeat(2));
}

#[test]
fn what_is_published_last_is_not_stamped_as_the_first() {
    const WEEK: Duration = Duration::from_hours(7 * 24);
    let now = UNIX_EPOCH + Duration::from_secs(1 << 31);
    let stamp_after = |stamp| {
        let mut state = made().published(stamp).unwrap();
        state.authorities.extend(made().authorities);
        state.published(now).unwrap().authorities[1].published
    };
    assert_eq!(stamp_after(now - WEEK), Some(now));
    assert_eq!(
        stamp_after(now + WEEK),
        Some(now + WEEK),
        "a clock is behind"
    );
    let never = now + AUTHORITY_LIFE + WEEK;
    assert_eq!(stamp_after(never), Some(now), "a clock was out of reason");
}
