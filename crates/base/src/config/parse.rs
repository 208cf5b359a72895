//! Between the text of a value and the value.
use super::{Kind, TEXT_MAX, Value, Variable};

impl Variable {
    /// The value that a text means, or what is wrong with it: "is not a size: ...".
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        let text = text.trim();
        let word = match self.kind {
            Kind::Size { .. } => {
                size(text).ok_or("is not a size: a number of bytes, or one with k, M or G, as in 64k")?
            }
            Kind::Integer { .. } => text.parse::<i32>().map_err(|_| "is not a whole number".to_owned())? as u32 as u64,
            Kind::Switch => match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => 1,
                "0" | "false" | "no" | "off" => 0,
                _ => return Err("is neither true nor false".into()),
            },
            Kind::Choice(names) => place(names, text)? as u64,
            Kind::Set(names) => {
                let words = text.split(',').map(str::trim).filter(|w| !w.is_empty());
                words.map(|w| place(names, w)).try_fold(0, |set, p| Ok::<u64, String>(set | 1 << p?))?
            }
            Kind::Text => {
                let value = Value::Text(text.into());
                return self.check(&value).map(|()| value);
            }
        };
        self.check(&Value::Word(word))?;
        Ok(Value::Word(word))
    }

    /// Whether the kind allows a value that was not parsed.
    pub fn check(&self, value: &Value) -> Result<(), String> {
        let within = |inside: bool, min: String, max: String| {
            if inside { Ok(()) } else { Err(format!("is out of range: at least {min}, at most {max}")) }
        };
        match (self.kind, value) {
            (Kind::Size { min, max }, Value::Word(w)) => {
                within((min..=max).contains(w), show_size(min), show_size(max))
            }
            (Kind::Integer { min, max }, Value::Word(w)) => {
                within((min..=max).contains(&(*w as i32)), min.to_string(), max.to_string())
            }
            (Kind::Switch, Value::Word(w)) => within(*w <= 1, "false".into(), "true".into()),
            (Kind::Choice(names), Value::Word(w)) => {
                within(*w < names.len() as u64, "0".into(), (names.len() - 1).to_string())
            }
            (Kind::Set(names), Value::Word(w)) => {
                within(w >> names.len() == 0, "0".into(), ((1u64 << names.len()) - 1).to_string())
            }
            (Kind::Text, Value::Text(t)) if t.len() > TEXT_MAX => {
                Err(format!("has {} bytes, more than {TEXT_MAX}", t.len()))
            }
            (Kind::Text, Value::Text(t)) if t.contains(['\0', '\n']) => Err("is more than one line of text".into()),
            (Kind::Text, Value::Text(_)) => Ok(()),
            _ => Err("is of another kind".into()),
        }
    }

    /// The text that `parse` makes this value of.
    pub fn show(&self, value: &Value) -> String {
        match (self.kind, value) {
            (_, Value::Text(t)) => t.clone(),
            (Kind::Size { .. }, Value::Word(w)) => show_size(*w),
            (Kind::Integer { .. }, Value::Word(w)) => (*w as i32).to_string(),
            (Kind::Choice(names), Value::Word(w)) => names.get(*w as usize).copied().unwrap_or_default().into(),
            (Kind::Set(names), Value::Word(w)) => {
                let inside = names.iter().enumerate().filter(|(i, _)| w >> i & 1 == 1);
                inside.map(|(_, n)| *n).collect::<Vec<_>>().join(",")
            }
            (Kind::Switch | Kind::Text, Value::Word(w)) => (*w != 0).to_string(),
        }
    }

    /// What may be written, for a reader.
    pub fn show_kind(&self) -> String {
        match self.kind {
            Kind::Size { min, max } => format!("size {}..{}", show_size(min), show_size(max)),
            Kind::Integer { min, max } => format!("integer {min}..{max}"),
            Kind::Switch => "true|false".into(),
            Kind::Choice(names) => names.join("|"),
            Kind::Set(names) => format!("any of {}", names.join(",")),
            Kind::Text => "text".into(),
        }
    }
}

fn place(names: &[&str], word: &str) -> Result<usize, String> {
    names.iter().position(|n| n.eq_ignore_ascii_case(word)).ok_or_else(|| {
        let near = super::sources::nearest(word, names.iter().copied()).unwrap_or_default();
        format!("has no '{word}': the choice is {}; the nearest is {near}", names.join(", "))
    })
}

/// Digits, then perhaps k, M or G of either case: binary multiples.
fn size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        "g" | "G" => 30,
        _ => return None,
    };
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse::<u64>().ok()?.checked_mul(1 << shift)).flatten()
}

fn show_size(bytes: u64) -> String {
    for (shift, unit) in [(30, "G"), (20, "M"), (10, "k")] {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Choice, Integer, Set, Size, Switch, Text};

    static BYTES: Size = Size::new("bytes", 1 << 20, 16..=u64::MAX);
    static SMALL: Size = Size::new("small", 10, 0..=100);
    static NUMBER: Integer = Integer::new("number", 0, i32::MIN..=99);
    static FLAG: Switch = Switch::new("flag", true);
    static ONE: Choice = Choice::new("one", 1, &["auto", "cma", "xpmem"]);
    static SOME: Set = Set::new("some", &["red", "green", "blue"]);
    static WORDS: Text = Text::new("words", "");

    #[test]
    fn what_is_shown_is_parsed() {
        let all: [(&Variable, &[&str]); 7] = [
            (BYTES.variable(), &["16", "4096k", "3M", "1G", "17", "18446744073709551615"]),
            (SMALL.variable(), &["0", "100"]),
            (NUMBER.variable(), &["-2147483648", "99", "0"]),
            (FLAG.variable(), &["yes", "OFF", "1", "false"]),
            (ONE.variable(), &["cma", "XPMEM", " auto "]),
            (SOME.variable(), &["", "red", "blue, red", "red,green,blue"]),
            (WORDS.variable(), &["", "a # b = c", "naïve"]),
        ];
        for (v, texts) in all {
            for t in texts {
                let value = v.parse(t).unwrap_or_else(|e| panic!("{} '{t}' {e}", v.name));
                assert_eq!(v.parse(&v.show(&value)), Ok(value), "{} {t}", v.name);
            }
        }
        assert_eq!(BYTES.variable().parse("2k"), Ok(Value::Word(2048)));
        assert_eq!(BYTES.variable().show(&Value::Word(3 << 20)), "3M");
        assert_eq!(BYTES.variable().show(&Value::Word(1025)), "1025");
        assert_eq!(SOME.variable().show(&SOME.variable().parse("blue,red").unwrap()), "red,blue");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let all: [(&Variable, &[&str]); 6] = [
            (BYTES.variable(), &["", "k", "-1", "15", "1.5M", "64kB", "1e3", "0x10", "20000000000G", "1 k", "+5"]),
            (SMALL.variable(), &["101", "1k"]),
            (NUMBER.variable(), &["", "100", "ten", "2147483648", "1.0"]),
            (FLAG.variable(), &["", "2", "maybe"]),
            (ONE.variable(), &["", "1", "cmaa", "cma,xpmem"]),
            (SOME.variable(), &["red,yellow", "red;blue"]),
        ];
        for (v, texts) in all {
            for t in texts {
                assert!(v.parse(t).is_err(), "{} '{t}'", v.name);
            }
        }
        let long = "x".repeat(TEXT_MAX + 1);
        assert!(WORDS.variable().parse(&long).is_err());
        assert!(WORDS.variable().check(&Value::Text("a\nb".into())).is_err());
        assert!(ONE.variable().check(&Value::Word(3)).is_err());
        assert!(FLAG.variable().check(&Value::Text("true".into())).is_err());
        assert!(SMALL.variable().parse("101").unwrap_err().contains("at most 100"));
        assert!(ONE.variable().parse("xpmen").unwrap_err().contains("nearest is xpmem"));
    }
}
