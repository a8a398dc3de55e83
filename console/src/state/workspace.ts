import { signal } from "@preact/signals";
import { setCurrentWorkspace } from "../api/client.ts";
import type { ResourceType } from "../model/resource-types.ts";
import { workspaceOf, workspacePath } from "../model/workspaces.ts";

/** Name of the workspace that the page shows; empty for the server. It is in the query of the URL, and doesn't change in a page. */
export const currentWorkspace = signal("");
/** Message why the workspace can't be entered; empty if it can. */
export const entryFailure = signal("");
/** The resource types about workspaces; empty if the server serves none. */
export const workspaceTypes = signal<readonly ResourceType[]>([]);

/** Reads the workspace in the URL, and removes from the URL what can't be one. */
export function followWorkspace(): void {
  const name = workspaceOf(location.search);
  currentWorkspace.value = name;
  setCurrentWorkspace(name);
  if (name === "" && location.search !== "")
    history.replaceState(null, "", `${location.pathname}${location.hash}`);
}

/** Returns the URL of the workspace for the flag `--server` of programs; empty for the server. */
export function workspaceServer(): string {
  const { value } = currentWorkspace;
  return value === "" ? "" : `${location.origin}${workspacePath(value)}`;
}

/** Returns the type of a resource about workspaces, such as `workspacemerges`; undefined if the server doesn't serve it. */
export function workspaceType(name: string): ResourceType | undefined {
  return workspaceTypes.value.find((one) => one.name === name);
}
