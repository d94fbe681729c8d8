//! ONNX Runtime's graph assignment, which the `ort` crate has no safe call for yet.
#![expect(
    unsafe_code,
    reason = "Session_GetEpGraphAssignmentInfo is reachable through the C interface only"
)]

use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::ptr;
use std::slice;

use ort::session::Session;
use ort::{AsPointer, Error, sys};

use super::device::short_provider_name;

/// Session option without which the assignment is not recorded.
pub(super) const RECORD_KEY: &str = "session.record_ep_graph_assignment_info";

/// Nodes of the graph that were assigned to each provider when the graph was partitioned.
///
/// Later fusion changes the nodes: what really ran is told by a profiled run.
///
/// # Errors
/// The session was built without [`RECORD_KEY`], or ONNX Runtime fails.
pub(super) fn assigned_nodes(session: &Session) -> Result<BTreeMap<String, u32>, Error> {
    let api = ort::api();
    let mut assigned = BTreeMap::new();
    let mut subgraphs: *const *const sys::OrtEpAssignedSubgraph = ptr::null();
    let mut count = 0;
    // SAFETY: the session is alive, and both out-pointers are valid for the call.
    let status = unsafe {
        (api.Session_GetEpGraphAssignmentInfo)(session.ptr(), &mut subgraphs, &mut count)
    };
    // SAFETY: the status comes from ONNX Runtime and is used once.
    unsafe { Error::result_from_status(status) }?;
    if count == 0 || subgraphs.is_null() {
        return Ok(assigned);
    }
    // SAFETY: on success ONNX Runtime hands out `count` pointers that live as long as the session,
    // which is borrowed for longer than they are used.
    let subgraphs = unsafe { slice::from_raw_parts(subgraphs, count) };
    for &subgraph in subgraphs {
        let mut name: *const c_char = ptr::null();
        // SAFETY: `subgraph` is one of the session's, and the out-pointer is valid for the call.
        let status = unsafe { (api.EpAssignedSubgraph_GetEpName)(subgraph, &mut name) };
        // SAFETY: as above.
        unsafe { Error::result_from_status(status) }?;
        let mut nodes: *const *const sys::OrtEpAssignedNode = ptr::null();
        let mut node_count = 0;
        // SAFETY: as above; the nodes themselves are not read.
        let status =
            unsafe { (api.EpAssignedSubgraph_GetNodes)(subgraph, &mut nodes, &mut node_count) };
        // SAFETY: as above.
        unsafe { Error::result_from_status(status) }?;
        if name.is_null() {
            continue;
        }
        // SAFETY: on success the name is a C string that lives as long as the session.
        let name = unsafe { CStr::from_ptr(name) }.to_string_lossy();
        let nodes = u32::try_from(node_count).unwrap_or(u32::MAX);
        *assigned
            .entry(short_provider_name(&name).to_owned())
            .or_insert(0) += nodes;
    }
    Ok(assigned)
}
