use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Instant;

use super::*;

/// Longest that any step may take on a loaded machine.
const HANG: Duration = Duration::from_secs(60);

/// A program that runs `body` in a shell.
fn script(folder: &tempfile::TempDir, body: &str) -> PathBuf {
    let path = folder.path().join("child");
    fs::write(&path, format!("#!/bin/bash\n{body}\n")).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
    path
}

fn start(body: &str) -> (Child, Receiver<Incoming>, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let (sender, inbox) = channel::bounded(64);
    let program = script(&folder, body);
    // The kernel may still hold a just written program busy for another test's fork.
    let child = loop {
        match Child::start(&program, Role::Consumer, 1, sender.clone()) {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {}
            other => break other.expect("a child"),
        }
    };
    (child, inbox, folder)
}

fn reap(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + HANG;
    loop {
        child.hurry(monotonic_nanos());
        if let Some(status) = child.try_reap() {
            return status;
        }
        assert!(Instant::now() < deadline, "the child does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// State letter of a process, or `None` when there is none.
fn state_of(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[test]
fn a_child_that_is_asked_ends_by_itself_and_is_reaped() {
    let (mut child, _inbox, _folder) =
        start("read line; case $line in *stop*) exit 0;; esac; exit 9");
    let pid = child.pid();
    child.ask_to_stop(monotonic_nanos());
    assert_eq!(describe_exit(reap(&mut child)), "exit code 0");
    assert_eq!(state_of(pid), None);
}

#[test]
fn a_child_that_ignores_everything_is_killed_with_its_helpers() {
    let body = r#"trap '' TERM; sleep 1000 & echo "$!" >&2; echo '{"event":"ended"}'; wait; wait"#;
    let (mut child, inbox, _folder) = start(body);
    inbox.recv_timeout(HANG).expect("it has started");
    let deadline = Instant::now() + HANG;
    while child.stderr().is_empty() {
        assert!(Instant::now() < deadline, "no line on stderr");
    }
    let helper: u32 = child.stderr()[0].parse().expect("a process number");
    assert!(state_of(helper).is_some());
    child.ask_to_stop(monotonic_nanos());
    assert_eq!(describe_exit(reap(&mut child)), "signal 9 (SIGKILL)");
    drop(child);
    // The helper is reaped by init, whenever it gets to it.
    while !matches!(state_of(helper), None | Some('Z')) {
        assert!(Instant::now() < deadline, "the helper lives on");
    }
}

#[test]
fn a_death_is_told_when_it_can_be_reaped() {
    let (mut child, inbox, _folder) = start("exec >&- 2>&-; sleep 0.2; exit 3");
    while !matches!(
        inbox.recv_timeout(HANG).expect("a message").message,
        ChildMessage::Died
    ) {}
    let status = child.try_reap().expect("it has died");
    assert_eq!(describe_exit(status), "exit code 3");
}

#[test]
fn events_come_in_order_between_garbage_and_end_with_the_pipe() {
    let (mut child, inbox, _folder) = start(
        r#"for i in 1 2 3 4 5 6 7 8; do echo garbage; done; echo '{"event":"ended"}'; exec >&-; sleep 1000"#,
    );
    let mut garbled = 0;
    loop {
        match inbox.recv_timeout(HANG).expect("a message").message {
            ChildMessage::Garbled(line) => {
                assert!(line.starts_with("`garbage`"), "{line}");
                garbled += 1;
            }
            ChildMessage::Event(event) => assert_eq!(*event, Event::Ended),
            ChildMessage::Closed => break,
            ChildMessage::Died => panic!("it lives on"),
        }
    }
    assert_eq!(garbled, GARBLED_LINES);
    assert_eq!(child.try_reap(), None, "it lives on without its stdout");
    child.kill();
    reap(&mut child);
}

#[test]
fn dropping_a_child_leaves_nothing_even_when_its_messages_are_not_taken() {
    let (child, inbox, _folder) = start(r#"while :; do echo '{"event":"ended"}'; done"#);
    let pid = child.pid();
    while inbox.len() < 64 {
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(child);
    assert_eq!(state_of(pid), None);
}

#[test]
fn a_child_that_reads_no_command_is_found_deaf() {
    let (child, _inbox, _folder) = start("sleep 1000");
    let deadline = Instant::now() + HANG;
    let long = || {
        Command::Attach(crate::protocol::Attachment {
            ring: "x".repeat(4000),
            generation: 1,
            member: None,
        })
    };
    while child.send(long()) {
        assert!(Instant::now() < deadline, "commands pile up without end");
    }
}
