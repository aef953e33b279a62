//! Nodes that a function takes off a list and forgets.
//!
//! `list->head = node->next` takes the node that was there off the list. Where such nodes are made one by one, are released
//! somewhere, and are in no other list, the function has to release it or to give it to somebody; nobody else knows it
//! any more. Fields that walk along somebody else's list look the same and are told apart by what they are given.

use super::fields::{Field, Made, Seen, StructName, Survey};
use leakproof_program::{CallGraph, FuncRef};

/// One of the objects that a field's list is made of, when a function that takes a node off it is the last to know that
/// node.
pub fn node_taken_by<'s>(
    survey: &'s Survey,
    calls: &CallGraph,
    function: FuncRef,
    (of, offset): (&StructName, u64),
    counts: impl Fn(&Made) -> bool,
) -> Option<&'s Made> {
    let head: Field = (of.clone(), offset);
    let seen = survey.seen(&head)?;
    let node = survey.leads_to.get(&head)?;
    let is_list = !is_walking(survey, &head, seen)
        && links_of(survey, node) == 1
        && survey.owner_released_in.iter().any(|(released, _)| released == node)
        && !is_held_elsewhere(survey, of, node)
        && !is_known_to_others(survey, calls, function, &head, seen);
    if !is_list {
        return None;
    }
    let handed = seen.handed.iter().filter_map(|p| survey.given.get(p)).flatten();
    seen.listed.iter().chain(handed).find(|made| counts(made))
}

/// One of the objects that nodes of a kind are, when a node has no other owner than the list from which a function cut it out.
pub fn node_cut_out<'s>(
    survey: &'s Survey,
    node: &StructName,
    counts: impl Fn(&Made) -> bool,
) -> Option<&'s Made> {
    let leading = survey.leads_to.iter().filter(|(field, to)| *to == node && field.0 != *node);
    let is_given = |field: &Field| survey.seen(field).is_some_and(|s| !s.refilled_in.is_empty());
    let holders = leading.filter(|(field, _)| is_given(field) && !survey.cursors.contains(*field));
    let is_list = links_of(survey, node) == 1
        && survey.owner_released_in.iter().any(|(released, _)| released == node)
        && holders.count() <= 1;
    survey.new_structs.get(node).filter(|_| is_list)?.iter().find(|made| counts(made))
}

/// Whether a field goes through a list that is not its own.
fn is_walking(survey: &Survey, head: &Field, seen: &Seen) -> bool {
    let is_found = survey.found_by.contains_key(head) || survey.cursors.contains(head);
    is_found || seen.shared || seen.foreign
}

/// By how many fields structs of one kind lead to each other: with two of them, a node has two neighbours or is in two lists.
fn links_of(survey: &Survey, node: &StructName) -> usize {
    survey.fields_of(node).filter(|(_, seen)| seen.link).count()
}

/// Whether fields of other structs are given such nodes, and do not just go through lists.
fn is_held_elsewhere(survey: &Survey, of: &StructName, node: &StructName) -> bool {
    let leading = survey.leads_to.iter().filter(|(_, to)| *to == node).map(|(field, _)| field);
    let others = leading.filter(|field| field.0 != *of && field.0 != *node);
    let is_given = |field: &Field| survey.seen(field).is_some_and(|s| !s.refilled_in.is_empty());
    others.into_iter().any(|field| is_given(field) && !survey.cursors.contains(field))
}

/// Whether callers may have the node before it is taken off: they look at the list, or some function tells them what
/// is there.
fn is_known_to_others(
    survey: &Survey,
    calls: &CallGraph,
    function: FuncRef,
    head: &Field,
    seen: &Seen,
) -> bool {
    survey.returned.values().any(|fields| fields.contains(head))
        || calls.callers_of(function).iter().any(|caller| seen.read_in.contains(caller))
}
