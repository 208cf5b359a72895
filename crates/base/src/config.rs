//! Control variables: what a user can set, each declared once beside its use.
//!
//! ```
//! oxmpi_base::control! {
//!     /// Messages of up to this many bytes go at once with their data; longer ones wait for the receiver.
//!     pub static LIMIT: Size = Size::new("demo_limit", 32 << 10, 4096..=1 << 20).live();
//! }
//! assert_eq!(LIMIT.get(), 32768);
//! ```
//! The doc comment is the help that `oxmpi info` and MPI_T show; the name is what a configuration file, `mpirun --set`
//! and, in capitals after `OXMPI_`, the environment call it. A crate lists its own in `pub static VARIABLES`, and
//! `mpi::config` puts those lists together. Where values come from, and what is wrong with them, is in [`sources`].
//!
//! # Invariants
//! * Reading is one relaxed load ([`Text`] apart, which locks): it may stand on a hot path.
//! * A value in a variable is one that its kind allows: whoever sets one has parsed or checked it.
//! * A value is set before MPI_Init uses it. Later only MPI_T changes one, and only where the declaration says
//!   [`live`](Size::live), that is, where the value is read anew at each use.
//!
//! MPI-5.0 15.3.6 (control variables).
mod parse;
pub mod sources;

use crate::consts::*;
use std::ops::RangeInclusive;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What a variable holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Bytes; written with k, M and G as binary multiples.
    Size {
        min: u64,
        max: u64,
    },
    Integer {
        min: i32,
        max: i32,
    },
    Switch,
    /// One of these names; the word is its place.
    Choice(&'static [&'static str]),
    /// Some of these names; the word has the bit of each.
    Set(&'static [&'static str]),
    Text,
}

/// A value of a variable, checked against its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Word(u64),
    Text(String),
}

/// Who said what a variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Default,
    File {
        path: String,
        line: usize,
    },
    Environment,
    /// `mpirun --set`
    Option,
    /// MPI_T_cvar_write
    Tool,
}

impl Source {
    /// For a reader: `/etc/oxmpi.conf:3`, `OXMPI_X`, `--set`.
    pub fn of(&self, variable: &Variable) -> String {
        match self {
            Source::Default => "default".into(),
            Source::File { path, line } => format!("{path}:{line}"),
            Source::Environment => variable.environment_name(),
            Source::Option => "--set".into(),
            Source::Tool => "MPI_T_cvar_write".into(),
        }
    }
}

/// The longest text a variable holds, in bytes; MPI_T tells tools to bring one byte more.
pub const TEXT_MAX: usize = 1023;

/// What all kinds of variables have in common.
#[derive(Debug)]
pub struct Variable {
    pub name: &'static str,
    pub kind: Kind,
    /// As the doc comment has it, which begins with a space; see [`Variable::help`].
    help: &'static str,
    default_word: u64,
    default_text: &'static str,
    /// One of the MPI_T_VERBOSITY_ constants.
    pub verbosity: i32,
    /// One of the MPI_T_SCOPE_ constants.
    pub scope: i32,
    /// Whether a change after MPI_Init takes effect.
    pub live: bool,
    word: AtomicU64,
    said: Mutex<Said>,
}

#[derive(Debug)]
struct Said {
    text: Option<String>,
    source: Source,
}

impl Variable {
    const fn new(name: &'static str, kind: Kind, word: u64, text: &'static str) -> Variable {
        Variable {
            name,
            kind,
            help: "",
            default_word: word,
            default_text: text,
            verbosity: MPI_T_VERBOSITY_TUNER_BASIC,
            scope: MPI_T_SCOPE_LOCAL,
            live: false,
            word: AtomicU64::new(word),
            said: Mutex::new(Said { text: None, source: Source::Default }),
        }
    }

    pub fn help(&self) -> &'static str {
        self.help.trim()
    }

    /// `OXMPI_` and the name in capitals.
    pub fn environment_name(&self) -> String {
        format!("{}{}", sources::PREFIX, self.name.to_ascii_uppercase())
    }

    pub fn default(&self) -> Value {
        match self.kind {
            Kind::Text => Value::Text(self.default_text.into()),
            _ => Value::Word(self.default_word),
        }
    }

    pub fn value(&self) -> Value {
        match self.kind {
            Kind::Text => Value::Text(self.text()),
            _ => Value::Word(self.word.load(Relaxed)),
        }
    }

    pub fn source(&self) -> Source {
        self.said().source.clone()
    }

    /// Takes a value that [`Variable::parse`] or [`Variable::check`] has let through.
    pub fn set(&self, value: Value, source: Source) {
        let mut said = self.said();
        said.source = source;
        match value {
            Value::Word(w) => self.word.store(w, Relaxed),
            Value::Text(t) => said.text = Some(t),
        }
    }

    fn text(&self) -> String {
        self.said().text.clone().unwrap_or_else(|| self.default_text.into())
    }

    fn said(&self) -> std::sync::MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(|e| e.into_inner())
    }
}

/// A kind of variable: its Rust type around [`Variable`], with the modifiers that every kind has.
macro_rules! kind {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(Variable);

        impl $name {
            /// For the list of a crate's variables, and for the tools interface.
            pub const fn variable(&self) -> &Variable {
                &self.0
            }
            #[doc(hidden)]
            pub const fn help(mut self, help: &'static str) -> Self {
                self.0.help = help;
                self
            }
            /// It is read anew at each use, so that MPI_T may change it after MPI_Init.
            pub const fn live(mut self) -> Self {
                self.0.live = true;
                self
            }
            /// All processes of a communicator need the same value, or they wait for each other for ever.
            pub const fn same_everywhere(mut self) -> Self {
                self.0.scope = MPI_T_SCOPE_ALL_EQ;
                self
            }
            /// One of the MPI_T_VERBOSITY_ constants; TUNER_BASIC without it.
            pub const fn verbosity(mut self, level: i32) -> Self {
                self.0.verbosity = level;
                self
            }
        }
    };
}

kind! {
    /// A number of bytes.
    Size
}
kind! {
    /// A whole number.
    Integer
}
kind! {
    /// Yes or no.
    Switch
}
kind! {
    /// One of several names; its value is the name's place among them.
    Choice
}
kind! {
    /// Any of several names; its value has a bit for each.
    Set
}
kind! {
    /// Any text in UTF-8, without zero bytes.
    Text
}

impl Size {
    pub const fn new(name: &'static str, default: u64, range: RangeInclusive<u64>) -> Size {
        let (min, max) = (*range.start(), *range.end());
        assert!(min <= default && default <= max);
        Size(Variable::new(name, Kind::Size { min, max }, default, ""))
    }
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.word.load(Relaxed)
    }
}

impl Integer {
    pub const fn new(name: &'static str, default: i32, range: RangeInclusive<i32>) -> Integer {
        let (min, max) = (*range.start(), *range.end());
        assert!(min <= default && default <= max);
        Integer(Variable::new(name, Kind::Integer { min, max }, default as u32 as u64, ""))
    }
    #[inline]
    pub fn get(&self) -> i32 {
        self.0.word.load(Relaxed) as i32
    }
}

impl Switch {
    pub const fn new(name: &'static str, default: bool) -> Switch {
        Switch(Variable::new(name, Kind::Switch, default as u64, ""))
    }
    #[inline]
    pub fn get(&self) -> bool {
        self.0.word.load(Relaxed) != 0
    }
}

impl Choice {
    /// `default` is the place of a name.
    pub const fn new(name: &'static str, default: usize, names: &'static [&'static str]) -> Choice {
        assert!(default < names.len());
        Choice(Variable::new(name, Kind::Choice(names), default as u64, ""))
    }
    #[inline]
    pub fn get(&self) -> usize {
        self.0.word.load(Relaxed) as usize
    }
}

impl Set {
    /// Nothing is in it by default.
    pub const fn new(name: &'static str, names: &'static [&'static str]) -> Set {
        assert!(names.len() < 64);
        Set(Variable::new(name, Kind::Set(names), 0, ""))
    }
    #[inline]
    pub fn get(&self) -> u64 {
        self.0.word.load(Relaxed)
    }
}

impl Text {
    pub const fn new(name: &'static str, default: &'static str) -> Text {
        assert!(default.len() <= TEXT_MAX);
        Text(Variable::new(name, Kind::Text, 0, default))
    }
    pub fn get(&self) -> String {
        self.0.text()
    }
}

/// Declares a control variable; see [`config`](crate::config). The doc comment is its help.
#[macro_export]
macro_rules! control {
    ($(#[doc = $help:literal])+ $vis:vis static $id:ident: $kind:ident = $new:expr;) => {
        $(#[doc = $help])+
        $vis static $id: $crate::config::$kind = {
            use $crate::config::$kind;
            $new.help(concat!($($help),+))
        };
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    control! {
        /// How many bytes
        /// there may be.
        pub static BYTES: Size = Size::new("test_bytes", 4096, 1..=1 << 30).same_everywhere();
    }
    control! {
        /// A number that may be negative.
        static NUMBER: Integer = Integer::new("test_number", -3, -10..=10).live();
    }
    control! {
        /// A text.
        static WORDS: Text = Text::new("test_words", "as it was").verbosity(MPI_T_VERBOSITY_USER_BASIC);
    }

    #[test]
    fn declared_and_read() {
        assert_eq!((BYTES.get(), NUMBER.get(), WORDS.get().as_str()), (4096, -3, "as it was"));
        let v = BYTES.variable();
        assert_eq!((v.name, v.help()), ("test_bytes", "How many bytes there may be."));
        assert_eq!(v.environment_name(), "OXMPI_TEST_BYTES");
        assert_eq!((v.scope, v.live, NUMBER.variable().live), (MPI_T_SCOPE_ALL_EQ, false, true));
        assert_eq!(WORDS.variable().verbosity, MPI_T_VERBOSITY_USER_BASIC);
        NUMBER.variable().set(NUMBER.variable().parse("-10").unwrap(), Source::Option);
        WORDS.variable().set(Value::Text("new".into()), Source::File { path: "f".into(), line: 3 });
        assert_eq!((NUMBER.get(), WORDS.get().as_str()), (-10, "new"));
        assert_eq!(NUMBER.variable().source().of(NUMBER.variable()), "--set");
        assert_eq!(WORDS.variable().source().of(WORDS.variable()), "f:3");
        assert_eq!(NUMBER.variable().default(), NUMBER.variable().parse("-3").unwrap());
    }
}
