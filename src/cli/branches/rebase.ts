import { accessFlags } from "../client/access-flags.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import { outputFlag, runMerge, strategyFlag, workspaceNamed } from "./workspace-requests.ts";

const about = `Moves a workspace to a newer state of its base; what the workspace has changed stays. If both have changed a field, nothing is written and
the conflicts are printed, unless --strategy says whose value is taken. Watches of the workspace end, and clients list again.

The exit code is 0 if the workspace was moved, 3 if there are conflicts, 1 for any other error of the server, and 2 for wrong flags.`;

/** Every flag of `plinth rebase`. */
const rebaseFlags: readonly Flag[] = [
  {
    name: "to",
    type: "string",
    default: "",
    doc: "Resource version of the base with which the workspace begins afterwards; the default is the newest one.",
  },
  strategyFlag("Values of conflicts: ours keeps those of the workspace, theirs takes those of its base."),
  { name: "dry-run", type: "boolean", default: "", doc: "Print what would change, and write nothing." },
  outputFlag,
  ...accessFlags,
];

/** Rebases a workspace. */
export const rebaseCommand: Command = {
  flags: rebaseFlags,
  help: () => helpText("plinth rebase WORKSPACE [--to=VERSION] [FLAGS]", about, rebaseFlags),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(rebaseFlags, parseFlags(rebaseFlags, words, names));
    const workspace = workspaceNamed(names, "plinth rebase");
    const to = read.optional("to");
    if (to !== undefined && !/^[1-9]\d*$/.test(to))
      throw new UsageError(`--to: ${JSON.stringify(to)} is not a resource version`);
    const spec = { workspace, ...(to === undefined ? {} : { resourceVersion: to }) };
    const sides = { theirs: "the base", ours: workspace };
    return runMerge(read, "WorkspaceRebase", spec, { fieldManager: "plinth", sides });
  },
};
