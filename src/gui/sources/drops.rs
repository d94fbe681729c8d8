use std::fs;
use std::path::{Path, PathBuf};

use egui::{Align2, Color32, Context, FontId, Id, LayerId, Order, Stroke, StrokeKind};

use super::picker::Kind;
use super::{SideCommand, strings};
use crate::gui::theme::Palette;

/// What comes of dropped files, by what is really there: a session file is opened; else each model
/// is added, and the first folder or picture becomes the source.
pub(super) fn commands_of(paths: &[PathBuf]) -> Result<Vec<SideCommand>, String> {
    let session = paths
        .iter()
        .find(|path| Kind::of_file(path) == Kind::Session);
    if let Some(file) = session {
        return Ok(vec![SideCommand::OpenSession(file.clone())]);
    }
    let mut commands = Vec::new();
    let mut has_source = false;
    for path in paths {
        let metadata =
            fs::metadata(path).map_err(|error| strings::unreadable(path, &error.to_string()))?;
        let is_folder = metadata.is_dir();
        if !is_folder && Kind::of_file(path) == Kind::Model {
            commands.push(SideCommand::AddModel(path.clone()));
        } else if !has_source {
            has_source = true;
            let path = path.clone();
            commands.push(SideCommand::UsePath { path, is_folder });
        }
    }
    Ok(commands)
}

/// What will happen, over the whole window, while files are held above it.
pub(in crate::gui) fn drop_overlay_ui(context: &Context) {
    let hovered = context.input(|input| input.raw.hovered_files.clone());
    if hovered.is_empty() {
        return;
    }
    let paths: Vec<&Path> = hovered
        .iter()
        .filter_map(|file| file.path.as_deref())
        .collect();
    let text = promise(&paths);
    let screen = context.content_rect();
    let palette = Palette::for_theme(context.theme());
    let painter = context.layer_painter(LayerId::new(Order::Foreground, Id::unique("drop")));
    painter.rect_filled(screen, 0.0, Color32::from_black_alpha(150));
    let line = Stroke::new(2.0, palette.accent);
    painter.rect_stroke(screen.shrink(14.0), 12.0, line, StrokeKind::Inside);
    let galley = painter.layout(
        text,
        FontId::proportional(20.0),
        Color32::WHITE,
        screen.width() - 80.0,
    );
    let rect = Align2::CENTER_CENTER.align_size_within_rect(galley.size(), screen);
    painter.galley(rect.min, galley, Color32::WHITE);
}

/// What dropping does, by the names alone.
fn promise(paths: &[&Path]) -> String {
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let kinds = || paths.iter().map(|path| (*path, Kind::of_file(path)));
    if let Some((path, _)) = kinds().find(|(_, kind)| *kind == Kind::Session) {
        return strings::drop_session(&name(path));
    }
    let models: Vec<String> = kinds()
        .filter(|(_, kind)| *kind == Kind::Model)
        .map(|(path, _)| strings::drop_model(&name(path)))
        .collect();
    let source = kinds()
        .find(|(_, kind)| *kind != Kind::Model)
        .map(|(path, _)| strings::drop_source(&name(path)));
    let lines: Vec<String> = models.into_iter().chain(source).collect();
    if lines.is_empty() {
        strings::DROP_UNKNOWN.to_owned()
    } else {
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_files_become_what_their_kind_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["a.onnx", "b.ONNX", "cat.jpg", "s.toml"] {
            fs::write(at(name), b"").expect("a file");
        }
        let source = |path: PathBuf, is_folder| SideCommand::UsePath { path, is_folder };
        assert_eq!(
            commands_of(&[
                at("a.onnx"),
                at("cat.jpg"),
                at("b.ONNX"),
                folder.path().into()
            ]),
            Ok(vec![
                SideCommand::AddModel(at("a.onnx")),
                source(at("cat.jpg"), false),
                SideCommand::AddModel(at("b.ONNX")),
            ])
        );
        assert_eq!(
            commands_of(&[folder.path().into()]),
            Ok(vec![source(folder.path().into(), true)])
        );
        assert_eq!(
            commands_of(&[at("a.onnx"), at("s.toml")]),
            Ok(vec![SideCommand::OpenSession(at("s.toml"))])
        );
        let promised = promise(&[Path::new("/x/a.onnx"), Path::new("/x/photos")]);
        assert_eq!(promised, "Add the model a.onnx\nTake frames from photos");
        let promised = promise(&[Path::new("/x/a.onnx"), Path::new("/x/s.toml")]);
        assert_eq!(promised, "Open the session s.toml instead of this one");
        let error = commands_of(&[at("gone.jpg")]).expect_err("not there");
        assert!(error.contains("gone.jpg"), "{error}");
    }
}
