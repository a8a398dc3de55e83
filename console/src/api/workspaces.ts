import { pathOf, type ResourceType } from "../model/resource-types.ts";
import type { Difference, MergeStatus, Side } from "../model/workspace-changes.ts";
import { newWorkspace, type NewSource, type Workspace } from "../model/workspaces.ts";
import { fieldManager } from "./apply.ts";
import { getJson, send } from "./client.ts";

/** Workspaces beyond this number aren't listed. */
const maxListed = 500;

/** The workspaces that the user may list. */
export interface WorkspaceList {
  readonly items: readonly Workspace[];
  /** Whether there are more. */
  readonly isCut: boolean;
}

/** Lists the workspaces of the server. @throws as `send` */
export async function listWorkspaces(type: ResourceType, signal?: AbortSignal): Promise<WorkspaceList> {
  const { items, metadata } = await getJson<{
    readonly items: readonly Workspace[];
    readonly metadata: { readonly continue?: string };
  }>(`${pathOf(type, "")}?limit=${maxListed}`, { signal, workspace: "" });
  return { items, isCut: (metadata.continue ?? "") !== "" };
}

/** Reads a workspace. @throws as `send` */
export function readWorkspace(type: ResourceType, name: string, signal: AbortSignal): Promise<Workspace> {
  return getJson<Workspace>(pathOf(type, "", name), { signal, workspace: "" });
}

/** Creates a workspace. @param hours see {@link newWorkspace}. @throws as `send` and `newWorkspace` */
export async function createWorkspace(
  type: ResourceType,
  name: string,
  source: NewSource,
  hours: string,
): Promise<void> {
  const body = newWorkspace(name, source, hours);
  await send(`${pathOf(type, "")}?fieldManager=${fieldManager}`, { method: "POST", body, workspace: "" });
}

/** Deletes a workspace. @param uid of the one that the user has seen. @throws as `send` */
export async function deleteWorkspace(
  type: ResourceType,
  { metadata: { name, uid } }: Workspace,
): Promise<void> {
  const body = { kind: "DeleteOptions", apiVersion: "v1", ...(uid && { preconditions: { uid } }) };
  await send(pathOf(type, "", name), { method: "DELETE", body, workspace: "" });
}

/** What is compared with a workspace: its base now, its base when it began, or another workspace. */
export interface DiffRequest {
  readonly workspace: string;
  readonly to?: string;
  readonly sinceStart?: boolean;
}

/** Compares a workspace. @throws as `send` */
export function compareWorkspace(
  type: ResourceType,
  request: DiffRequest,
  signal: AbortSignal,
): Promise<Difference> {
  return post<Difference>(type, request, "", signal);
}

/** What is merged or rebased, and the values of conflicts. */
export interface MergeRequest {
  readonly workspace: string;
  readonly into?: string;
  readonly strategy?: Side;
}

/** Computes a merge or rebase, with its conflicts. @param type of merges or rebases. @throws as `send` */
export function planMerge(
  type: ResourceType,
  request: MergeRequest,
  signal: AbortSignal,
): Promise<MergeStatus> {
  return post<MergeStatus>(type, request, "&dryRun=All", signal);
}

/** Merges or rebases. @param type of merges or rebases. @throws as `send`, also for conflicts. */
export function runMerge(type: ResourceType, request: MergeRequest): Promise<MergeStatus> {
  return post<MergeStatus>(type, request, "");
}

async function post<Status>(
  type: ResourceType,
  spec: object,
  query: string,
  signal?: AbortSignal,
): Promise<Status> {
  const path = `${pathOf(type, "")}?fieldManager=${fieldManager}${query}`;
  const body = { metadata: {}, spec };
  return (await getJson<{ readonly status: Status }>(path, { method: "POST", body, signal, workspace: "" }))
    .status;
}
