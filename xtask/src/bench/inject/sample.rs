//! A sample that is the same on every run and every machine.

/// A generator of numbers (SplitMix64), started from a name.
pub struct Sample {
    state: u64,
}

impl Sample {
    pub fn new(name: &str) -> Self {
        let step = |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self { state: name.bytes().fold(0xcbf2_9ce4_8422_2325, step) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Up to `count` of these, each as likely as any other, in a random order.
    pub fn choose<T>(&mut self, mut from: Vec<T>, count: usize) -> Vec<T> {
        let mut chosen = Vec::new();
        while chosen.len() < count && !from.is_empty() {
            let at = (self.next() % from.len() as u64) as usize;
            chosen.push(from.swap_remove(at));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_repeatable_and_without_repetition() {
        let choose = |name| Sample::new(name).choose((0..100).collect::<Vec<_>>(), 30);
        let mut chosen = choose("a");
        assert_eq!(chosen, choose("a"));
        assert_ne!(chosen, choose("b"));
        chosen.sort();
        chosen.dedup();
        assert_eq!(chosen.len(), 30);
    }
}
