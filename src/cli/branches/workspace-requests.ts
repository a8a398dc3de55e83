import type { WorkspaceMergeStatus } from "../../kinds/tenancy/workspace-merge.ts";
import { connected, type Connection } from "../client/connection.ts";
import { conflictCode, pathOfPosted, postOrConflicts } from "../client/post-or-conflicts.ts";
import type { Flag } from "../flags/flag.ts";
import { UsageError, type FlagReader } from "../flags/flag-reader.ts";
import { timeNamed } from "../flags/time-text.ts";
import { hasConflicts, mergeText, type SideNames } from "../../resources/branches/branch-text.ts";

/** The flag `--output` of commands about workspaces. */
export const outputFlag: Flag = {
  name: "output",
  short: "o",
  type: "string",
  default: "text",
  doc: "Form of the output: text or json.",
};

/** Returns whether a command prints JSON. @throws {UsageError} another form. */
export function printsJson(read: FlagReader): boolean {
  const form = read.text("output");
  if (form === "text" || form === "json") return form === "json";
  throw new UsageError(`--output: ${JSON.stringify(form)} is not allowed; it is text or json`);
}

/** The flag `--strategy` of commands that merge. */
export function strategyFlag(doc: string): Flag {
  return { name: "strategy", type: "string", default: "", doc };
}

/** @throws {UsageError} another strategy than ours and theirs. */
function strategyOf(read: FlagReader): string | undefined {
  const strategy = read.optional("strategy");
  if (strategy === undefined || strategy === "ours" || strategy === "theirs") return strategy;
  throw new UsageError(`--strategy: ${JSON.stringify(strategy)} is not allowed; it is ours or theirs`);
}

/**
 * Returns the one workspace that a command names, with or without `workspace/` before it.
 *
 * @throws {UsageError} none or several.
 */
export function workspaceNamed(words: readonly string[], command: string): string {
  const [word, ...more] = words;
  if (word === undefined || more.length > 0)
    throw new UsageError(`${command} needs the name of one workspace, such as: ${command} trial`);
  return withoutKind(word);
}

/** Returns the name of a workspace that may have `workspace/` before it. */
export function withoutKind(word: string): string {
  return word.replace(/^workspaces?\//, "");
}

/**
 * Returns the member of a source that a state names: a resource version, a time, or how long ago.
 *
 * @throws {UsageError} another form.
 */
export function stateOf(flag: string, text: string, now: number): object {
  if (/^[1-9]\d*$/.test(text)) return { resourceVersion: text };
  const time = timeNamed(text, now);
  if (time !== undefined) return { time };
  throw new UsageError(
    `--${flag}: ${JSON.stringify(text)} is neither a resource version, nor a time such as 2026-11-24T10:00:00Z, nor a duration such as 30m`,
  );
}

/**
 * Returns the path of a kind of workspaces.
 *
 * @throws {ClientError} the server doesn't serve it.
 */
export function pathOfKind({ table }: Connection, kind: string): string {
  return pathOfPosted(table, kind, "tenancy", "workspaces");
}

/**
 * Posts a merge or rebase as the flags say, and prints its result.
 *
 * @param kind WorkspaceMerge or WorkspaceRebase.
 * @param spec without the strategy.
 * @returns the exit code.
 */
export async function runMerge(
  read: FlagReader,
  kind: string,
  spec: object,
  { fieldManager, sides }: { readonly fieldManager: string; readonly sides: SideNames },
): Promise<number> {
  const asJson = printsJson(read);
  const strategy = strategyOf(read);
  const whole = { ...spec, ...(strategy === undefined ? {} : { strategy }) };
  const isDryRun = read.boolean("dry-run") === true;
  const query = `?fieldManager=${encodeURIComponent(fieldManager)}`;
  const post = (connection: Connection) =>
    postOrConflicts<WorkspaceMergeStatus>(
      connection.client,
      `${pathOfKind(connection, kind)}${query}`,
      whole,
      isDryRun,
    );
  const status = await connected(read, post, false);
  process.stdout.write(asJson ? `${JSON.stringify(status)}\n` : mergeText(status, sides));
  return hasConflicts(status) ? conflictCode : 0;
}
