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

/**
 * A workspace of a server in the process.
 *
 * @typeParam Objects the types of the objects that it serves, by `apiVersion kind`.
 */
export class TestWorkspace<Objects> {
  /** @internal Created by the server. */
  constructor(
    /** Name of the workspace. */
    readonly name: string,
    private readonly parts: {
      readonly clients: Clients;
      readonly url: string | undefined;
      readonly enter: (user: UserInfo) => Promise<HttpService>;
      readonly user: (name: string, groups?: readonly string[]) => UserInfo;
      readonly remove: () => Promise<void>;
    },
  ) {}

  /** URL of the workspace for this machine; undefined if the server has no socket. */
  get url(): string | undefined {
    return this.parts.url;
  }

  /** Client with the rights of the server's administrator. */
  get client(): ServerClient<Objects> {
    return this.parts.clients.unrestricted as unknown as ServerClient<Objects>;
  }

  /**
   * Returns a client whose requests are authorized as a user by the roles of the workspace, as {@link Server.as}.
   *
   * @throws {StatusError} Forbidden if the user may not enter the workspace.
   */
  async as(user: string, groups?: readonly string[]): Promise<ServerClient<Objects>> {
    const info = this.parts.user(user, groups);
    const service = await this.parts.enter(info);
    return new Clients(service, info).as(user, groups) as unknown as ServerClient<Objects>;
  }

  /** Deletes the workspace with its objects. */
  delete(): Promise<void> {
    return this.parts.remove();
  }

  /** Calls {@link delete} at the end of the block that declares the workspace with `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.delete();
  }
}

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

/** Opens a workspace, and creates it if there is none of the name. @throws {OptionsError} workspaces aren't served. */
export async function openTestWorkspace<Objects>(
  { workspaces, client, administrator, service, url }: WorkspaceTools,
  name: string,
  from: WorkspaceSource | undefined,
): Promise<TestWorkspace<Objects>> {
  if (workspaces === undefined)
    throw new OptionsError(
      'workspaces are not served: create the server with runtimeConfig: "api/alpha=true"',
    );
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
  const origin = url();
  return new TestWorkspace(name, {
    clients: new Clients(await enter(administrator), administrator),
    url: origin === undefined ? undefined : `${origin}${workspacePath(name)}`,
    enter,
    user: (user, groups) => userNamed(service.engine.vocabulary, user, groups),
    async remove() {
      await client.delete(reference);
      await client.waitFor(reference, (live) => live === undefined);
    },
  });
}
