//! The system calls between the read of a request and the write of its answer.

use super::calls::Call;

/// Returns, for each request on the connection, the calls for other purposes.
pub(crate) fn windows(calls: &[Call]) -> Vec<Vec<&Call>> {
    let connection = connection(calls);
    let wakers = wakers(calls);
    let is_own = |call: &Call| {
        let file = call.file();
        HARMLESS.contains(&call.name.as_str())
            || (TRANSFERS.contains(&call.name.as_str()) && file == Some(connection))
            || (call.name == "write" && file.is_some_and(|file| wakers.contains(&file)))
    };
    let mut windows = Vec::new();
    let mut asked = None;
    for call in calls.iter().filter(|call| call.file() == Some(connection)) {
        let is_large = call.result.is_some_and(|bytes| bytes > LEAST);
        if READS.contains(&call.name.as_str()) && is_large {
            asked = Some(call.ended);
        } else if WRITES.contains(&call.name.as_str())
            && is_large
            && let Some(from) = asked.take()
        {
            let between = calls
                .iter()
                .filter(|other| (from..call.begun).contains(&other.begun));
            windows.push(between.filter(|other| !is_own(other)).collect());
        }
    }
    windows
}

/// Returns the file descriptor of the connection: the one with the most writes.
fn connection(calls: &[Call]) -> i64 {
    let writes = calls
        .iter()
        .filter(|call| call.name == "sendto" || call.name == "writev");
    let written = writes.filter_map(|call| Some((call.result?, call.file()?)));
    written.max().expect("an answer").1
}

/// Returns the file descriptors with which threads wake each other.
fn wakers(calls: &[Call]) -> Vec<i64> {
    let made = calls.iter().filter(|call| call.name == "eventfd2");
    made.filter_map(|call| call.result).collect()
}

const READS: &[&str] = &["read", "readv", "recvfrom", "recvmsg"];
const WRITES: &[&str] = &["write", "writev", "sendto", "sendmsg"];
const TRANSFERS: &[&str] = &[
    "read", "readv", "recvfrom", "recvmsg", "sendmsg", "sendto", "write", "writev",
];

/// The minimum size of a request or an answer. The last message of a handshake is smaller.
const LEAST: i64 = 100;

/// The calls for memory, threads and time.
const HARMLESS: &[&str] = &[
    "brk",
    "clock_gettime",
    "clock_nanosleep",
    "epoll_ctl",
    "epoll_pwait",
    "epoll_wait",
    "futex",
    "madvise",
    "mmap",
    "mprotect",
    "mremap",
    "munmap",
    "rt_sigprocmask",
    "sched_yield",
];

/// The trace is in the format of strace, with a read of a file between a request and its answer.
#[test]
fn a_look_elsewhere_is_seen() {
    let calls = super::calls::calls(
        r#"7  1.0 eventfd2(0, EFD_CLOEXEC) = 4
7  1.1 recvfrom(9, "\27\3"..., 4096, 0, NULL, NULL) = 4000
8  1.2 futex(0x1, FUTEX_WAIT_PRIVATE, 1, NULL <unfinished ...>
7  1.3 write(4, "\1"..., 8) = 8
7  1.4 openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 11
8  1.5 <... futex resumed>) = 0
7  1.6 read(11,  <unfinished ...>
8  1.7 +++ exited with 0 +++
7  1.8 <... read resumed>"", 4096) = 0
7  1.9 writev(9, [{iov_base="\27\3"..., iov_len=800}], 1) = 800
7  2.0 openat(AT_FDCWD, "/etc/hosts", O_RDONLY) = 11
"#,
    );
    let windows = windows(&calls);
    let seen: Vec<_> = windows.iter().flatten().map(|call| call.what()).collect();
    assert_eq!(seen, ["openat(AT_FDCWD, ", "read(11, "]);
}
