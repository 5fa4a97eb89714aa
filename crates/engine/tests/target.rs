//! The outgoing call against real sockets: targets that misbehave in every way that is known,
//! and addresses that must not be reached.

#![expect(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod hostile;

mod target {
    mod answers;
    mod bodies;
    mod caller;
    mod connections;
    mod guard;
    mod leftovers;
    mod protocol;
    mod redirects;
    mod secrets;
    mod tether;
    mod tls;
}
