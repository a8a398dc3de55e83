import { parseDurationInDays } from "../../base/time/duration.ts";
import { parseTime } from "../../base/time/timestamps.ts";
import type { WorkspaceMergeStatus } from "../../kinds/tenancy/workspace-merge.ts";
import { ClientError } from "../client/client-error.ts";
import type { Connection } from "../client/connection.ts";
import type { Flag } from "../flags/flag.ts";
import { UsageError, type FlagReader } from "../flags/flag-reader.ts";

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
export function strategyOf(read: FlagReader): string | undefined {
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
  if (parseTime(text) !== undefined) return { time: text };
  const ago = parseDurationInDays(text);
  if (ago !== undefined && ago >= 0n) return { time: new Date(now - Number(ago / 1_000_000n)).toISOString() };
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
  const resource = table.resources.find((one) => one.kind === kind && one.group.startsWith("tenancy."));
  if (resource === undefined)
    throw new ClientError(
      "the server serves no workspaces; start it with --runtime-config=api/alpha=true; nothing was written",
    );
  return `/apis/${resource.groupVersion}/${resource.name}`;
}

/**
 * Posts a merge or rebase. If there are conflicts, it returns those of a dry run, which has them with their values.
 *
 * @param path with a query.
 * @throws {ClientError}
 */
export async function postMerge(
  { client }: Connection,
  path: string,
  spec: object,
  isDryRun: boolean,
): Promise<WorkspaceMergeStatus> {
  const post = async (query: string) =>
    (await client.post(`${path}${query}`, { spec }))["status"] as WorkspaceMergeStatus;
  if (isDryRun) return post("&dryRun=All");
  try {
    return await post("");
  } catch (error) {
    if (!(error instanceof ClientError) || error.status !== 409) throw error;
    // Without conflicts the error has another reason.
    const status = await post("&dryRun=All");
    if ((status.conflicts ?? []).length === 0) throw error;
    return { ...status, message: `${status.message?.replace(/^dry run: /, "") ?? ""}; nothing was written` };
  }
}
