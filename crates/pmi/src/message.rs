//! Messages from a rank to `mpirun`, one per packet of a SOCK_SEQPACKET socket.
//!
//! Layout: `b"OX"`, version, kind, then the payload, integers little-endian. `mpirun` takes nothing in them
//! for granted: a packet that is not exactly one message is [`Malformed`], a text is cut and cleaned of
//! control characters before it is shown.

pub const VERSION: u8 = 1;
/// No message is longer.
pub const MAX: usize = 4096;
const HEAD: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message {
    /// MPI_Init.
    Hello { pid: i32 },
    /// Sessions are all of MPI that is initialised now.
    Session { pid: i32 },
    /// Nothing of MPI is initialised any more.
    Finalized,
    /// MPI_Abort.
    Abort { code: i32, text: String },
    /// These ranks alone end; the others go on.
    AbortRanks { code: i32, ranks: Vec<u32> },
}

/// A rank's bit in a packet: no more ranks than these can be named.
const BITS: usize = (MAX - HEAD - 4) * 8;

/// A packet that is not a message, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Malformed(pub String);

impl std::fmt::Display for Malformed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Malformed {}

impl Message {
    pub fn encode(&self) -> Vec<u8> {
        let mut out = vec![b'O', b'X', VERSION];
        match self {
            Message::Hello { pid } => {
                out.push(1);
                out.extend(pid.to_le_bytes());
            }
            Message::Session { pid } => {
                out.push(4);
                out.extend(pid.to_le_bytes());
            }
            Message::Finalized => out.push(2),
            Message::Abort { code, text } => {
                out.push(3);
                out.extend(code.to_le_bytes());
                out.extend(text.bytes().take(MAX - out.len()));
            }
            Message::AbortRanks { code, ranks } => {
                out.push(5);
                out.extend(code.to_le_bytes());
                let named = ranks.iter().map(|r| *r as usize).filter(|r| *r < BITS);
                let mut bits = vec![0; named.clone().max().map_or(0, |r| r / 8 + 1)];
                named.for_each(|r| bits[r / 8] |= 1 << (r % 8));
                out.extend(bits);
            }
        }
        out
    }

    pub fn decode(packet: &[u8]) -> Result<Message, Malformed> {
        let bad = |why: String| Err(Malformed(why));
        let Some((head, payload)) = packet.split_at_checked(HEAD) else {
            return bad(format!("{} bytes are too short for a message", packet.len()));
        };
        match head {
            [b'O', b'X', VERSION, kind] => match (*kind, payload.split_first_chunk::<4>()) {
                (1, Some((pid, []))) => Ok(Message::Hello { pid: i32::from_le_bytes(*pid) }),
                (4, Some((pid, []))) => Ok(Message::Session { pid: i32::from_le_bytes(*pid) }),
                (2, _) if payload.is_empty() => Ok(Message::Finalized),
                (3, Some((code, text))) => {
                    Ok(Message::Abort { code: i32::from_le_bytes(*code), text: printable(text) })
                }
                (5, Some((code, bits))) => {
                    let named = (0..bits.len() * 8).filter(|r| bits[r / 8] >> (r % 8) & 1 != 0);
                    let ranks = named.map(|r| r as u32).collect();
                    Ok(Message::AbortRanks { code: i32::from_le_bytes(*code), ranks })
                }
                (kind, _) => bad(format!("kind {kind} with {} bytes of payload", payload.len())),
            },
            [b'O', b'X', version, _] => bad(format!(
                "the library speaks version {version} of the protocol, this mpirun version {VERSION}: \
                 both must come from one installation"
            )),
            _ => bad("it does not begin like a message".into()),
        }
    }
}

/// Text that cannot move a terminal's cursor or change its colours.
fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .chars()
        .map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_encoded_is_decoded() {
        let all = [
            Message::Hello { pid: 77 },
            Message::Session { pid: 78 },
            Message::Finalized,
            Message::Abort { code: -3, text: String::new() },
            Message::Abort { code: 256, text: "why\nso".into() },
            Message::AbortRanks { code: 7, ranks: vec![] },
            Message::AbortRanks { code: 7, ranks: vec![0, 7, 8, 4095] },
        ];
        for m in all {
            assert_eq!(Message::decode(&m.encode()), Ok(m));
        }
    }

    #[test]
    fn a_long_text_is_cut() {
        let m = Message::Abort { code: 1, text: "é".repeat(MAX) };
        assert_eq!(m.encode().len(), MAX);
        assert!(matches!(Message::decode(&m.encode()), Ok(Message::Abort { code: 1, .. })));
    }

    #[test]
    fn junk_is_refused() {
        let mut random = 12345u32;
        for len in 0..64 {
            let junk: Vec<u8> = (0..len)
                .map(|_| {
                    random = random.wrapping_mul(1664525).wrapping_add(1013904223);
                    (random >> 24) as u8
                })
                .collect();
            assert!(Message::decode(&junk).is_err(), "{junk:?}");
        }
        for m in [Message::Hello { pid: 1 }, Message::Session { pid: 1 }, Message::Finalized] {
            let mut long = m.encode();
            long.push(0);
            assert!(Message::decode(&long).is_err());
        }
        assert!(Message::decode(b"OX\x01\x01abc").is_err());
        assert!(Message::decode(b"OX\x02\x02").unwrap_err().0.contains("version 2"));
    }

    #[test]
    fn a_text_cannot_drive_the_terminal() {
        let m = Message::Abort { code: 1, text: "a\x1b[2Jb\x07".into() };
        assert_eq!(Message::decode(&m.encode()), Ok(Message::Abort { code: 1, text: "a\u{fffd}[2Jb\u{fffd}".into() }));
    }
}
