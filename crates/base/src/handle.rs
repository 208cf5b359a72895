//! Handle values, exactly as the C program holds them (MPI-5.0 chapter 20, "ABI").
//!
//! A handle is the bit pattern of an incomplete-struct pointer. Values below 4096 are the standard's
//! constants; every other value names a slot of the object table in the `mpi` crate:
//! bit 30 is set, bits 26..30 hold the [`Kind`], the rest a slot index and a generation, so that a
//! stale or foreign handle is recognised instead of dereferenced, and `MPI_X_toint` is the identity.

macro_rules! handles {
    ($($name:ident = $kind:literal),* $(,)?) => {
        $(
            #[doc = concat!("The value of an `MPI_", stringify!($name), "`.")]
            #[repr(transparent)]
            #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
            pub struct $name(pub usize);
            impl Handle for $name {
                const KIND: Kind = Kind::$name;
                fn raw(self) -> usize { self.0 }
                fn from_raw(raw: usize) -> Self { $name(raw) }
            }
        )*
        /// What a dynamic handle names.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        #[repr(u8)]
        pub enum Kind { $($name = $kind),* }
        impl Kind {
            /// The name the standard gives to handles of this kind.
            pub fn c_name(self) -> &'static str {
                match self { $(Kind::$name => concat!("MPI_", stringify!($name))),* }
            }
        }
    };
}

/// Common to all handle types.
pub trait Handle: Copy {
    const KIND: Kind;
    fn raw(self) -> usize;
    fn from_raw(raw: usize) -> Self;
}

handles! {
    Comm = 1, Group = 2, Datatype = 3, Op = 4, Request = 5, Errhandler = 6, Info = 7,
    Message = 8, Win = 9, File = 10, Session = 11,
}
