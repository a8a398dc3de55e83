import type { Workspace } from "../../kinds/tenancy/workspace.ts";
import { accessFlags } from "../client/access-flags.ts";
import { connected } from "../client/connection.ts";
import { helpText, type Command } from "../command.ts";
import type { Flag } from "../flags/flag.ts";
import { FlagReader, parseFlags, UsageError } from "../flags/flag-reader.ts";
import {
  outputFlag,
  pathOfKind,
  printsJson,
  stateOf,
  withoutKind,
  workspaceNamed,
} from "./workspace-requests.ts";

const about = `Creates a workspace that begins with the state of another one, or of the server outside of workspaces, now or at an earlier time. It is
separate from then on: plinth diff shows what differs, and plinth merge brings its changes back. Prints its URL, for --server of this and
other programs.`;

/** Every flag of `plinth branch`. */
const branchFlags: readonly Flag[] = [
  {
    name: "from",
    type: "string",
    default: "",
    doc: "Workspace to branch; the default is the server outside of workspaces.",
  },
  {
    name: "at",
    type: "string",
    default: "",
    doc: "State to begin with: a resource version, a time such as 2026-11-24T10:00:00Z, or how long ago, such as 30m; the default is now.",
  },
  {
    name: "expire",
    type: "integer",
    default: "",
    doc: "Seconds after which the workspace is deleted; the default is never.",
  },
  outputFlag,
  ...accessFlags,
];

/** Creates a branch. */
export const branchCommand: Command = {
  flags: branchFlags,
  help: () => helpText("plinth branch NAME [--from=WORKSPACE] [--at=STATE] [FLAGS]", about, branchFlags),
  async run(words) {
    const names: string[] = [];
    const read = new FlagReader(branchFlags, parseFlags(branchFlags, words, names));
    const name = workspaceNamed(names, "plinth branch");
    const asJson = printsJson(read);
    const from = read.optional("from");
    const at = read.optional("at");
    const expire = read.optional("expire");
    if (expire !== undefined && !/^\d{1,9}$/.test(expire))
      throw new UsageError(`--expire: ${JSON.stringify(expire)} is not a number of seconds`);
    const source = {
      ...(from === undefined ? {} : { workspace: withoutKind(from) }),
      ...(at === undefined ? {} : stateOf("at", at, Date.now())),
    };
    const spec = { from: source, ...(expire === undefined ? {} : { expirationSeconds: Number(expire) }) };
    const created = await connected(
      read,
      (connection) =>
        connection.client.post(pathOfKind(connection, "Workspace"), { metadata: { name }, spec }),
      false,
    );
    const { status } = created as unknown as Workspace;
    const base = status?.bases?.[0];
    process.stdout.write(
      asJson
        ? `${JSON.stringify(created)}\n`
        : `workspace ${name} begins with ${base?.workspace ?? "the server"} at resource version ${base?.resourceVersion ?? "?"}\n${status?.url ?? ""}\n`,
    );
    return 0;
  },
};
