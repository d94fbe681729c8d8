use egui::{Key, Modifiers, Ui};

use super::Picker;

/// Keys of the picker, taken before its fields see them.
pub(super) fn take_keys(ui: &Ui, picker: &mut Picker) {
    let count = picker.visible().len();
    let pressed =
        |modifiers: Modifiers, key: Key| ui.input_mut(|input| input.consume_key(modifiers, key));
    if pressed(Modifiers::ALT, Key::ArrowUp) {
        picker.go_up();
        return;
    }
    let nothing_focused = ui.memory(|memory| memory.focused().is_none());
    if nothing_focused && pressed(Modifiers::NONE, Key::Enter) {
        picker.enter();
        return;
    }
    let steps = [
        (Key::ArrowDown, 1),
        (Key::ArrowUp, -1),
        (Key::PageDown, 10),
        (Key::PageUp, -10),
    ];
    for (key, step) in steps {
        if pressed(Modifiers::NONE, key) && count > 0 {
            let at = picker.selected.map_or(-1, |place| place as isize);
            // The first step down is onto the first entry.
            let at = if at < 0 && step < 0 { 0 } else { at + step };
            picker.selected = Some(at.clamp(0, count as isize - 1) as usize);
            picker.scroll = true;
        }
    }
    if !picker.prefix().is_empty() && pressed(Modifiers::NONE, Key::Tab) {
        picker.complete();
    }
}
