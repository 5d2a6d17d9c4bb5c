//! A name server that knows one name, like the one of a cluster. For every other name it answers that it does not
//! exist.

use std::net::Ipv4Addr;

use anyhow::Result;
use tokio::net::UdpSocket;
use tokio::task::JoinHandle;

/// A running name server, which stops when this is dropped.
pub(crate) struct Names(JoinHandle<()>);

impl Names {
    /// The address on which it listens. Resolvers always use the standard port.
    pub(crate) const ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 53);

    /// Starts a server that answers `address` for `name`, which is a full name without the trailing dot.
    pub(crate) async fn knowing(name: &'static str, address: Ipv4Addr) -> Result<Self> {
        let socket = UdpSocket::bind((Self::ADDRESS, 53)).await?;
        Ok(Self(tokio::spawn(async move {
            let mut query = [0; 512];
            while let Ok((length, asker)) = socket.recv_from(&mut query).await {
                let query = query.get(..length).unwrap_or_default();
                if let Some(reply) = reply(query, name, address) {
                    // A client that no longer listens may ask again, or not.
                    let _lost = socket.send_to(&reply, asker).await;
                }
            }
        })))
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Returns a reply according to RFC 1035, section 4, or `None` if the bytes are not a question.
fn reply(query: &[u8], name: &str, address: Ipv4Addr) -> Option<Vec<u8>> {
    let (id, question) = (query.get(..2)?, query.get(HEADER..)?);
    let (asked, rest) = labels(question)?;
    let kind = rest.get(..4)?;
    let question = question.get(..question.len() - rest.len() + kind.len())?;
    let is_known = asked.eq_ignore_ascii_case(name);
    let has_answer = is_known && kind == A_IN;
    let mut reply = id.to_vec();
    reply.extend([0x85, if is_known { 0x80 } else { 0x83 }]);
    reply.extend([0, 1, 0, u8::from(has_answer), 0, 0, 0, 0]);
    reply.extend(question);
    if has_answer {
        reply.extend(NAME_OF_QUESTION);
        reply.extend(A_IN);
        reply.extend(SECONDS.to_be_bytes());
        reply.extend([0, 4]);
        reply.extend(address.octets());
    }
    Some(reply)
}

/// Parses a name, and returns it with the bytes after it.
fn labels(mut rest: &[u8]) -> Option<(String, &[u8])> {
    let mut labels = Vec::new();
    loop {
        let (length, after) = rest.split_first()?;
        if *length == 0 {
            return Some((labels.join("."), after));
        }
        let (label, after) = after.split_at_checked(usize::from(*length))?;
        labels.push(String::from_utf8(label.to_vec()).ok()?);
        rest = after;
    }
}

const HEADER: usize = 12;
/// The record type A and the class IN.
const A_IN: [u8; 4] = [0, 1, 0, 1];
/// A pointer to the name in the question, which starts after the header.
const NAME_OF_QUESTION: [u8; 2] = [0xc0, 12];
/// The time to live of an answer.
const SECONDS: u32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: &[u8] = b"\x12\x34\x01\0\0\x01\0\0\0\0\0\0\x03api\x04test\0\0\x01\0\x01";

    #[test]
    fn a_name_that_is_known_has_an_address() {
        let reply = reply(QUERY, "API.test", Ipv4Addr::LOCALHOST).unwrap();
        assert_eq!(reply[..4], *b"\x12\x34\x85\x80");
        assert_eq!(reply[reply.len() - 4..], [127, 0, 0, 1]);
    }

    #[test]
    fn another_name_is_none_and_what_is_cut_off_gets_no_answer() {
        let unknown = reply(QUERY, "api", Ipv4Addr::LOCALHOST).unwrap();
        assert_eq!(unknown[3], 0x83);
        assert_eq!(unknown.len(), QUERY.len());
        for length in 0..QUERY.len() {
            assert_eq!(
                reply(&QUERY[..length], "api.test", Ipv4Addr::LOCALHOST),
                None
            );
        }
    }
}
