//! Which instructions the inner loops may use: the choice is made once, at run time; every level gives the same bytes.
use std::sync::LazyLock;

/// Instruction sets that loops are compiled for, the better ones last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What every processor of the architecture has (x86_64: SSE2; aarch64: NEON).
    Base,
    /// AVX2 and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 F, BW, DQ and VL, and F16C.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Level {
    /// What this processor has, `Base` first.
    pub fn available() -> Vec<Level> {
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut all = vec![Level::Base];
        #[cfg(target_arch = "x86_64")]
        {
            use std::is_x86_feature_detected as has;
            if has!("avx2") && has!("f16c") {
                all.push(Level::Avx2);
                if has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl") {
                    all.push(Level::Avx512);
                }
            }
        }
        all
    }

    pub fn best() -> Level {
        static BEST: LazyLock<Level> = LazyLock::new(|| Level::available()[Level::available().len() - 1]);
        *BEST
    }
}
