//! HTTP/2 written by hand: only so can a client be as rude as the tests want it to be.

/// What every client begins with, and settings that set nothing.
pub(crate) const HELLO: &[u8] =
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00";

const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

/// "I do not want it any more."
const CANCEL: [u8; 4] = [0, 0, 0, 8];
/// `GET http://x/livez`, by the static table of header compression.
const GET_LIVEZ: &[u8] = b"\x82\x86\x04\x06/livez\x41\x01x";

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut frame = vec![length[1], length[2], length[3], kind, flags];
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The stream of a client's request, counted from 0.
fn stream(number: u32) -> u32 {
    2 * number + 1
}

/// A request that is taken back at once.
pub(crate) fn asked_and_reset(number: u32) -> Vec<u8> {
    let stream = stream(number);
    let mut both = frame(HEADERS, END_STREAM | END_HEADERS, stream, GET_LIVEZ);
    both.extend(frame(RST_STREAM, 0, stream, &CANCEL));
    both
}

/// The beginning of headers that never end.
pub(crate) fn unfinished_headers() -> Vec<u8> {
    frame(HEADERS, END_STREAM, stream(0), GET_LIVEZ)
}

/// More of them: a thousand fields, or nothing at all.
pub(crate) fn more_headers(empty: bool) -> Vec<u8> {
    // A literal without indexing, named `x`, with the value `y`.
    let fields = b"\x00\x01x\x01y".repeat(if empty { 0 } else { 1_000 });
    frame(CONTINUATION, 0, stream(0), &fields)
}

/// A thousand questions whether anybody is there; each must be answered.
pub(crate) fn pings() -> Vec<u8> {
    frame(PING, 0, 0, &[0; 8]).repeat(1_000)
}
