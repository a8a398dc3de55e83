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
import type { ServerClient } from "./server-client.ts";
import type { TestWorkspace } from "./test-workspace.ts";

/** What {@link openTestWorkspace} uses. */
export interface WorkspaceTools {
  /** Undefined if workspaces aren't served. */
  readonly workspaces: ServerWorkspaces | undefined;
  /** Client of the server's administrator. */
  readonly client: LibraryClient;
  readonly administrator: UserInfo;
  readonly service: HttpService;
  readonly url: () => string | undefined;
}

/** Message of an error about a server that doesn't serve workspaces. */
export const workspacesOff =
  'workspaces are not served: create the server with runtimeConfig: "api/alpha=true"';

/** Opens a workspace, and creates it if there is none of the name. @throws {OptionsError} workspaces aren't served. */
export async function openTestWorkspace<Objects>(
  { workspaces, client, administrator, service, url }: WorkspaceTools,
  name: string,
  from: WorkspaceSource | undefined,
): Promise<TestWorkspace<Objects>> {
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
  const enter = (user: UserInfo) => workspaces.serviceFor(name, user);
  const clients = new Clients(await enter(administrator), administrator);
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
    client: clients.unrestricted as unknown as ServerClient<Objects>,
    async as(user, groups) {
      const info = userNamed(service.engine.vocabulary, user, groups);
      return new Clients(await enter(info), info).as(user, groups) as unknown as ServerClient<Objects>;
    },
    delete: remove,
    [Symbol.asyncDispose]: remove,
  };
}
