import type { UserInfo } from "../../base/user-info.ts";
import { StatusError } from "../../base/status-error.ts";
import type { HttpService } from "../../http/service.ts";
import { Workspace, type WorkspaceSource } from "../../kinds/tenancy/workspace.ts";
import { workspacePath } from "../../http/request/facts.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerWorkspaces } from "../workspaces/workspaces.ts";
import { userNamed } from "./client-guards.ts";
import { Clients } from "./clients.ts";
import type { LibraryClient } from "./library-client.ts";
import type { LocalRequests } from "./local-requests.ts";
import type { ServerClient, WorkspaceClient } from "./server-client.ts";
import type { TestWorkspace } from "./test-workspace.ts";
import { WorkspaceRequests, workspacesOff } from "./workspace-requests.ts";

/** What {@link enterWorkspace} uses. */
interface WorkspaceEntryParts {
  /** Undefined if workspaces aren't served. */
  readonly workspaces: ServerWorkspaces | undefined;
  readonly local: LocalRequests;
  readonly administrator: UserInfo;
}

/** What {@link openTestWorkspace} uses. */
export interface WorkspaceTools extends WorkspaceEntryParts {
  /** Client of the server's administrator. */
  readonly client: LibraryClient;
  readonly service: HttpService;
  readonly url: () => string | undefined;
}

/**
 * Enters a workspace; see {@link ServerClient.workspace}.
 *
 * @param caller the administrator, or a user whose requests are authorized in the workspace.
 */
export async function enterWorkspace<Objects>(
  parts: WorkspaceEntryParts,
  name: string,
  caller: UserInfo,
): Promise<WorkspaceClient<Objects>> {
  const { workspaces, local, administrator } = parts;
  if (workspaces === undefined) throw new OptionsError(workspacesOff);
  const requests = new WorkspaceRequests(local, caller, name);
  const enter = async () => {
    const { name: user, groups } = caller;
    const clients = new Clients(await workspaces.serviceFor(name, caller), caller, refuseEntry);
    const client = caller === administrator ? clients.unrestricted : clients.as(user, groups);
    return client as unknown as ServerClient<Objects>;
  };
  let client = await enter();
  return {
    name,
    get client() {
      return client;
    },
    diff: (options) => requests.diff(options),
    merge: (options) => requests.merge(options),
    async rebase(options) {
      const result = await requests.rebase(options);
      client = await enter();
      return result;
    },
  };
}

/** @throws {OptionsError} */
function refuseEntry(): Promise<never> {
  return Promise.reject(
    new OptionsError("there are no workspaces in workspaces: use a client of the server"),
  );
}

/** Opens a workspace, and creates it if there is none of the name. @throws {OptionsError} workspaces aren't served. */
export async function openTestWorkspace<Objects>(
  tools: WorkspaceTools,
  name: string,
  from: WorkspaceSource | undefined,
): Promise<TestWorkspace<Objects>> {
  const { workspaces, client, administrator, service, url } = tools;
  if (workspaces === undefined) throw new OptionsError(workspacesOff);
  const { apiVersion } = service.engine.registry.require(Workspace);
  const reference = { apiVersion, kind: "Workspace", name };
  try {
    await client.create({
      apiVersion,
      kind: "Workspace",
      metadata: { name },
      spec: from === undefined ? {} : { from },
    });
  } catch (error) {
    const isThere = error instanceof StatusError && error.reason === "AlreadyExists";
    if (!isThere || from !== undefined) throw error;
  }
  const entered = await enterWorkspace<Objects>(tools, name, administrator);
  const remove = async (): Promise<void> => {
    await client.delete(reference);
    await client.waitFor(reference, (live) => live === undefined);
  };
  return {
    name,
    get url() {
      const origin = url();
      return origin && `${origin}${workspacePath(name)}`;
    },
    get client() {
      return entered.client;
    },
    diff: entered.diff,
    merge: entered.merge,
    rebase: entered.rebase,
    async as(user, groups) {
      const info = userNamed(service.engine.vocabulary, user, groups);
      return (await enterWorkspace<Objects>(tools, name, info)).client;
    },
    delete: remove,
    [Symbol.asyncDispose]: remove,
  };
}
