import type { Command, CommandEntry } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { UsageError } from "../flags/flag-reader.ts";

const shells = ["bash", "zsh", "fish"] as const;
type Shell = (typeof shells)[number];

const about = `Prints a script that completes commands and flags in a shell.

Usage: plinth completion ${shells.join("|")}

  bash   source <(plinth completion bash)
  zsh    source <(plinth completion zsh)
  fish   plinth completion fish | source
`;

/** The command that prints a completion script for these commands and their flags. */
export function completionCommand(commands: readonly CommandEntry[]): Command {
  return {
    flags: [],
    help: () => about,
    async run(words) {
      const shell = shells.find((one) => one === words[0]);
      if (shell === undefined || words.length > 1)
        throw new UsageError(`plinth completion needs one of ${shells.join(", ")}`);
      process.stdout.write(completionScript(shell, await completions(commands)));
      return 0;
    },
  };
}

/** The completions of a command. */
interface Completion {
  readonly name: string;
  readonly summary: string;
  readonly flags: readonly Flag[];
}

async function completions(commands: readonly CommandEntry[]): Promise<Completion[]> {
  return Promise.all(
    commands.map(async ({ name, summary, load }) => ({ name, summary, flags: (await load()).flags })),
  );
}

function completionScript(shell: Shell, all: readonly Completion[]): string {
  if (shell === "fish") return fishScript(all);
  return shell === "bash"
    ? bashScript(all)
    : `autoload -U +X bashcompinit && bashcompinit\n${bashScript(all)}`;
}

/** Returns a flag with `--`, and with `=` if a value follows. */
const typed = ({ name, type }: Flag) => `--${name}${type === "boolean" ? "" : "="}`;

function bashScript(all: readonly Completion[]): string {
  const cases = all.map(({ name, flags }) => {
    const files = flags.filter(({ type }) => type === "file").map(({ name: flag }) => `--${flag}`);
    return `    ${name}) flags="${flags.map(typed).join(" ")}"; files=" ${files.join(" ")} " ;;`;
  });
  return `_plinth() {
  local word="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" flags="" files=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${all.map(({ name }) => name).join(" ")} help" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
  esac
  if [ "$word" = "=" ]; then word=""; fi
  if [ "$previous" = "=" ]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  if [[ "$files" == *" $previous "* ]]; then
    COMPREPLY=($(compgen -f -- "$word"))
  elif [[ "$word" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$word"))
    if [[ "\${COMPREPLY[0]}" == *= ]]; then compopt -o nospace 2>/dev/null; fi
  fi
}
complete -o default -F _plinth plinth
`;
}

function fishScript(all: readonly Completion[]): string {
  const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, "\\$&")}'`;
  const lines = ["complete -c plinth -f"];
  for (const { name, summary, flags } of all) {
    lines.push(`complete -c plinth -n __fish_use_subcommand -a ${name} -d ${quoted(summary)}`);
    for (const { name: flag, short, type, doc } of flags) {
      const letter = short === undefined ? "" : ` -s ${short}`;
      const value = type === "boolean" ? "" : type === "file" ? " -r -F" : " -x";
      const condition = `-n '__fish_seen_subcommand_from ${name}'`;
      lines.push(`complete -c plinth ${condition} -l ${flag}${letter}${value} -d ${quoted(doc)}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
