import type { AuthorizerChain } from "../../authorization/authorizer-chain.ts";
import type { BuiltInDependencies } from "../../controllers/all.ts";
import type { Controller } from "../../controllers/controller.ts";
import { Workspace } from "../../kinds/tenancy/workspace.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import { workspacesPageMemory } from "../engine/engine.ts";
import { registryFor } from "../apis/registry.ts";
import type { GuardedExtensions } from "../admission/guarded-extensions.ts";
import type { ServiceAccountKeys } from "../authentication/service-account-tokens.ts";
import type { Serving } from "../certificates/serving.ts";
import type { ServedContent } from "../listening/http-service.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { controllersOfWorkspace, isServedInWorkspaces, workspaceOptions } from "./workspace-options.ts";
import { ServerWorkspaces } from "./workspaces.ts";

/** The parts of a server that its workspaces need. */
interface Pieces {
  readonly registry: Registry;
  readonly store: Store;
  readonly extensions: GuardedExtensions;
  readonly chosen: readonly Controller<BuiltInDependencies>[];
  readonly serving: Serving | undefined;
  readonly authorizer: AuthorizerChain;
  readonly serviceAccounts: ServiceAccountKeys;
  /** Returns the service of the server; called from the first request on. */
  readonly service: () => ServedContent;
  /** Returns the URL of the server; undefined without a socket. */
  readonly url: () => string | undefined;
}

/** Creates the workspaces of a server; undefined if it doesn't serve them. */
export async function workspacesOf(
  options: ServerOptions,
  pieces: Pieces,
): Promise<ServerWorkspaces | undefined> {
  const { registry, store, extensions, chosen, serving, authorizer, serviceAccounts, service, url } = pieces;
  const pins = store.pins;
  if (!registry.serves(Workspace) || pins === undefined) return undefined;
  const shared = {
    options: workspaceOptions(options),
    registry: await registryFor(options, extensions.kinds, isServedInWorkspaces),
    pages: workspacesPageMemory(options),
    extensions,
    chosen: controllersOfWorkspace(chosen),
    serving,
    served: service,
  };
  const resource = registry.require(Workspace);
  return new ServerWorkspaces({ shared, root: store, pins, resource, authorizer, serviceAccounts, url });
}
