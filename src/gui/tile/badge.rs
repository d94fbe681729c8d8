use crate::gui::text::text;
use crate::protocol::ProviderReport;

/// What the provider badge says.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Badge {
    /// The badge itself: `CPU`, `CUDA 97 % of time · 3 nodes on CPU · 2 copies`.
    pub(super) text: String,
    /// What was asked, what ran, and why.
    pub(super) details: String,
    /// Whether it runs elsewhere than it was told to.
    pub(super) is_fallback: bool,
}

impl Badge {
    pub(super) fn new(report: &ProviderReport) -> Self {
        let words = &text().badge;
        let provider = report.provider.as_str();
        let mut parts = vec![provider.to_owned()];
        let executed: u64 = report.executed.values().map(|ran| ran.micros).sum();
        if provider != "CPU" {
            if let Some(ran) = report.executed.get(provider)
                && executed > 0
            {
                let share = 100.0 * ran.micros as f64 / executed as f64;
                parts[0] = (words.share)(provider, share);
            }
            match report.assigned.get("CPU") {
                None | Some(0) => {}
                Some(nodes) => parts.push((words.nodes_on_cpu)(u64::from(*nodes))),
            }
            match report.copies {
                0 => {}
                copies => parts.push((words.copies)(u64::from(copies))),
            }
        }
        // `auto` leaves the choice to the program; anything else is an order that was not followed.
        let is_fallback = report.reason.is_some() && report.asked != "auto";
        if is_fallback {
            // Right behind what runs: it is the last to be shortened away.
            parts.insert(1, (words.not)(&report.asked));
        }
        Self {
            text: parts.join(" · "),
            details: details(report),
            is_fallback,
        }
    }
}

fn details(report: &ProviderReport) -> String {
    let words = &text().badge;
    let mut lines = vec![(words.asked)(&report.asked, &report.provider)];
    lines.extend(report.reason.clone());
    for (provider, nodes) in &report.assigned {
        lines.push((words.assigned)(u64::from(*nodes), provider));
    }
    for (provider, ran) in &report.executed {
        lines.push((words.kernels)(
            u64::from(ran.kernels),
            provider,
            ran.micros,
        ));
    }
    if report.copies > 0 {
        lines.push((words.copies_in_run)(u64::from(report.copies)));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ExecutedKernels;

    fn report(asked: &str, provider: &str) -> ProviderReport {
        ProviderReport {
            asked: asked.to_owned(),
            provider: provider.to_owned(),
            ..Default::default()
        }
    }

    #[test]
    fn a_cpu_is_just_a_cpu() {
        let mut report = report("auto", "CPU");
        report.reason = Some("libcuda.so.1 not found".to_owned());
        let badge = Badge::new(&report);
        assert_eq!(badge.text, "CPU");
        assert!(!badge.is_fallback);
        assert!(badge.details.contains("libcuda.so.1 not found"));
    }

    #[test]
    fn a_device_that_was_asked_for_and_not_given_is_a_fallback() {
        let mut report = report("cuda:0", "CPU");
        report.reason = Some("libcuda.so.1 not found".to_owned());
        let badge = Badge::new(&report);
        assert_eq!(badge.text, "CPU · not cuda:0");
        assert!(badge.is_fallback);
    }

    #[test]
    fn a_gpu_says_how_much_of_the_work_it_does() {
        let mut report = report("cuda:0", "CUDA");
        let ran = |micros| ExecutedKernels { kernels: 1, micros };
        report.executed.insert("CUDA".to_owned(), ran(970));
        report.executed.insert("CPU".to_owned(), ran(30));
        report.assigned.insert("CUDA".to_owned(), 91);
        report.assigned.insert("CPU".to_owned(), 3);
        report.copies = 2;
        assert_eq!(
            Badge::new(&report).text,
            "CUDA 97 % of time · 3 nodes on CPU · 2 copies"
        );
    }
}
