/** A Workspace object. */
export interface Workspace {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly creationTimestamp?: string | null;
  };
  readonly spec?: {
    readonly from?: WorkspaceSource | null;
    readonly expirationSeconds?: number | null;
    readonly admins?: readonly { readonly kind: string; readonly name: string }[];
    readonly isolated?: boolean;
  };
  readonly status?: {
    readonly objects?: number;
    readonly bytes?: number;
    readonly lastUsedTime?: string;
    readonly phase?: string;
    readonly url?: string;
    readonly bases?: readonly WorkspaceBase[];
  };
}

/** The state with which a workspace begins. */
interface WorkspaceSource {
  readonly workspace?: string;
}

interface WorkspaceBase {
  readonly workspace?: string;
  readonly uid?: string;
  readonly resourceVersion: string;
}

/** The server itself, in a choice of workspaces. */
export const serverTitle = "Server";

/** Returns the path of the API of a workspace; empty for the server. */
export function workspacePath(name: string): string {
  return name === "" ? "" : `/clusters/${name}`;
}

/** Returns the workspace in the query of the page's URL; empty for the server, and for what can't be a name. */
export function workspaceOf(query: string): string {
  const name = new URLSearchParams(query).get("workspace") ?? "";
  return isWorkspaceName(name) ? name : "";
}

export function isWorkspaceName(name: string): boolean {
  return /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/.test(name);
}

/** Returns the URL of a place in a workspace, relative to the page. Another workspace is another page, so nothing of this one stays in it. */
export function workspaceUrl(name: string, fragment: string): string {
  return `${name === "" ? "./" : `?workspace=${name}`}${fragment}`;
}

/** Returns the name of what a workspace is a branch of: a workspace, or empty for the server; undefined if it began with default objects. */
export function sourceOf({ spec, status }: Workspace): string | undefined {
  const from = spec?.from;
  if (from === undefined || from === null) return undefined;
  return from.workspace ?? status?.bases?.[0]?.workspace ?? "";
}

/** Returns the state with which a workspace began, in words. */
export function baseText(workspace: Workspace): string {
  const source = sourceOf(workspace);
  const version = workspace.status?.bases?.[0]?.resourceVersion;
  const at = version === undefined ? "" : ` at version ${version}`;
  if (source === undefined) return "default objects only";
  return `${source === "" ? "the server" : source}${at}`;
}

/** Returns the time at which a workspace is deleted; undefined if it doesn't expire. */
export function expiryOf({ metadata: { creationTimestamp }, spec }: Workspace): string | undefined {
  const seconds = spec?.expirationSeconds;
  const createdMs = Date.parse(creationTimestamp ?? "");
  if (seconds === undefined || seconds === null || Number.isNaN(createdMs)) return undefined;
  return new Date(createdMs + seconds * 1000).toISOString();
}

/** What a new workspace begins with: the server, default objects, or a workspace by name. */
export type NewSource = { readonly workspace: string } | "server" | "defaults";

/**
 * Returns the object of a new workspace.
 *
 * @param hours after which it is deleted; empty for never.
 * @throws {Error} if the hours are no positive number.
 */
export function newWorkspace(name: string, source: NewSource, hours: string): object {
  const from = source === "defaults" ? undefined : source === "server" ? {} : source;
  const seconds = hours.trim() === "" ? undefined : Math.round(Number(hours) * 3600);
  if (seconds !== undefined && !(seconds > 0)) throw new Error(`${hours} is not a number of hours.`);
  const spec = {
    ...(from !== undefined && { from }),
    ...(seconds !== undefined && { expirationSeconds: seconds }),
  };
  return { metadata: { name }, spec };
}
