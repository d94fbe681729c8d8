use std::io::{self, Write};

use anyhow::Context;

use super::arguments::RingCommand;
use super::exit::Exit;
use crate::ring;

pub(super) fn ring(command: &RingCommand) -> anyhow::Result<Exit> {
    match command {
        RingCommand::List => list()?,
        RingCommand::Snapshot { name, seq, output } => {
            let (shown, _, _) = ring::save_snapshot(name, *seq, output)?;
            writeln!(
                io::stdout(),
                "frame {shown} of {name} is saved as {}",
                output.display()
            )?;
        }
        RingCommand::Clean => {
            for name in ring::sweep().context("/dev/shm cannot be read")? {
                writeln!(io::stdout(), "removed {name}")?;
            }
        }
    }
    Ok(Exit::Done)
}

fn list() -> anyhow::Result<()> {
    let mut output = io::stdout().lock();
    for segment in ring::list().context("/dev/shm cannot be read")? {
        let owner = match (segment.owner_alive, segment.owner_pid) {
            (true, Some(pid)) => format!("process {pid}"),
            (true, None) => "a live process".to_owned(),
            (false, _) => "nobody".to_owned(),
        };
        let megabytes = segment.bytes as f64 / 1e6;
        writeln!(
            output,
            "{}  {megabytes:.1} MB  owned by {owner}  {} s old",
            segment.name, segment.age_seconds
        )?;
    }
    Ok(())
}
