import type { Workspace } from "../../kinds/all.ts";
import type { ServerClient } from "./server-client.ts";

/** The state with which a workspace begins: `spec.from` of a Workspace. */
export type WorkspaceSource = NonNullable<NonNullable<Workspace["spec"]>["from"]>;

/**
 * A workspace of a server in the process.
 *
 * @typeParam Objects the types of the objects that it serves, by `apiVersion kind`.
 */
export interface TestWorkspace<Objects> {
  /** Name of the workspace. */
  readonly name: string;

  /** URL of the workspace for this machine; undefined if the server has no socket. */
  readonly url: string | undefined;

  /** Client with the rights of the server's administrator. */
  readonly client: ServerClient<Objects>;

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
