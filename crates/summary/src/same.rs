//! Results that depend on nothing but the arguments and what they point to: the same question asked twice has
//! one answer (`strcmp(mode, "r") == 0` where a file is opened and again where it is closed).

use crate::call::Call;
use crate::exec::Exec;
use crate::state::State;
use crate::vocabulary::Slot;
use leakproof_guard::{Base, Term};
use leakproof_models::IntRange;
use std::sync::Arc;

/// Texts of which more than this was written are not compared.
const MAX_CELLS: usize = 24;

/// A question: the function, its arguments, and what is known of the memory that they lead to.
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Question {
    function: Arc<str>,
    arguments: Vec<Term>,
    contents: Vec<(Base, Slot, Term)>,
}

impl Exec<'_> {
    pub(crate) fn same_result(&mut self, call: &Call<'_>, range: IntRange, state: &State) -> Term {
        let Some(question) = self.question(call, state) else { return self.number_in(call, range) };
        if let Some(&known) = self.answers.get(&question) {
            return known;
        }
        let answer = self.number_in(call, range);
        self.answers.insert(question, answer);
        answer
    }

    /// `None` where two questions may look alike and be different: the elements of an array have one pointer.
    fn question(&mut self, call: &Call<'_>, state: &State) -> Option<Question> {
        let mut contents = Vec::new();
        for &argument in call.args {
            if self.is_element(argument) || self.holds_any(argument) {
                return None;
            }
            for base in self.all_bases(argument) {
                let told = |slot: Slot| slot.is_contents() || slot == Slot::Epoch;
                let cells = state.cells_of(base).filter(|(slot, _)| told(*slot));
                contents.extend(cells.map(|(slot, t)| (base, slot, t)));
            }
        }
        let question =
            Question { function: call.name.into(), arguments: call.args.to_vec(), contents };
        (question.contents.len() <= MAX_CELLS).then_some(question)
    }
}
