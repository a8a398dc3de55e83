import type { Workspace } from "../../kinds/all.ts";
import type { ServerClient, WorkspaceClient } from "./server-client.ts";

/** The state with which a workspace begins: `spec.from` of a Workspace. */
export type WorkspaceSource = NonNullable<NonNullable<Workspace["spec"]>["from"]>;

/**
 * A workspace of a server in the process, with the rights of the server's administrator.
 *
 * @typeParam Objects the types of the objects that it serves, by `apiVersion kind`.
 */
export interface TestWorkspace<Objects> extends WorkspaceClient<Objects> {
  /** URL of the workspace for this machine; undefined if the server has no socket. */
  readonly url: string | undefined;

  /**
   * Returns a client whose requests are authorized as a user by the roles of the workspace, as {@link Server.as}.
   *
   * @throws {StatusError} Forbidden if the user may not enter the workspace.
   */
  as(user: string, groups?: readonly string[]): Promise<ServerClient<Objects>>;

  /** Deletes the workspace with its objects. */
  delete(): Promise<void>;

  /** Calls {@link delete} at the end of the block that declares the workspace with `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
