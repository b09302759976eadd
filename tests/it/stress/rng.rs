//! Choices that a seed repeats: xorshift64*.
//!
//! Limits: small and fast, and random enough for choosing among servers and moments.

use std::ops::Range;

pub(super) struct Rng(u64);

impl Rng {
    /// `stream` tells several generators of one seed apart.
    pub(super) fn new(seed: u64, stream: u64) -> Self {
        let mixed = (seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(1);
        // Neighbouring seeds start alike; a few rounds drive them apart. Zero would stay zero.
        let mut rng = Self(mixed.wrapping_mul(0xbf58_476d_1ce4_e5b9).max(1));
        for _ in 0..8 {
            rng.next();
        }
        rng
    }

    /// A number below `end`, which is not zero.
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    pub(super) fn within(&mut self, range: Range<u64>) -> u64 {
        range.start + self.below(range.end - range.start)
    }

    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these, if there are any.
    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        let count = u64::try_from(from.len()).expect("a length fits");
        if count == 0 {
            return None;
        }
        from.get(usize::try_from(self.below(count)).expect("below a length"))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }
}
