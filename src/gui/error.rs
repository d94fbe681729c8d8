use std::any::Any;

/// Why there is no window.
#[derive(Debug, thiserror::Error)]
pub enum GuiError {
    /// Neither X11 nor Wayland is named in the environment.
    #[error(
        "no display: neither DISPLAY nor WAYLAND_DISPLAY is set; run `ringside run` for the same session in the terminal"
    )]
    NoDisplay,
    /// The display server cannot be used.
    #[error(
        "{display} cannot be used: {cause}; check that it is running and lets you in, or run `ringside run` for the same session in the terminal"
    )]
    Display {
        /// The display, as the environment names it.
        display: String,
        /// What the window system says.
        cause: String,
    },
    /// No way to draw with OpenGL.
    #[error(
        "no usable OpenGL on {display}: {cause}; set LIBGL_ALWAYS_SOFTWARE=1 to draw without a graphics card, or run `ringside run` for the same session in the terminal"
    )]
    OpenGl {
        /// The display, as the environment names it.
        display: String,
        /// What the driver says.
        cause: String,
    },
    /// The window was destroyed from outside, or its display has ended.
    #[error(
        "the window is gone: another program closed it by force, or its display has ended; the session has ended in order. Start it again with `ringside gui`, or with `ringside run` in the terminal"
    )]
    Lost,
    /// A fault of this program.
    #[error(
        "the window failed: {cause}; the session has ended in order. Please report it with the lines above"
    )]
    Panicked {
        /// The panic's message.
        cause: String,
    },
    /// The session could not be started.
    #[error("{0}")]
    Session(Box<dyn std::error::Error + Send + Sync>),
    /// A thread could not be started.
    #[error("the preview's thread cannot be started: {0}")]
    Thread(std::io::Error),
}

impl GuiError {
    /// Whether the machine cannot show a window, rather than something being wrong with the session.
    pub fn is_no_window(&self) -> bool {
        matches!(
            self,
            Self::NoDisplay | Self::Display { .. } | Self::OpenGl { .. }
        )
    }

    /// What [`eframe`] reports, in the terms of this program.
    pub(super) fn from_eframe(error: eframe::Error) -> Self {
        tracing::debug!("the window could not be opened: {error}");
        let display = display_name();
        match error {
            eframe::Error::AppCreation(cause) => Self::Session(cause),
            eframe::Error::Winit(cause) => Self::Display {
                display,
                cause: one_line(&cause),
            },
            eframe::Error::WinitEventLoop(cause) => Self::Display {
                display,
                cause: one_line(&cause),
            },
            eframe::Error::NoGlutinConfigs(_, cause) => Self::OpenGl {
                display,
                cause: one_line(&cause),
            },
            other => Self::OpenGl {
                display,
                cause: one_line(&other),
            },
        }
    }

    /// What a panic in the event loop means: `of_window` is the one of a library that opens the
    /// window, if it was that, and `opened` whether the window was open before.
    pub(super) fn from_panic(
        of_window: Option<String>,
        payload: &(dyn Any + Send),
        opened: bool,
    ) -> Self {
        let cause = message(payload);
        match of_window {
            Some(whole) => {
                tracing::debug!("a library of the window panicked: {whole}");
                if opened {
                    Self::Lost
                } else {
                    Self::OpenGl {
                        display: display_name(),
                        cause,
                    }
                }
            }
            None => Self::Panicked { cause },
        }
    }
}

/// The first line of a panic's message.
fn message(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    one_line(&text.unwrap_or("no message"))
}

/// The display that the window is opened on, as the environment names it.
fn display_name() -> String {
    let named = |variable: &str| {
        let value = std::env::var_os(variable).filter(|value| !value.is_empty())?;
        Some(format!("display {}", value.to_string_lossy()))
    };
    named("WAYLAND_DISPLAY")
        .or_else(|| named("DISPLAY"))
        .unwrap_or_else(|| "the display".to_owned())
}

/// The text of an error without line breaks, and without the places in the window library's source
/// that it names (`os error at /…/mod.rs:788: `).
fn one_line(error: &dyn std::fmt::Display) -> String {
    const PLACE: &str = "os error at ";
    let mut text = error.to_string();
    while let Some(begin) = text.find(PLACE) {
        let rest = &text[begin + PLACE.len()..];
        let end = rest
            .find(".rs:")
            .and_then(|place| Some(place + rest[place..].find(": ")? + 2));
        text.replace_range(begin..begin + PLACE.len() + end.unwrap_or(0), "");
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_of_the_window_libraries_is_said_in_words() {
        let payload: Box<dyn Any + Send> =
            Box::new("failed to find a matching configuration".to_owned());
        let of_eframe = || Some("panicked at eframe-0.37.0/src/x.rs:1".to_owned());
        let before = GuiError::from_panic(of_eframe(), payload.as_ref(), false);
        assert!(before.is_no_window());
        let text = before.to_string();
        assert!(text.contains("failed to find a matching configuration"));
        assert!(text.contains("LIBGL_ALWAYS_SOFTWARE=1"), "{text}");
        let after = GuiError::from_panic(of_eframe(), payload.as_ref(), true);
        assert!(matches!(after, GuiError::Lost) && !after.is_no_window());
        let ours = GuiError::from_panic(None, payload.as_ref(), true);
        assert!(matches!(ours, GuiError::Panicked { .. }));
    }

    #[test]
    fn causes_are_one_line_without_a_place_in_the_source() {
        let winit =
            "os error at /registry/winit/src/linux/mod.rs:788: Failed to open\n  connection";
        assert_eq!(one_line(&winit), "Failed to open connection");
        let nested = "glutin error: os error at /r/x.rs:9: no config";
        assert_eq!(one_line(&nested), "glutin error: no config");
        assert_eq!(one_line(&"GLXBadFBConfig"), "GLXBadFBConfig");
    }
}
