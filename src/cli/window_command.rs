use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;

use super::arguments::SessionArguments;
use super::exit::{Ending, Exit};
use super::run_command::{options, run_to_end, session_spec};
use super::settings_file::settings_file;
use super::signals::Interrupts;
use super::terminal::Terminal;
use super::window_session::WindowSession;
use super::{demo, runtime_command};
use crate::frame::Frame;
use crate::gui::{
    self, FramePreview, GuiError, InstallFailure, InstallStep, SessionHandle, WindowOptions,
    WindowServices,
};
use crate::runtime::{self, InstallRequest};
use crate::session::{Session, SessionCommand, SessionOptions, SessionSpec, SessionView};
use crate::{report, ring};

/// Opens the window on a session.
pub(super) fn gui(
    arguments: &SessionArguments,
    onnxruntime: Option<PathBuf>,
) -> anyhow::Result<Exit> {
    gui::check_display()?;
    let spec = session_spec(arguments, "gui")?;
    let title = match &arguments.session {
        Some(file) => file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        None if spec.source.is_empty() => "new session".to_owned(),
        None => spec.source.clone(),
    };
    open(spec, title, arguments.session.clone(), onnxruntime)?;
    Ok(Exit::Done)
}

/// Opens the window on the demo session; without a display, runs one pass of it in the terminal.
pub(super) fn demo(onnxruntime: Option<PathBuf>) -> anyhow::Result<Exit> {
    let Some(file) = demo::find() else {
        let message = "the demo session (assets/demo.toml) is neither above the program nor in the current folder; name a session: ringside gui SESSION.toml, or see ringside --help";
        return Err(Ending::new(Exit::Usage, message).into());
    };
    let mut spec = SessionSpec::load(&file).map_err(|error| Ending::new(Exit::Usage, error))?;
    let window = gui::check_display()
        .map_err(anyhow::Error::from)
        .and_then(|()| open(spec.clone(), "demo".to_owned(), None, onnxruntime.clone()));
    match window {
        Ok(()) => Ok(Exit::Done),
        Err(error)
            if error
                .downcast_ref::<GuiError>()
                .is_some_and(GuiError::is_no_window) =>
        {
            writeln!(
                io::stderr(),
                "ringside: {error}\nringside: running the demo session once in the terminal instead"
            )?;
            spec.looping = false;
            spec.fps = 0.0;
            run_to_end(spec, onnxruntime, vec![Box::new(Terminal::new(false))])
        }
        Err(error) => Err(error),
    }
}

fn open(
    spec: SessionSpec,
    title: String,
    session_file: Option<PathBuf>,
    onnxruntime: Option<PathBuf>,
) -> anyhow::Result<()> {
    // Found now, so that a session that is opened later finds it, too.
    let program = options(onnxruntime.clone())?.program;
    let window = WindowOptions {
        title,
        open_preview: Box::new(open_preview),
        services: WindowServices {
            settings: settings_file(),
            spec: spec.clone(),
            session_file,
            demo: demo::find(),
            install_runtime: Some(Arc::new(install_runtime)),
            // As `ringside run` does.
            install_at_once: true,
        },
    };
    gui::run(window, move |wake| {
        let start = move |spec| {
            let base = SessionOptions {
                onnxruntime: onnxruntime.clone(),
                interactive: true,
                wake: Arc::clone(&wake),
                repro: Some(Arc::new(|capture, folder| {
                    report::write_repro(capture, folder).map_err(std::io::Error::other)
                })),
                ..SessionOptions::new(program.clone())
            };
            Session::start(spec, base)
        };
        let session = WindowSession::start(spec, Box::new(start))?;
        let ended = session.clone();
        let interrupts = Interrupts::watch(move || {
            ended.end();
            std::process::exit(Exit::Interrupted as i32);
        })?;
        Ok(Box::new(Interruptible {
            session,
            _interrupts: interrupts,
        }))
    })?;
    Ok(())
}

/// Installs ONNX Runtime for the CPU, on the thread that calls it.
fn install_runtime(
    tell: &mut dyn FnMut(InstallStep) -> ControlFlow<()>,
) -> Result<(), InstallFailure> {
    let mut progress = |progress| {
        let (what, bytes) = runtime_command::step(progress);
        let share = bytes.map(|(done, all)| (done as f64 / all.max(1) as f64) as f32);
        tell(InstallStep { what, share })
    };
    match runtime::install(&InstallRequest::default(), &mut progress) {
        Ok(_found) => Ok(()),
        Err(error) => Err(InstallFailure {
            message: error.to_string(),
            hint: error.hint(),
        }),
    }
}

/// The window's session, which a signal ends.
struct Interruptible {
    session: WindowSession,
    _interrupts: Interrupts,
}

impl SessionHandle for Interruptible {
    fn view(&self) -> Arc<SessionView> {
        self.session.view()
    }

    fn send(&self, command: SessionCommand) {
        self.session.send(command);
    }

    fn open(&self, spec: SessionSpec) {
        self.session.open(spec);
    }

    fn end(&self) {
        self.session.end();
    }
}

/// Previews frames straight from a session's ring.
struct RingPreview(ring::Preview);

fn open_preview(name: &str) -> Result<Box<dyn FramePreview>, String> {
    let preview = ring::Preview::attach(name).map_err(|error| error.to_string())?;
    Ok(Box::new(RingPreview(preview)))
}

impl FramePreview for RingPreview {
    fn copy(&mut self, seq: Option<u64>, frame: &mut Frame) -> Result<Option<u64>, String> {
        self.0.copy(seq, frame).map_err(|error| error.to_string())
    }
}
