import { certificateSigning } from "../../controllers/certificates/signing.ts";
import { bootstrapSigner } from "../../controllers/bootstrap/signer.ts";
import { tokenCleaner } from "../../controllers/bootstrap/token-cleaner.ts";
import { workspaces } from "../../controllers/workspaces.ts";
import type { Controller } from "../../controllers/controller.ts";
import { tenancy } from "../../kinds/groups.ts";
import type { Kind } from "../../schema/kind.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Controllers that serve the server as a whole; its certificates and bootstrap tokens have no meaning in a workspace. */
const ofServerOnly = new Set<unknown>([certificateSigning, bootstrapSigner, tokenCleaner, workspaces]);

/** Returns the controllers of a workspace, from those of the server. */
export function controllersOfWorkspace<C extends Controller<never>>(chosen: readonly C[]): readonly C[] {
  return chosen.filter((one) => !ofServerOnly.has(one));
}

/** Whether workspaces serve a kind; there are no workspaces in workspaces. */
export function isServedInWorkspaces({ group }: Kind): boolean {
  return group !== tenancy;
}

/** Modes of authorization that a workspace has if the server has them; others decide about the server's own users. */
const ownModes: ReadonlySet<string> = new Set(["RBAC", "AlwaysAllow", "AlwaysDeny"]);

/** Name of the authorizer that allows everything to the administrators of a workspace. */
export const adminsMode = "WorkspaceAdmins";

/**
 * Returns the options of the workspaces of a server. Users are authenticated by the server, except service accounts; there are no nodes,
 * and no workspaces in workspaces.
 */
export function workspaceOptions(options: ServerOptions): ServerOptions {
  const { authentication, authorizationModes } = options;
  const modes = authorizationModes.filter((mode) => ownModes.has(mode));
  return {
    ...options,
    authorizationModes: modes.length === 0 ? ["RBAC"] : modes,
    authorizationConfigFile: undefined,
    authorizationPolicyFile: undefined,
    authorizationWebhook: undefined,
    authentication: {
      ...authentication,
      bootstrapTokens: false,
      configFile: undefined,
      oidc: undefined,
      proxy: undefined,
      tokenWebhook: undefined,
    },
    tokenAuthFile: undefined,
    // Extension servers of a workspace must not see the server's own identity, which vouches for users.
    aggregation: { ...options.aggregation, clientCertFile: undefined, clientKeyFile: undefined },
    anonymousAuth: false,
    console: false,
    leaderElection: false,
    port: false,
  };
}
