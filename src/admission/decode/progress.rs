//! How much of the filters is kept so far.

use crate::admission::keep::{CONDITIONS, FILTER, KeptObject, Room, SUBJECT};

/// What is known of the filters while a body is read.
#[derive(Debug, Default)]
pub(super) struct FilterProgress {
    /// The object that is read now, and how many entries of its filter are kept.
    object: Option<KeptObject>,
    entries: usize,
    new_is_cut: bool,
    old_is_cut: bool,
}

impl FilterProgress {
    pub(super) fn begin(&mut self, object: KeptObject) {
        self.object = Some(object);
        self.begin_filter();
    }

    /// What was kept of the object's filter so far does not count.
    pub(super) fn begin_filter(&mut self) {
        self.entries = 0;
        self.set_cut(false);
    }

    /// Whether there is room for one more entry beside so many of the same list or map.
    pub(super) fn has_room(&self, room: Room, beside: usize) -> bool {
        match room {
            Room::Filter => self.entries < FILTER,
            Room::Conditions => beside < CONDITIONS,
            Room::Subject => beside < SUBJECT,
        }
    }

    pub(super) fn count(&mut self, room: Room) {
        if room == Room::Filter {
            self.entries += 1;
        }
    }

    /// An entry was left out.
    pub(super) fn leave_out(&mut self, room: Room) {
        if room == Room::Filter {
            self.set_cut(true);
        }
    }

    /// Whether something was left out of the filter of the new object, and of the old one.
    pub(super) fn cut(&self) -> (bool, bool) {
        (self.new_is_cut, self.old_is_cut)
    }

    fn set_cut(&mut self, is_cut: bool) {
        match self.object {
            Some(KeptObject::New) => self.new_is_cut = is_cut,
            Some(KeptObject::Old) => self.old_is_cut = is_cut,
            None => {}
        }
    }
}
