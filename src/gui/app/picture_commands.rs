use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use egui::{ColorImage, Context, Rect};

use super::App;
use crate::base::monotonic_nanos;
use crate::frame::{Frame, rgb8_into};
use crate::gui::picture_command::PictureCommand;
use crate::gui::preview::Grabbed;
use crate::gui::rewind::{Index, LookBack, SavedFrames, prediction_row, save_frames};
use crate::gui::saving::{Said, Words};
use crate::gui::state::TileState;
use crate::gui::text::{Strings, text};
use crate::gui::tile::{Place, Zoom};
use crate::protocol::Schedule;
use crate::recording::Row;

/// How long a message about a saved file stays, in nanoseconds.
const SAID_NANOS: u64 = 12_000_000_000;
/// Factor of a key's zoom.
const ZOOM_STEP: f32 = 1.5;

/// Pictures of the window that have been taken, and the parts of them to be saved.
pub(super) type Screenshots = Arc<Mutex<Vec<(PathBuf, ColorImage)>>>;

impl App {
    pub(super) fn run_picture_command(&mut self, context: &Context, command: PictureCommand) {
        match command {
            PictureCommand::Back => {
                let at = self.state.look_back.map(|look_back| look_back.seq);
                let seq = self.kept().before(at).map(|kept| kept.seq);
                self.look_at(seq.or(at));
            }
            PictureCommand::Forward => {
                let at = self.state.look_back.map(|look_back| look_back.seq);
                let seq = at.and_then(|at| self.kept().after(at).map(|kept| kept.seq));
                self.look_at(seq);
            }
            PictureCommand::LookAt(seq) => {
                if self.kept().get(seq).is_some() {
                    self.look_at(Some(seq));
                } else {
                    self.say(Err(text().rewind.not_kept.to_owned()));
                }
            }
            PictureCommand::Live => self.look_at(None),
            PictureCommand::SaveLast(seconds) => self.save_last(seconds),
            PictureCommand::ZoomIn => self.zoom(context, |zoom, place| {
                zoom.zoom(ZOOM_STEP, place.panel.center(), place);
            }),
            PictureCommand::ZoomOut => self.zoom(context, |zoom, place| {
                zoom.zoom(1.0 / ZOOM_STEP, place.panel.center(), place);
            }),
            PictureCommand::ZoomOne => self.zoom(context, Zoom::one_to_one),
            PictureCommand::ZoomFit => self.zoom(context, |zoom, _| *zoom = Zoom::default()),
            PictureCommand::ToggleLinked => self.state.linked = !self.state.linked,
            PictureCommand::ToggleNewest => self.state.newest = !self.state.newest,
            PictureCommand::ToggleShared => self.state.shared = !self.state.shared,
            PictureCommand::NextLayout => self.state.layout.next(),
            PictureCommand::ResetLayout => self.state.layout.reset(),
            PictureCommand::SaveFrame(model) => match self.shown_seq(model.as_deref()) {
                Some(seq) => self.previews.grab(seq),
                None => self.say(Err(text().rewind.no_frame.to_owned())),
            },
            PictureCommand::SaveTile(model) => {
                let rect = self.state.tiles.get(&model).map(|tile| tile.rect);
                let path = self.new_path(&format!("tile-{}", file_name(&model)), "png");
                self.take_screenshot(context, rect, path);
            }
            PictureCommand::SaveWindow => {
                let path = self.new_path("window", "png");
                self.take_screenshot(context, None, path);
            }
            PictureCommand::CopyRow(model) => self.copy_row(context, model.as_deref()),
        }
    }

    /// The frames that can be looked back at.
    pub(super) fn kept(&self) -> Arc<Index> {
        let mut buffer = self.rewind.lock().unwrap_or_else(PoisonError::into_inner);
        buffer.index()
    }

    /// Looks at a kept frame; `None`: at the present.
    fn look_at(&mut self, seq: Option<u64>) {
        let captured = |seq| {
            let kept = self.kept();
            let known = kept.get(seq).map(|kept| kept.captured_nanos);
            let before = self.state.look_back.filter(|before| before.seq == seq);
            known.or(before.map(|before| before.captured_nanos))
        };
        self.state.look_back = seq.and_then(|seq| {
            Some(LookBack {
                seq,
                captured_nanos: captured(seq)?,
            })
        });
    }

    fn save_last(&mut self, seconds: Option<u32>) {
        let since = seconds.map_or(0, |seconds| {
            // Of the session's newest frame: a source may have stopped.
            let newest = self
                .kept()
                .frames
                .last()
                .map_or(0, |kept| kept.captured_nanos);
            newest.saturating_sub(u64::from(seconds) * 1_000_000_000)
        });
        let frames = {
            let buffer = self.rewind.lock().unwrap_or_else(PoisonError::into_inner);
            buffer.since(since)
        };
        let saved = SavedFrames {
            frames,
            started_nanos: self.view.started_nanos,
            contended: self.view.source.schedule == Schedule::Together,
            parent: self.save_folder.clone(),
            words: text(),
        };
        self.save(move || save_frames(&saved));
    }

    /// Zooms the tile under the pointer, or all of them.
    fn zoom(&mut self, context: &Context, change: impl Fn(&mut Zoom, &Place)) {
        let pixels_per_point = context.pixels_per_point();
        let at = context.input(|input| input.pointer.hover_pos());
        let is_over = |tile: &TileState| at.is_some_and(|at| tile.picture_rect.contains(at));
        let some_is_over = self.state.tiles.values().any(is_over);
        let all = !some_is_over || self.state.linked;
        for tile in self.state.tiles.values_mut() {
            let is_over = at.is_some_and(|at| tile.picture_rect.contains(at));
            if let Some(picture) = &tile.picture
                && (all || is_over)
                && tile.picture_rect.is_positive()
            {
                let [width, height] = picture.frame_size;
                let place = Place {
                    panel: tile.picture_rect,
                    frame: egui::vec2(width.max(1) as f32, height.max(1) as f32),
                    pixels_per_point,
                };
                change(&mut tile.zoom, &place);
            }
        }
    }

    /// The tile that a wish is about: of this model, under the pointer's solo, or the first one.
    fn tile(&self, model: Option<&str>) -> Option<(&str, &TileState)> {
        let wanted = model.or(self.state.solo.as_deref());
        let mut names = self
            .view
            .models
            .iter()
            .map(|model| model.spec.name.as_str());
        let name = match wanted {
            Some(wanted) => names.find(|name| *name == wanted)?,
            None => names.next()?,
        };
        Some((name, self.state.tiles.get(name)?))
    }

    fn shown_seq(&self, model: Option<&str>) -> Option<u64> {
        let of_tile = self.tile(model).and_then(|(_, tile)| {
            let picture = tile.picture.as_ref().map(|picture| picture.seq);
            picture.or(tile.shown.as_ref().map(|shown| shown.event.seq))
        });
        of_tile.or(self.state.source.as_ref().map(|source| source.picture.seq))
    }

    fn copy_row(&mut self, context: &Context, model: Option<&str>) {
        let contended = self.view.source.schedule == Schedule::Together;
        let row = self.tile(model).and_then(|(name, tile)| {
            let shown = tile.shown.as_ref()?;
            Some(Row::Prediction(Box::new(prediction_row(
                name, shown, contended,
            ))))
        });
        let words = match row.map(|row| serde_json::to_string(&row)) {
            Some(Ok(row)) => {
                context.copy_text(row);
                Ok(text().rewind.copied.to_owned())
            }
            Some(Err(cause)) => Err(cause.to_string()),
            None => Err(text().rewind.no_row.to_owned()),
        };
        self.say(words);
    }

    /// Saves a frame that came from the preview thread, or what is kept of it.
    pub(super) fn save_grabbed(&mut self, grabbed: Grabbed) {
        let Grabbed { seq, frame } = grabbed;
        let name = format!("frame-{seq:06}");
        if let Some(frame) = frame {
            let path = self.new_path(&name, "png");
            let words = text();
            self.save(move || save_frame(&frame, &path, words));
            return;
        }
        let kept = {
            let buffer = self.rewind.lock().unwrap_or_else(PoisonError::into_inner);
            buffer.get(seq)
        };
        match kept.and_then(|kept| kept.jpeg) {
            Some(jpeg) => {
                let path = self.new_path(&name, "jpg");
                let words = text();
                self.save(move || {
                    write_new(&path, &jpeg, words)?;
                    Ok((words.rewind.saved_reduced)(&path.display().to_string()))
                });
            }
            None => self.say(Err((text().rewind.gone)(seq))),
        }
    }

    /// Takes a picture of the window when it has been drawn, and keeps what is in `rect`.
    fn take_screenshot(&self, context: &Context, rect: Option<Rect>, path: PathBuf) {
        let taken = Arc::clone(&self.screenshots);
        let (scale, again) = (context.pixels_per_point(), context.clone());
        context.request_screenshot(move |image| {
            let part = match rect {
                Some(rect) => image.region(&rect.intersect(whole(&image, scale)), Some(scale)),
                None => ColorImage::clone(&image),
            };
            let mut taken = taken.lock().unwrap_or_else(PoisonError::into_inner);
            taken.push((path, part));
            again.request_repaint();
        });
    }

    /// Saves the pictures of the window that have been taken, and says what has been saved.
    pub(super) fn take_saved(&mut self) {
        let taken = {
            let mut taken = self
                .screenshots
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *taken)
        };
        for (path, image) in taken {
            let words = text();
            self.save(move || save_image(&image, &path, words));
        }
        while let Some(words) = self.saver.take() {
            self.say(words);
        }
        let now = monotonic_nanos();
        let is_old = |said: &Said| now.saturating_sub(said.since_nanos) > SAID_NANOS;
        if self.state.said.as_ref().is_some_and(is_old) {
            self.state.said = None;
        }
    }

    fn save(&mut self, job: impl FnOnce() -> Words + Send + 'static) {
        if let Err(refused) = self.saver.run(job) {
            self.say(Err(refused));
        }
    }

    fn say(&mut self, words: Words) {
        self.state.said = Some(Said::now(words));
    }

    /// A file of the save folder that is named after its contents and the time.
    fn new_path(&self, name: &str, extension: &str) -> PathBuf {
        let now = jiff::Timestamp::now().strftime("%Y-%m-%dT%H-%M-%S.%3f");
        self.save_folder.join(format!("{name}-{now}.{extension}"))
    }
}

/// A model's name as a part of a file's.
fn file_name(name: &str) -> String {
    let letter = |letter: char| match letter {
        letter if letter.is_alphanumeric() || "-_.".contains(letter) => letter,
        _ => '_',
    };
    name.chars().map(letter).collect()
}

/// All of a picture of the window, in points.
fn whole(image: &ColorImage, scale: f32) -> Rect {
    let [width, height] = image.size.map(|side| side as f32 / scale);
    Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(width, height))
}

fn cannot_write(path: &Path, cause: &dyn std::fmt::Display, words: &Strings) -> String {
    (words.rewind.cannot_write)(&path.display().to_string(), &cause.to_string())
}

fn write_new(path: &Path, bytes: &[u8], words: &Strings) -> Result<(), String> {
    let parent = path.parent().unwrap_or(path);
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::write(path, bytes))
        .map_err(|cause| cannot_write(path, &cause, words))
}

fn save_png(rgb: Vec<u8>, size: [u32; 2], path: &Path, words: &Strings) -> Words {
    let failed = |cause: &dyn std::fmt::Display| cannot_write(path, cause, words);
    let picture = image::RgbImage::from_raw(size[0], size[1], rgb)
        .ok_or_else(|| failed(&"it has no pixels"))?;
    let mut bytes = std::io::Cursor::new(Vec::new());
    picture
        .write_to(&mut bytes, image::ImageFormat::Png)
        .map_err(|cause| failed(&cause))?;
    write_new(path, bytes.get_ref(), words)?;
    Ok((words.rewind.saved)(&path.display().to_string()))
}

/// A frame's pixels as 8-bit RGB.
fn save_frame(frame: &Frame, path: &Path, words: &Strings) -> Words {
    let mut rgb = Vec::new();
    rgb8_into(frame, &mut rgb).map_err(|cause| cannot_write(path, &cause, words))?;
    let size = [frame.description.width, frame.description.height];
    save_png(rgb, size, path, words)
}

fn save_image(image: &ColorImage, path: &Path, words: &Strings) -> Words {
    let rgb = image.pixels.iter().flat_map(|pixel| {
        let [red, green, blue, _] = pixel.to_array();
        [red, green, blue]
    });
    save_png(
        rgb.collect(),
        image.size.map(|side| side as u32),
        path,
        words,
    )
}
