//! Pointers on the lanes: one drags, two pinch.

use super::STILL;

/// A pointer that is pressed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drag {
    /// Where it was pressed.
    pub(super) from: (f64, f64),
    /// Where it is.
    pub(super) to: (f64, f64),
    /// The row it was pressed on; none on the axis.
    pub(super) row: Option<usize>,
    /// Whether it moves the time in sight, and does not choose an area.
    pub(super) pans: bool,
    /// Whether it rested first, and so shows moments.
    pub(super) holds: bool,
}

impl Drag {
    /// Whether it was pressed, not dragged.
    pub(super) fn is_still(&self) -> bool {
        (self.from.0 - self.to.0).abs() < STILL && (self.from.1 - self.to.1).abs() < STILL
    }
}

/// The pointers that are pressed: by id, where, and what they do.
#[derive(Debug, Default)]
pub(super) struct Pointers(Vec<(i32, f64, Drag)>);

impl Pointers {
    /// Whether none is pressed.
    pub(super) fn none(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one rests and shows moments.
    pub(super) fn holds(&self) -> bool {
        self.0.iter().any(|(.., drag)| drag.holds)
    }

    /// One is pressed.
    pub(super) fn down(&mut self, id: i32, x: f64, drag: Drag) {
        self.up(id);
        self.0.push((id, x, drag));
    }

    /// Of two pointers one has moved: how much longer the time in sight becomes, and the middle.
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
        // Neither of them is a press any more.
        (a_drag.to.0, b_drag.to.0) = (a_drag.from.0 + 2.0 * STILL, b_drag.from.0 + 2.0 * STILL);
        (a_drag.pans, b_drag.pans) = (true, true);
        let after = (*a - *b).abs();
        Some((before.max(10.0) / after.max(10.0), f64::midpoint(*a, *b)))
    }

    /// What a pointer does.
    pub(super) fn drag(&mut self, id: i32) -> Option<&mut Drag> {
        self.0.iter_mut().find(|(known, ..)| *known == id).map(|(.., drag)| drag)
    }

    /// The area that is being chosen.
    pub(super) fn area(&self) -> Option<&Drag> {
        self.0.iter().map(|(.., drag)| drag).find(|drag| !drag.pans)
    }

    /// One is let go: what it did.
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
