//! Another text in the place of one that the program compared: what no solver finds when the two differ in length.
//!
//! In: an input and what a run compared. Out: the input in which a part is replaced; what is behind it moves.

use crate::input::Input;
use leakproof_rt::abi::{LENGTH, SOURCE_SHIFT};

/// A part of an input and what it shall be.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Edit {
    /// The variable of the first byte; without it the text is looked for.
    pub variable: Option<u32>,
    pub is: Vec<u8>,
    pub wanted: Vec<u8>,
}

impl Edit {
    /// The input with the other text; `None` when it has no such part.
    pub fn applied(&self, input: &Input) -> Option<Input> {
        match self.variable {
            Some(variable) => {
                let (source, at) = (variable >> SOURCE_SHIFT, (variable & LENGTH) as usize);
                input.replaced(source, at, self.is.len(), &self.wanted)
            }
            None => self.looked_for(input),
        }
    }

    /// Whichever of the two texts the input has becomes the other.
    fn looked_for(&self, input: &Input) -> Option<Input> {
        let ways = [(&self.is, &self.wanted), (&self.wanted, &self.is)];
        ways.into_iter().filter(|(is, _)| is.len() > 1).find_map(|(is, wanted)| {
            let (source, at) = input.place_of(is)?;
            input.replaced(source, at, is.len(), wanted)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leakproof_rt::abi::{SOURCE_ARGS, SOURCE_STDIN};

    fn edit(variable: Option<u32>, is: &str, wanted: &str) -> Edit {
        Edit { variable, is: is.into(), wanted: wanted.into() }
    }

    fn input() -> Input {
        let arguments = vec![b"-x".to_vec(), b"name".to_vec()];
        Input { stdin: b"a 1\nb 2\n".to_vec(), ..Input::with_arguments(arguments) }
    }

    #[test]
    fn what_is_behind_moves() {
        let at = |source: u32, place: u32| Some(source << SOURCE_SHIFT | place);
        let longer = edit(at(SOURCE_STDIN, 4), "b", "PRINT").applied(&input());
        assert_eq!(longer.map(|i| i.stdin), Some(b"a 1\nPRINT 2\n".to_vec()));
        let argument = edit(at(SOURCE_ARGS + 1, 0), "name", "x").applied(&input());
        assert_eq!(argument.map(|i| i.arguments), Some(vec![b"-x".to_vec(), b"x".to_vec()]));
        assert_eq!(edit(at(SOURCE_STDIN, 7), "far too long", "x").applied(&input()), None);
    }

    #[test]
    fn a_text_that_lost_its_expression_is_looked_for() {
        let found = edit(None, "name", "other").applied(&input());
        assert_eq!(found.map(|i| i.arguments[1].clone()), Some(b"other".to_vec()));
        let turned = edit(None, "other", "b 2").applied(&input());
        assert_eq!(turned.map(|i| i.stdin), Some(b"a 1\nother\n".to_vec()));
        assert_eq!(edit(None, "a", "b").applied(&input()), None);
        assert_eq!(edit(None, "no", "where").applied(&input()), None);
    }
}
