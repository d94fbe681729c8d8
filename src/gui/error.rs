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
        "the display cannot be used: {cause}; run `ringside run` for the same session in the terminal"
    )]
    Display {
        /// What the window system says.
        cause: String,
    },
    /// No way to draw with OpenGL.
    #[error(
        "no usable OpenGL: {cause}; set LIBGL_ALWAYS_SOFTWARE=1 to draw without a graphics card, or run `ringside run` for the same session in the terminal"
    )]
    OpenGl {
        /// What the driver says.
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
        match error {
            eframe::Error::AppCreation(cause) => Self::Session(cause),
            eframe::Error::Winit(cause) => Self::Display {
                cause: one_line(&cause),
            },
            eframe::Error::WinitEventLoop(cause) => Self::Display {
                cause: one_line(&cause),
            },
            eframe::Error::NoGlutinConfigs(_, cause) => Self::OpenGl {
                cause: one_line(&cause),
            },
            other => Self::OpenGl {
                cause: one_line(&other),
            },
        }
    }
}

/// The text of an error without line breaks, and without the place in winit's source that it begins
/// with.
fn one_line(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let cause = match text.split_once(".rs:") {
        Some((place, rest)) if place.starts_with("os error at ") => {
            rest.split_once(": ").map_or(rest, |(_, cause)| cause)
        }
        _ => &text,
    };
    cause.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_one_line_without_a_place_in_the_source() {
        let winit =
            "os error at /registry/winit/src/linux/mod.rs:788: Failed to open\n  connection";
        assert_eq!(one_line(&winit), "Failed to open connection");
        assert_eq!(one_line(&"GLXBadFBConfig"), "GLXBadFBConfig");
    }
}
