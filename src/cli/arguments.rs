//! What the program can be started as.

use std::{path::PathBuf, time::Duration};

use clap::{Parser, Subcommand};

use super::{archive, config, schema};
use crate::{
    domain::{Status, TaskId},
    mcp::tools::Profile,
};

const AFTER_HELP: &str = "\
Without a command it serves MCP on standard input and output, for the MCP client
that started it.

Examples:
  ai-coord-mcp demo                  see it work, without any assistant
  ai-coord-mcp where                 which directory it uses from here
  ai-coord-mcp config codex --write  let Codex start it (or claude, gemini, ...)
  ai-coord-mcp doctor                what is wrong with it, if anything
  claude mcp add --scope user ai-coord -- ai-coord-mcp
                                     let Claude Code start it everywhere
  ai-coord-mcp --dir /srv/queue      serve a directory of your choice

Environment (see the README): COORDINATION_DIR, COORDINATION_AGENT,
COORDINATION_TOOLS, COORDINATION_DURABILITY, COORDINATION_MAX_WAIT_SECONDS,
COORDINATION_STALE_LOCK_SECONDS, RUST_LOG";

const AFTER_DEMO: &str = "\
It runs in a temporary directory of its own, whatever `--dir` and the
environment say, and ends with 1 if any answer is not as it has to be.

Examples:
  ai-coord-mcp demo
  ai-coord-mcp demo --keep           leave the files, to look at them";

const AFTER_DOCTOR: &str = "\
It changes nothing unless it is told to (to try what locks need it makes two
files in .locks and removes them). It ends with 1 if anything is wrong.
--fix sweeps up after crashes, makes a lost sequence.json anew and brings what
is on its way to where it belongs. A corrupt file is never touched unless its
task is named.

Examples:
  ai-coord-mcp doctor
  ai-coord-mcp doctor --fix
  ai-coord-mcp doctor --quarantine task-0007";

const AFTER_ARCHIVE: &str = "\
An archived task is in no list and nobody can change it; get_task, get_messages
and get_progress still find it, and its number stays its own. `restore` brings
it back with all that was said on it.

Examples:
  ai-coord-mcp archive                       all that is over for a week
  ai-coord-mcp archive task-0007             this one
  ai-coord-mcp archive --older-than 0        all that is over
  ai-coord-mcp archive --status cancelled    only what was cancelled";

/// One task queue, shared by the AI coding assistants on this machine
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER_HELP)]
pub(super) struct Arguments {
    /// The shared directory [default: see `where`]
    #[arg(long, global = true, value_name = "DIRECTORY")]
    pub(super) dir: Option<PathBuf>,

    /// The tools to offer: a role, or names [default: all]
    #[arg(long, global = true, value_name = "TOOLS")]
    pub(super) tools: Option<Profile>,

    #[command(subcommand)]
    pub(super) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Print the shared directory and why it is that one
    Where,
    /// Tell an MCP client about this program
    #[command(after_help = config::AFTER_HELP)]
    Config(config::Options),
    /// Put finished tasks away, out of all lists
    #[command(after_help = AFTER_ARCHIVE)]
    Archive {
        /// Only these, whatever their age [default: all that are old]
        #[arg(value_name = "TASK", conflicts_with_all = ["older_than", "status"])]
        tasks: Vec<TaskId>,
        /// Print what is in the archive, and archive nothing
        #[arg(long, conflicts_with_all = ["tasks", "older_than", "status"])]
        list: bool,
        /// Only those unchanged so long, e.g. 12h
        #[arg(long, value_name = "AGE", default_value = "7d", value_parser = archive::age)]
        older_than: Duration,
        /// Only those that ended so
        #[arg(
            long,
            value_name = "STATUS",
            value_delimiter = ',',
            default_value = "approved,cancelled",
            value_parser = archive::status
        )]
        status: Vec<Status>,
    },
    /// Bring tasks back from the archive
    Restore {
        /// Their ids, e.g. task-0007
        #[arg(value_name = "TASK", required = true)]
        tasks: Vec<TaskId>,
    },
    /// Say what is wrong with the shared directory, and mend it
    #[command(after_help = AFTER_DOCTOR)]
    Doctor {
        /// Print the report as JSON
        #[arg(long)]
        json: bool,
        /// Mend what can be mended without losing anything
        #[arg(long)]
        fix: bool,
        /// Move a task's corrupt files to quarantine/
        #[arg(long, value_name = "TASK")]
        quarantine: Vec<TaskId>,
    },
    /// Print the tools with their schemas, or a client's rules to allow them
    #[command(after_help = schema::AFTER_HELP)]
    Schema(schema::Options),
    /// Show the whole workflow with two servers and no assistant
    #[command(after_help = AFTER_DEMO)]
    Demo {
        /// Keep the directory it ran in, and print where it is
        #[arg(long)]
        keep: bool,
    },
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn help_keeps_to_eighty_columns() {
        let mut program = Arguments::command();
        program.build();
        let helps = std::iter::once(&mut program.clone())
            .chain(program.get_subcommands_mut())
            .flat_map(|command| [command.render_long_help(), command.render_help()])
            .map(|help| help.to_string())
            .collect::<Vec<_>>();
        assert!(helps.len() > 4, "the commands were not found");
        for line in helps.iter().flat_map(|help| help.lines()) {
            assert!(line.chars().count() <= 80, "{line}");
        }
    }

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_directory_may_stand_on_both_sides_of_the_command() {
        for line in ["x --dir /srv where", "x where --dir /srv"] {
            let arguments = Arguments::try_parse_from(line.split(' ')).unwrap();
            assert_eq!(arguments.dir, Some(PathBuf::from("/srv")), "{line}");
            assert!(matches!(arguments.command, Some(Command::Where)), "{line}");
        }
    }
}
