//! What a file says about itself: is it ONNX Runtime, and which release? The file is read, never
//! loaded, since a library of the wrong kind can hang or end the process that loads it.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use object::elf::{self, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, Sym};
use object::{Endianness, FileKind, ReadCache, ReadRef};

use super::Version;

/// The function that every ONNX Runtime library exports.
const ENTRY_POINT: &[u8] = b"OrtGetApiBase";
/// What the library's file is called, before `.1.31.1`.
pub(super) const FILE_STEM: &str = "libonnxruntime.so";

/// Why a file cannot serve as ONNX Runtime.
#[derive(Debug, thiserror::Error)]
pub enum Defect {
    /// Nothing is there.
    #[error("no such file")]
    Missing,
    /// A directory; perhaps the library is inside.
    #[error("a directory, not a library{}", .inside.as_ref().map(|path| format!("; name the file `{}` inside it", path.display())).unwrap_or_default())]
    Directory {
        /// A file inside that is named like the library.
        inside: Option<PathBuf>,
    },
    /// A pipe, socket or device.
    #[error("not a regular file")]
    NotRegular,
    /// The system refuses to read it.
    #[error("cannot be read: {0}")]
    Unreadable(io::Error),
    /// Not a program or library of this system.
    #[error("not a shared library (it does not begin as an ELF file)")]
    NotElf,
    /// Parts of the file are missing.
    #[error("cut off: it has {bytes} bytes of {needed}")]
    Truncated {
        /// Its length.
        bytes: u64,
        /// The length that its headers speak of.
        needed: u64,
    },
    /// Its headers contradict each other.
    #[error("a damaged ELF file: {0}")]
    Damaged(object::read::Error),
    /// Made for another processor.
    #[error("made for another processor than this {} one", std::env::consts::ARCH)]
    ForeignProcessor,
    /// A program, an object file or a core dump.
    #[error("an ELF file, but not a shared library")]
    NotShared,
    /// Another library.
    #[error("a shared library, but not ONNX Runtime (it does not export OrtGetApiBase)")]
    NotOnnxRuntime,
    /// Neither its symbols nor its name say which release it is.
    #[error(
        "ONNX Runtime of unknown version (neither its symbols nor its file name, as libonnxruntime.so.X.Y.Z, tell)"
    )]
    UnknownVersion,
    /// A release without the C API that this program uses.
    #[error("ONNX Runtime {0}, which is too old")]
    TooOld(Version),
}

/// The release of the ONNX Runtime library in the file `path`.
///
/// # Errors
/// The [`Defect`] that makes the file useless.
pub fn inspect(path: &Path) -> Result<Version, Defect> {
    let metadata = std::fs::metadata(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Defect::Missing,
        _ => Defect::Unreadable(error),
    })?;
    if metadata.is_dir() {
        return Err(Defect::Directory {
            inside: libraries_in(path).into_iter().next(),
        });
    }
    // Opening a pipe would wait for its other end.
    if !metadata.is_file() {
        return Err(Defect::NotRegular);
    }
    let file = File::open(path).map_err(Defect::Unreadable)?;
    let symbol_version = read_elf(&ReadCache::new(file))?;
    let version = symbol_version
        .as_deref()
        .and_then(version_of_symbol)
        .or_else(|| version_of_name(path))
        .ok_or(Defect::UnknownVersion)?;
    if version < Version::NEEDED {
        return Err(Defect::TooOld(version));
    }
    Ok(version)
}

/// The files of directory `directory` that are named like the library, sorted by name; none if it
/// cannot be read.
pub(super) fn libraries_in(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| is_library_name(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
}

/// Whether a file name is `libonnxruntime.so`, alone or with a version.
pub(super) fn is_library_name(name: &str) -> bool {
    name.strip_prefix(FILE_STEM)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Checks the headers and returns the version name of the entry point, as `VERS_1.31.1`.
fn read_elf<'data, R: ReadRef<'data>>(data: R) -> Result<Option<String>, Defect> {
    match FileKind::parse(data) {
        Ok(FileKind::Elf64) => {}
        Ok(FileKind::Elf32) => return Err(Defect::ForeignProcessor),
        _ => return Err(Defect::NotElf),
    }
    let header = FileHeader64::<Endianness>::parse(data).map_err(Defect::Damaged)?;
    let endian = header.endian().map_err(Defect::Damaged)?;
    if endian != Endianness::default() || !runs_here(header.e_machine(endian)) {
        return Err(Defect::ForeignProcessor);
    }
    if header.e_type(endian) != elf::ET_DYN {
        return Err(Defect::NotShared);
    }
    check_length(header, endian, data)?;

    let sections = header.sections(endian, data).map_err(Defect::Damaged)?;
    let symbols = sections
        .symbols(endian, data, elf::SHT_DYNSYM)
        .map_err(Defect::Damaged)?;
    let versions = sections.versions(endian, data).map_err(Defect::Damaged)?;
    for (index, symbol) in symbols.enumerate() {
        // One odd name among thousands says nothing about the entry point.
        if symbol.is_undefined(endian) || symbols.symbol_name(endian, symbol) != Ok(ENTRY_POINT) {
            continue;
        }
        let Some(versions) = &versions else {
            return Ok(None);
        };
        let version = versions
            .version(versions.version_index(endian, index).index())
            .map_err(Defect::Damaged)?;
        return Ok(version.map(|version| String::from_utf8_lossy(version.name()).into_owned()));
    }
    Err(Defect::NotOnnxRuntime)
}

/// Refuses a file that ends before what its headers speak of, as an interrupted copy does.
fn check_length<'data, R: ReadRef<'data>>(
    header: &FileHeader64<Endianness>,
    endian: Endianness,
    data: R,
) -> Result<(), Defect> {
    let bytes = data.len().unwrap_or(0);
    let sections_end = u64::from(header.e_shnum(endian))
        .saturating_mul(u64::from(header.e_shentsize(endian)))
        .saturating_add(header.e_shoff(endian));
    let demand = |needed: u64| match needed <= bytes {
        true => Ok(()),
        false => Err(Defect::Truncated { bytes, needed }),
    };
    demand(sections_end)?;
    for segment in header
        .program_headers(endian, data)
        .map_err(Defect::Damaged)?
    {
        demand(
            segment
                .p_offset(endian)
                .saturating_add(segment.p_filesz(endian)),
        )?;
    }
    for section in header
        .section_headers(endian, data)
        .map_err(Defect::Damaged)?
    {
        if section.sh_type(endian) != elf::SHT_NOBITS {
            demand(
                section
                    .sh_offset(endian)
                    .saturating_add(section.sh_size(endian)),
            )?;
        }
    }
    Ok(())
}

/// Whether this program's processor runs code of this ELF machine. Processors for which nothing is
/// known here are left to the loader.
fn runs_here(machine: elf::Machine) -> bool {
    match std::env::consts::ARCH {
        "x86_64" => machine == elf::EM_X86_64,
        "aarch64" => machine == elf::EM_AARCH64,
        "riscv64" => machine == elf::EM_RISCV,
        _ => true,
    }
}

fn version_of_symbol(name: &str) -> Option<Version> {
    name.strip_prefix("VERS_")?.parse().ok()
}

/// The version at the end of the file's name, links followed.
fn version_of_name(path: &Path) -> Option<Version> {
    let real = path.canonicalize().ok()?;
    let name = real.file_name()?.to_str()?;
    name.strip_prefix(FILE_STEM)?
        .strip_prefix('.')?
        .parse()
        .ok()
}
