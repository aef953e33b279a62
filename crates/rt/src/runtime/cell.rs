//! Global state in a world without a standard library.

use core::cell::UnsafeCell;

/// A global that the main thread alone touches, or whoever holds the lock that guards it.
pub struct Global<T>(UnsafeCell<T>);

// SAFETY: see the type's description; every user says which of the two it is.
unsafe impl<T> Sync for Global<T> {}

impl<T> Global<T> {
    pub const fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// The value. Callers do not keep the reference across calls of program code.
    #[expect(clippy::mut_from_ref, reason = "this is what the type is for")]
    pub fn get(&self) -> &mut T {
        // SAFETY: one thread at a time, see the type's description.
        unsafe { &mut *self.0.get() }
    }
}
