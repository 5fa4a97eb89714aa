//! As much of HTTP/1.1 as a load client and a target need that both measure and must not cost:
//! where a message with a `Content-Length` ends.

/// The end of a message's head, and of the whole message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) head: usize,
    pub(crate) whole: usize,
}

/// How far the first message in the buffer reaches; none while its head is not complete.
pub(crate) fn extent(buffer: &[u8]) -> Option<Extent> {
    let head = buffer.windows(4).position(|four| four == b"\r\n\r\n")? + 4;
    let mut length = 0;
    for line in buffer[..head].split(|byte| *byte == b'\n') {
        let Some(colon) = line.iter().position(|byte| *byte == b':') else {
            continue;
        };
        if line[..colon].eq_ignore_ascii_case(b"content-length") {
            let value = std::str::from_utf8(line[colon + 1..].trim_ascii());
            length = value.ok().and_then(|value| value.parse().ok()).unwrap_or(0);
        }
    }
    Some(Extent {
        head,
        whole: head + length,
    })
}

/// The status of an answer.
pub(crate) fn status(head: &[u8]) -> u16 {
    let digits = head
        .get(9..12)
        .and_then(|three| std::str::from_utf8(three).ok());
    digits.and_then(|three| three.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_where_its_length_says() {
        let text = b"HTTP/1.1 202 Accepted\r\ncontent-LENGTH:  3\r\nx: y\r\n\r\nabcHTTP/1.1";
        let found = extent(text).unwrap();
        assert_eq!(&text[found.head..found.whole], b"abc");
        assert_eq!(status(text), 202);
    }

    #[test]
    fn without_a_length_there_is_no_body_and_without_an_end_no_message() {
        let text = b"GET / HTTP/1.1\r\nhost: a\r\n\r\n";
        let whole = text.len();
        assert_eq!(extent(text), Some(Extent { head: whole, whole }));
        assert_eq!(extent(&text[..whole - 1]), None);
        assert_eq!(status(b"nonsense"), 0);
    }
}
