//! Wire headers. Everything read from here is a peer's word: decode, check, use.

/// Lanes of the point-to-point engine: what shares nothing with the others, so that threads in different communicators do not meet.
pub const LANES: usize = 1 << LANE_BITS;
pub const LANE_BITS: u32 = 2;

/// A communication context: the high bits name the process that gave it out, the rest counts there; bits 1 and 2 are the lane in which
/// all its messages travel and match; bit 0 tells collective traffic from point-to-point. 48 bits travel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Context(pub u64);

impl Context {
    pub const BITS: u32 = 48;
    /// The same at all processes, and for both halves of a communicator.
    #[inline]
    pub fn lane(self) -> usize {
        (self.0 >> 1) as usize % LANES
    }
    /// The context of this communicator's collective operations.
    pub fn collective(self) -> Context {
        Context(self.0 | 1)
    }
    /// Of the messages that carry runs of partitions in `lane`. No communicator has it: its high bits name no process.
    pub fn of_runs(lane: usize) -> Context {
        Context(0xff_ffff << (Self::BITS - 24) | 1 << (LANE_BITS + 1) | (lane as u64) << 1)
    }
}

/// What a frame is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Envelope and the whole message.
    Eager = 1,
    /// As Eager, led by the sender's request: an [`Kind::Ack`] is due when it matches.
    EagerSync = 2,
    /// Envelope and [`Rts`]; the data follows at once as Data frames.
    EagerLong = 3,
    /// Envelope and [`Rts`]; the data waits for the receiver.
    Rts = 4,
    /// To the sender: [`Cts`], push this many bytes.
    Cts = 5,
    /// To the receiver: [`Data`], the bytes lie in the pair's next chunk.
    Data = 6,
    /// To the sender: its request (u64) has been matched (synchronous mode).
    Ack = 7,
    /// To the sender: its request (u64) has been read by single copy; the buffer is free.
    Fin = 8,
    /// To the sender: [`Share`], copy pieces into the receiver's memory.
    Share = 9,
    /// To the receiver: [`Part`], the sender has copied its pieces.
    Part = 10,
    /// To the receiver: the announced message of this request (u64) has been withdrawn and follows as Data frames.
    Late = 11,
    /// To the receiver: [`Offer`], a partitioned send has been made; the context is its communicator's.
    Offer = 12,
    /// To the sender: [`Open`], the receiver has begun a round of a partitioned operation.
    Open = 13,
    /// To the receiver: [`Slice`] and the bytes of these partitions. Tag and context are the receiver's name for the operation.
    Slice = 14,
    /// To the receiver: [`Slice`] alone; these partitions are the next message in [`Context::of_runs`] with the tag of this frame.
    Run = 15,
    /// To the receiver: [`Retract`], forget this message if it has not matched; the context is that of the message.
    Retract = 16,
    /// To the sender: the message of this request (u64) has been forgotten.
    Retracted = 17,
}

impl Kind {
    pub fn from_u8(v: u8) -> Option<Kind> {
        Some(match v {
            1 => Kind::Eager,
            2 => Kind::EagerSync,
            3 => Kind::EagerLong,
            4 => Kind::Rts,
            5 => Kind::Cts,
            6 => Kind::Data,
            7 => Kind::Ack,
            8 => Kind::Fin,
            9 => Kind::Share,
            10 => Kind::Part,
            11 => Kind::Late,
            12 => Kind::Offer,
            13 => Kind::Open,
            14 => Kind::Slice,
            15 => Kind::Run,
            16 => Kind::Retract,
            17 => Kind::Retracted,
            _ => return None,
        })
    }
}

/// Largest message that travels inside one frame.
pub const INLINE_MAX: usize = 4096;
/// Bytes of the envelope that lead a frame's payload (with 16 more bits in the ring's header word).
pub const ENVELOPE: usize = 8;

/// Fixed little structs, written and read as bytes.
macro_rules! fixed {
    ($(#[$m:meta])* $name:ident { $($(#[$fm:meta])* $field:ident: $ty:ty),* $(,)? }) => {
        $(#[$m])*
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $name { $($(#[$fm])* pub $field: $ty),* }
        impl $name {
            pub const LEN: usize = 0 $(+ size_of::<$ty>())*;
            pub fn encode(&self) -> [u8; Self::LEN] {
                let mut out = [0u8; Self::LEN];
                let mut at = 0;
                $(
                    out[at..at + size_of::<$ty>()].copy_from_slice(&self.$field.to_ne_bytes());
                    at += size_of::<$ty>();
                )*
                debug_assert_eq!(at, Self::LEN);
                out
            }
            pub fn decode(bytes: &[u8]) -> Option<Self> {
                if bytes.len() != Self::LEN {
                    return None;
                }
                let mut at = 0;
                $(
                    let $field = <$ty>::from_ne_bytes(bytes[at..at + size_of::<$ty>()].try_into().ok()?);
                    at += size_of::<$ty>();
                )*
                debug_assert_eq!(at, Self::LEN);
                Some($name { $($field),* })
            }
        }
    };
}

fixed! {
    /// Announcement of a message whose data is elsewhere.
    Rts {
        /// Bytes of the whole message.
        total: u64,
        /// The sender's request.
        send: u64,
        /// Address of the data in the sender's memory when it is one run, else 0; a cookie of KNEM where `run` says so.
        address: u64,
        /// One more than its offset in the sender's area of the heap, or 0.
        place: u64,
        /// CLOCK_MONOTONIC, in nanoseconds, when the announcement was made; a hint.
        stamp: u64,
        /// The sender's ticket counter for this transfer, or [`NO_TICKET`].
        ticket: u32,
        /// Where the data is in pieces: their mean length, at most. Where it is one run: 0, [`MAY_BE_WITHDRAWN`], or [`BY_COOKIE`]
        /// (see `address`).
        run: u32,
    }
}
/// In [`Rts::run`]: the data is one run that is lent by KNEM.
pub const BY_COOKIE: u32 = u32::MAX;
/// In [`Rts::run`]: the sender may send the message after all if nobody claims it.
pub const MAY_BE_WITHDRAWN: u32 = 1;
/// In [`Rts::ticket`]: the sides cannot share the work.
pub const NO_TICKET: u32 = u32::MAX;

fixed! {
    /// The receiver's memory, for the sender to copy into. Pieces of `piece` bytes are taken by tickets, the sender's from the front, the
    /// receiver's from the back; without a ticket the sender copies all.
    Share {
        send: u64,
        /// The receiver's request.
        recv: u64,
        address: u64,
        place: u64,
        /// Bytes to transfer, at most the announced total.
        limit: u64,
        piece: u32,
        /// Mechanism (low 8 bits); bit 8: all by the sender.
        how: u32,
    }
}
/// In [`Share::how`].
pub const ALL_BY_SENDER: u32 = 1 << 8;

fixed! {
    /// What the sender did of a shared transfer.
    Part {
        recv: u64,
        /// 1: its pieces are in place. 0: one of them failed.
        done: u32,
    }
}
fixed! {
    /// Clear to send.
    Cts {
        send: u64,
        /// Bytes the receiver has room for; at most the announced total.
        limit: u64,
    }
}
fixed! {
    /// One chunk of a message.
    Data {
        send: u64,
        len: u32,
    }
}

fixed! {
    /// A message that is to be cancelled.
    Retract {
        send: u64,
        tag: i32,
    }
}
fixed! {
    /// A partitioned send, as its receiver has to know it.
    Offer {
        /// The sender's name for it.
        send: u64,
        /// Bytes of one partition.
        step: u64,
        /// Partitions.
        count: u32,
        tag: i32,
    }
}
fixed! {
    /// A round of a partitioned receive has begun.
    Open {
        send: u64,
        /// The receiver's name for it.
        recv: u64,
        /// Bytes of the whole receive buffer.
        total: u64,
    }
}
fixed! {
    /// Partitions of the sender that follow each other.
    Slice {
        first: u32,
        count: u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trips_and_refuses_other_lengths() {
        let r = Rts { total: 1 << 40, send: 7, address: !0, ..Rts::default() };
        assert_eq!(Rts::decode(&r.encode()), Some(r));
        assert_eq!(Rts::decode(&r.encode()[1..]), None);
        let d = Data { send: 3, len: 9 };
        assert_eq!((Data::LEN, Data::decode(&d.encode())), (12, Some(d)));
        assert_eq!((Rts::LEN, Share::LEN), (48, 48), "one line each");
        assert!((1..=17).all(|k| Kind::from_u8(k).map(|x| x as u8) == Some(k)));
        assert_eq!(Kind::from_u8(18), None);
    }
}
