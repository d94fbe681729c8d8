use std::num::NonZero;
use std::thread::available_parallelism;

/// Threads of inference: `asked`, or a fair share of this process's cores among `models`.
///
/// The cores are those that the system lets this process use (affinity and control group).
pub(super) fn inference_threads(asked: u32, models: u32) -> u32 {
    if asked > 0 {
        return asked;
    }
    let cores = available_parallelism().map_or(1, NonZero::get);
    fair_share(u32::try_from(cores).unwrap_or(u32::MAX), models)
}

/// Cores that the system lets this process use, where more threads than that are `asked` for.
pub(super) fn too_few_cores(asked: u32) -> Option<u32> {
    let cores = u32::try_from(available_parallelism().ok()?.get()).ok()?;
    (asked > cores).then_some(cores)
}

fn fair_share(cores: u32, models: u32) -> u32 {
    (cores / models.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_shared_and_everybody_gets_one() {
        assert_eq!(fair_share(8, 3), 2);
        assert_eq!(fair_share(2, 1), 2);
        assert_eq!(fair_share(2, 5), 1);
        assert_eq!(fair_share(4, 0), 4);
        assert_eq!(inference_threads(7, 3), 7);
    }
}
