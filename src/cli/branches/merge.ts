import { accessFlags } from "../client/access-flags.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags } from "../flags/flag-reader.ts";
import { outputFlag, runMerge, strategyFlag, withoutKind, workspaceNamed } from "./workspace-requests.ts";

const about = `Merges what a workspace has changed into its base, in one transaction with your rights there. Fields that only one side has changed since
the workspace began get its value. If both have changed a field, nothing is written and the conflicts are printed, unless --strategy says
whose value is taken.

The exit code is 0 if the changes were merged or nothing is left to merge, 3 if there are conflicts, 1 for any other error of the server,
and 2 for wrong flags.`;

/** Every flag of `plinth merge`. */
const mergeFlags: readonly Flag[] = [
  {
    name: "into",
    type: "string",
    default: "",
    doc: "Workspace to merge into; the default is the base of the workspace.",
  },
  strategyFlag(
    "Values of conflicts: ours keeps those of the target, theirs takes those of the merged workspace.",
  ),
  { name: "field-manager", type: "string", default: "plinth", doc: "Field manager of the merge." },
  { name: "dry-run", type: "boolean", default: "", doc: "Print what would be merged, and write nothing." },
  outputFlag,
  ...accessFlags,
];

/** Merges a workspace. */
export const mergeCommand: Command = {
  flags: mergeFlags,
  help: () => helpText("plinth merge WORKSPACE [--into=WORKSPACE] [FLAGS]", about, mergeFlags),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(mergeFlags, parseFlags(mergeFlags, words, names));
    const workspace = workspaceNamed(names, "plinth merge");
    const into = read.optional("into");
    const target = into === undefined ? {} : { into: withoutKind(into) };
    const sides = { theirs: workspace, ours: target.into ?? "the base" };
    const fieldManager = read.text("field-manager");
    return runMerge(read, "WorkspaceMerge", { workspace, ...target }, { fieldManager, sides });
  },
};
