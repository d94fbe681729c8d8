/// Makes the table of texts: groups of fields, each a fixed text, or a function where it has
/// parameters in brackets.
macro_rules! strings {
    ($($(#[$doc:meta])* $group:ident: $name:ident {
        $($field:ident $(($($parameter:ty),*))?),* $(,)?
    })*) => {
        /// All texts of a language.
        pub(in crate::gui) struct Strings {
            $($(#[$doc])* pub(in crate::gui) $group: $name,)*
        }
        $(
            $(#[$doc])*
            pub(in crate::gui) struct $name {
                $(pub(in crate::gui) $field: strings!(@type $(($($parameter),*))?),)*
            }
        )*
        impl Strings {
            /// The texts without parameters, each with its name.
            pub(super) fn fixed(&self) -> Vec<(&'static str, &'static str)> {
                let all = [$($(strings!(@fixed
                    concat!(stringify!($group), ".", stringify!($field)),
                    self.$group.$field $(, ($($parameter),*))?),)*)*];
                all.into_iter().flatten().collect()
            }
        }
    };
    (@type) => { &'static str };
    (@type ($($parameter:ty),*)) => { fn($($parameter),*) -> String };
    (@fixed $name:expr, $text:expr) => { Some(($name, $text)) };
    (@fixed $name:expr, $text:expr, ($($parameter:ty),*)) => { None };
}

strings! {
    /// Names of commands, on buttons, in menus and for assistive technology.
    command: CommandNames {
        toggle_play, step, rewind, toggle_loop, theme, latency, log, processes, show_log, copy_log,
        keys, solo, solo_of(&str), show_all, quit, restart_source, restart_model, pause_model,
        resume_model, remove_model, save_repro, palette, language, motion,
    }
    /// What commands do.
    tip: CommandTips {
        toggle_play, step, rewind, toggle_loop, theme, latency, log, processes, show_log, copy_log,
        keys, solo, show_all, quit, restart_source, restart_model, pause_model, resume_model,
        remove_model, save_repro, palette, language, motion,
    }
    /// What the source's chip says.
    status: StatusWords {
        chip(&str), connecting, live, paused, waits_for(&str), stale(&str), ended, lost, restarting,
        failed, stopped,
    }
    /// The top bar.
    top: TopWords {
        play, play_again, pause, largest_frame(u32, u32), entries(&str), source_waits_for(&str),
        producer(u32, u32), rate_unit, rate_meaning, skipped, skipped_meaning, frames(u64),
        frames_meaning, every, every_meaning, live, live_meaning, turns_meaning, together_meaning,
    }
    /// The panel of source and models where it is closed, and the guide of an empty window.
    side: SideWords {
        panel, panel_tip, open, open_tip, open_session, save_session, save_tip, guide_title, guide_text, choose_source, choose_source_text, choose_model, choose_model_text, demo, demo_text, pattern, pattern_text, no_model, no_source_yet, no_source_chip,
    }
    /// The agreement of models.
    agreement: AgreementWords {
        word, of_frames(&str), more_pairs(usize), meaning, none, pair(&str, &str),
    }
    /// Keys and commands.
    keys: KeysWords {
        title, close, or, one_to_nine, search, nothing_found,
    }
    /// The log.
    log: LogWords {
        all_levels, warnings, errors, lowest_level, filter, process, all_processes,
        of_session, of_source, nothing, nothing_passes, info, warning, error, copy_line,
        to_the_end, dismiss, dismiss_of(&str),
    }
    /// The processes and their ring.
    process: ProcessWords {
        name, pid, state, cpu, cores(f32), memory, restarts, steer, producer, waiting, starting, running,
        paused, stale, restarting, failed, stopped, gone, pause, resume, restart, remove,
        save_repro, of_process(&str, &str), counters, source_counters(&str, &str),
        model_counters(&str, &str, &str, &str, &str), last_lines(&str), ring, ring_facts(u32, &str, usize),
        pins, no_pins, no_ring, free, pinned, writing, newest, slot(usize, &str, u64), empty_slot(usize, &str),
        strip(usize, usize, usize),
    }
    /// The middle, without tiles.
    center: CenterWords {
        restart_source, source_failed, no_model, name_a_model, resize_panel,
    }
    /// Tiles.
    tile: TileWords {
        frame_age, frame_age_meaning, answers, answers_meaning, menu_of(&str), threads(u32), paused,
        no_answer, restarting(u32), failed, stopped, process(u32, u32), input, output,
        labels(&str, u64), joined(u64), solo_key(usize), cannot_run, last_lines, no_answer_for(&str),
        paused_passes, restart_now, resume, restarting_after(&str, u32),
        restart_in(&str, u64, u32),
    }
    /// What a model waits for.
    wait: WaitWords {
        stopped, paused, failed, no_answer, to_start, starting, ready_paused, ready_waits_for(&str),
        ready_for_a_frame, no_source, source_ended, for_source,
    }
    /// Pictures, answers and counters of tiles.
    answer: AnswerWords {
        top(usize), objects(usize), invalid, raw, probability, score, values(&str, &str, &str),
        frame(u64), source_frame(u64), source_path(&str), no_preview, left_the_ring(u64, u64),
        warmup, invalid_note, predicted, predicted_meaning, dropped, dropped_meaning, lost,
        lost_meaning, invalid_count, invalid_meaning,
    }
    /// Badges of providers.
    badge: BadgeWords {
        share(&str, f64), nodes_on_cpu(u64), copies(u64), not(&str), asked(&str, &str),
        assigned(u64, &str), kernels(u64, &str, u64), copies_in_run(u64),
    }
    /// Stages and their durations.
    stage: StageWords {
        wait, copy, preprocess, queue, inference, decode, age, wait_meaning, copy_meaning,
        preprocess_meaning, queue_meaning, inference_meaning, decode_meaning, age_meaning,
        last_seconds(u64), whole_session, this_frame, title(&str), p50, p99, max, together(&str),
        percentiles(&str), age_note, none, model_failed(&str), no_answer_yet(&str), warmup,
        last_number(usize), line(&str, &str, &str), frame(u64),
    }
    /// Times.
    time: TimeWords {
        minutes(u64, u64), hours(u64, u64),
    }
    /// Commands about pictures: names, and what they do.
    picture: PictureNames {
        back, back_tip, forward, forward_tip, look_at, look_at_tip, live, live_tip, save_last, save_last_tip, zoom_in, zoom_in_tip, zoom_out, zoom_out_tip, one, one_tip, fit, fit_tip, linked, linked_tip, newest, newest_tip, shared, shared_tip, layout, layout_tip, reset, reset_tip, save_frame, save_frame_tip, save_tile, save_tile_tip, save_window, save_window_tip, copy_row, copy_row_tip, moves(&str), newest_caption(u64, u64, &str), still(u64), fed(&str, &str), of_jpeg,
    }
    /// Looking back, and what is saved.
    rewind: RewindWords {
        live_key, back_key, forward_key, back, forward, scrub, nothing, save, save_meaning, last_seconds(u32), all, disagree, gap, chip(&str), kept(usize, &str, &str), restarted(&str), no_answer, none_kept, saved_frames(usize, &str), nothing_to_save, cannot_write(&str, &str), busy, no_frame, no_row, not_kept, copied, saved(&str), saved_reduced(&str), gone(u64),
    }
    /// The latency timeline.
    timeline: TimelineWords {
        budget, budget_meaning, histogram, click, not_kept, budget_of(u32), over(usize, u32), only_warmup, row(&str, &str, &str),
    }
}
