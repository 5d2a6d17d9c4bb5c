//! How far a string goes on without an end, an escape or a fault.
//!
//! Most runs are shorter than two words, and most bytes are in long runs. So the first words are looked at one by one,
//! and what follows in blocks without a branch per byte.

/// How many bytes of `text` come before the first that ends or breaks a run: a quote, a
/// backslash, a control character.
#[inline]
pub(crate) fn plain_run(text: &[u8]) -> usize {
    let Some((first, rest)) = text.split_first_chunk::<WORD>() else {
        return words_run(text);
    };
    if let Some(at) = first_break(*first) {
        return at;
    }
    let Some((second, rest)) = rest.split_first_chunk::<WORD>() else {
        return WORD + words_run(rest);
    };
    match first_break(*second) {
        Some(at) => WORD + at,
        None => 2 * WORD + long_run(rest),
    }
}

/// Apart from the short runs, which are cheaper without its registers.
#[inline(never)]
fn long_run(text: &[u8]) -> usize {
    let (blocks, tail) = text.as_chunks::<BLOCK>();
    for (n, block) in blocks.iter().enumerate() {
        if block.iter().fold(false, |any, &byte| any | breaks(byte)) {
            return n * BLOCK + words_run(block);
        }
    }
    blocks.len() * BLOCK + words_run(tail)
}

/// As [`plain_run`], a word at a time.
#[inline(never)]
fn words_run(text: &[u8]) -> usize {
    let (words, tail) = text.as_chunks::<WORD>();
    for (n, word) in words.iter().enumerate() {
        if let Some(at) = first_break(*word) {
            return n * WORD + at;
        }
    }
    let run = tail.iter().position(|&byte| breaks(byte));
    words.len() * WORD + run.unwrap_or(tail.len())
}

/// Where the first byte of a word is that breaks a run.
#[inline]
fn first_break(word: [u8; WORD]) -> Option<usize> {
    let found = breaking_bytes(u64::from_le_bytes(word));
    (found != 0).then(|| (found.trailing_zeros() / 8) as usize)
}

fn breaks(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\'
}

/// The top bit of each byte that breaks a run; exact up to the first of them, which is all that
/// is asked (a borrow can only run upwards).
#[inline]
fn breaking_bytes(word: u64) -> u64 {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const QUOTES: u64 = u64::from_ne_bytes([b'"'; 8]);
    const BACKSLASHES: u64 = u64::from_ne_bytes([b'\\'; 8]);
    let zero = |word: u64| word.wrapping_sub(ONES) & !word;
    let control = word.wrapping_sub(ONES * 0x20) & !word;
    let quote = zero(word ^ QUOTES);
    let backslash = zero(word ^ BACKSLASHES);
    (control | quote | backslash) & (ONES << 7)
}

/// Bytes of a word.
const WORD: usize = 8;

/// Bytes looked at together: two or four vector registers on the machines we build for.
const BLOCK: usize = 32;
