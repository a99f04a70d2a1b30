//! Pointers on the lanes: one drags, two pinch.

use super::STILL;

/// A pressed pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drag {
    /// The position where it was pressed.
    pub(super) from: (f64, f64),
    /// The present position.
    pub(super) to: (f64, f64),
    /// The row on which it was pressed; `None` on the axis.
    pub(super) row: Option<usize>,
    /// Whether it pans the time in sight instead of choosing an area.
    pub(super) pans: bool,
    /// Whether it rested first, and so peeks at moments.
    pub(super) holds: bool,
}

impl Drag {
    /// Whether it was pressed, not dragged.
    pub(super) fn is_still(&self) -> bool {
        (self.from.0 - self.to.0).abs() < STILL && (self.from.1 - self.to.1).abs() < STILL
    }
}

/// The pressed pointers: id, horizontal position, and drag.
#[derive(Debug, Default)]
pub(super) struct Pointers(Vec<(i32, f64, Drag)>);

impl Pointers {
    /// Whether no pointer is pressed.
    pub(super) fn none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a pointer rests and peeks at moments.
    pub(super) fn holds(&self) -> bool {
        self.0.iter().any(|(.., drag)| drag.holds)
    }

    /// Adds a pressed pointer.
    pub(super) fn down(&mut self, id: i32, x: f64, drag: Drag) {
        self.up(id);
        self.0.push((id, x, drag));
    }

    /// Moves one of two pointers: the factor by which the time in sight grows, and the middle
    /// between them.
    pub(super) fn pinch(&mut self, id: i32, x: f64) -> Option<(f64, f64)> {
        let [(a_id, a, a_drag), (b_id, b, b_drag)] = self.0.as_mut_slice() else { return None };
        let before = (*a - *b).abs();
        if *a_id == id {
            *a = x;
        } else if *b_id == id {
            *b = x;
        } else {
            return None;
        }
        // Neither pointer counts as a press any more.
        (a_drag.to.0, b_drag.to.0) = (a_drag.from.0 + 2.0 * STILL, b_drag.from.0 + 2.0 * STILL);
        (a_drag.pans, b_drag.pans) = (true, true);
        let after = (*a - *b).abs();
        Some((before.max(10.0) / after.max(10.0), f64::midpoint(*a, *b)))
    }

    /// The drag of a pointer.
    pub(super) fn drag(&mut self, id: i32) -> Option<&mut Drag> {
        self.0.iter_mut().find(|(known, ..)| *known == id).map(|(.., drag)| drag)
    }

    /// The drag that chooses an area.
    pub(super) fn area(&self) -> Option<&Drag> {
        self.0.iter().map(|(.., drag)| drag).find(|drag| !drag.pans)
    }

    /// Removes a released pointer, and returns its drag.
    pub(super) fn up(&mut self, id: i32) -> Option<Drag> {
        let place = self.0.iter().position(|(known, ..)| *known == id)?;
        Some(self.0.remove(place).2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_pointers_pinch_and_one_drags() {
        let drag =
            |x| Drag { from: (x, 0.0), to: (x, 0.0), row: Some(1), pans: true, holds: false };
        let mut pointers = Pointers::default();
        pointers.down(1, 100.0, drag(100.0));
        assert_eq!(pointers.pinch(1, 120.0), None);
        assert!(pointers.drag(1).unwrap().is_still());
        pointers.down(2, 200.0, drag(200.0));
        // From 100 pixels to 200: half of the time.
        assert_eq!(pointers.pinch(2, 300.0), Some((0.5, 200.0)));
        assert!(!pointers.up(1).unwrap().is_still(), "a pinch presses nothing");
        assert_eq!(pointers.pinch(2, 310.0), None);
        assert!(pointers.up(2).is_some() && pointers.none());
    }
}
