use std::io;
use std::path::PathBuf;

use super::picture::PictureError;
use crate::base::escape_path;
use crate::protocol::Problem;

/// Why a source cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A kind of source that is planned and not there yet.
    #[error("`{scheme}:` sources are not supported in this version of Ringside")]
    NotSupported {
        /// Its scheme.
        scheme: String,
    },
    /// No kind of source, and no file either.
    #[error("`{scheme}:` is no kind of source, and there is no file or folder `{address}`")]
    UnknownScheme {
        /// What stands before the colon.
        scheme: String,
        /// The whole address.
        address: String,
        /// The kind of source with the most similar name, if one is similar.
        nearest: Option<&'static str>,
    },
    /// An option that this kind of source does not have.
    #[error("`{scheme}:` has no option `{option}`")]
    UnknownOption {
        /// The kind of source.
        scheme: &'static str,
        /// The option.
        option: String,
        /// The options that it has.
        known: &'static [&'static str],
    },
    /// A value that an option cannot have.
    #[error("option `{option}` of `{scheme}:` cannot be `{value}`")]
    OptionValue {
        /// The kind of source.
        scheme: &'static str,
        /// The option.
        option: String,
        /// The value.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
    /// Nothing is said about where.
    #[error("`{scheme}:` needs a path behind the colon")]
    NoPath {
        /// The kind of source.
        scheme: &'static str,
    },
    /// A test picture that is not known.
    #[error("there is no pattern `{name}`")]
    UnknownPattern {
        /// Its name.
        name: String,
    },
    /// The path leads nowhere, or may not be followed.
    #[error("{}: {cause}", escape_path(.path))]
    Path {
        /// The path.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// The path does not lead to a folder.
    #[error("{} is not a folder", escape_path(.path))]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The path leads to a folder where one picture was asked for.
    #[error("{} is a folder, not a picture", escape_path(.path))]
    NotAPicture {
        /// The path.
        path: PathBuf,
    },
    /// A folder without pictures.
    #[error("{} holds no picture ({left_out})", escape_path(.path))]
    NoPictures {
        /// The folder.
        path: PathBuf,
        /// What it holds, in words.
        left_out: String,
        /// Whether folders in it were not looked into.
        has_subfolders: bool,
    },
    /// The one picture that was asked for cannot be decoded.
    #[error("{}: {reason}", escape_path(.path))]
    Picture {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: PictureError,
    },
    /// The system refuses a thread.
    #[error("no thread to decode pictures: {0}")]
    Thread(io::Error),
}

/// Kinds of sources that can be opened.
pub(super) const SCHEMES: [&str; 3] = ["folder", "image", "pattern"];

impl SourceError {
    /// The error for the session: identifier, message and what to do.
    pub fn problem(&self) -> Problem {
        let (code, hint) = match self {
            Self::NotSupported { .. } => (
                "source_not_supported",
                format!("this version plays {}", schemes()),
            ),
            Self::UnknownScheme { nearest, .. } => (
                "source_address",
                match nearest {
                    Some(nearest) => format!("did you mean `{nearest}:`?"),
                    None => format!("this version plays {} and bare paths", schemes()),
                },
            ),
            Self::UnknownOption { known, .. } => (
                "source_address",
                format!("its options are {}", known.join(", ")),
            ),
            Self::OptionValue { expected, .. } => {
                ("source_address", format!("it has to be {expected}"))
            }
            Self::NoPath { scheme } => (
                "source_address",
                format!("for example `{scheme}:/home/me/pictures`"),
            ),
            Self::UnknownPattern { .. } => (
                "source_address",
                "the patterns are `pattern:bars` and `pattern:stamp`".to_owned(),
            ),
            Self::Path { cause, .. } if cause.kind() == io::ErrorKind::NotFound => (
                "source_not_found",
                "check the path; relative paths start at the working directory, those of a session \
                 file at the file"
                    .to_owned(),
            ),
            Self::Path { .. } => (
                "source_unreadable",
                "check who may read it (`ls -ld`)".to_owned(),
            ),
            Self::NotAFolder { .. } => (
                "source_not_a_folder",
                "for one picture use `image:` or the bare path".to_owned(),
            ),
            Self::NotAPicture { .. } => (
                "source_not_a_picture",
                "for all pictures in it use `folder:` or the bare path".to_owned(),
            ),
            Self::NoPictures {
                has_subfolders: true,
                ..
            } => (
                "source_empty",
                "pictures in folders inside it are played with `?recursive=1` behind the path"
                    .to_owned(),
            ),
            Self::NoPictures { .. } => ("source_empty", "choose another folder".to_owned()),
            Self::Picture { .. } => ("source_picture", "choose another file".to_owned()),
            Self::Thread(_) => (
                "no_thread",
                "the system's limit of threads or memory is reached (`ulimit -u`)".to_owned(),
            ),
        };
        Problem {
            code: code.to_owned(),
            message: self.to_string(),
            hint: Some(hint),
        }
    }
}

fn schemes() -> String {
    SCHEMES.map(|scheme| format!("`{scheme}:`")).join(", ")
}
