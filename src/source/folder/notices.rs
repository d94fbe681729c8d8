use std::path::Path;

use super::listing::Listing;
use crate::base::escape_path;
use crate::protocol::Problem;

/// What a listing left out, in words; `None` when nothing.
pub(super) fn left_out(listing: &Listing) -> Option<String> {
    let count = |count: u64, one: &str, many: &str| match count {
        0 => None,
        1 => Some(format!("1 {one}")),
        count => Some(format!("{count} {many}")),
    };
    let parts: Vec<String> = [
        count(
            listing.others,
            "other file left out",
            "other files left out",
        ),
        count(
            listing.subfolders,
            "folder in it not looked into",
            "folders in it not looked into",
        ),
        count(
            listing.unreadable.len() as u64,
            "folder in it cannot be read",
            "folders in it cannot be read",
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What the user should know of a listing.
pub(super) fn notices(path: &Path, listing: &Listing) -> Vec<Problem> {
    let mut notices = Vec::new();
    if let Some(left_out) = left_out(listing) {
        notices.push(Problem {
            code: "folder_left_out".to_owned(),
            message: format!("{}: {left_out}", escape_path(path)),
            hint: (listing.subfolders > 0).then(|| {
                "pictures in folders inside it are played with `?recursive=1` behind the path"
                    .to_owned()
            }),
        });
    }
    for (folder, error) in &listing.unreadable {
        notices.push(Problem {
            code: "folder_unreadable".to_owned(),
            message: format!("{}: {error}", escape_path(&path.join(folder))),
            hint: Some("check who may read it (`ls -ld`)".to_owned()),
        });
    }
    notices
}
