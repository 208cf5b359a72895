//! The contract all transports meet: the frames that pt2pt exchanges, whatever carries them.
//!
//! A frame is a kind, an envelope and at most [`INLINE_MAX`] bytes; frames of one pair arrive in order and once. Bulk bytes of a
//! rendezvous travel as [`Kind::Data`] frames with a chunk beside them.
pub mod wire;
