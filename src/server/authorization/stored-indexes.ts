import { StoredNodeNeeds, type LaterNodeNeeds } from "../../authorization/node/stored-node-needs.ts";
import { needsNodeSelectors } from "../../authorization/node/selector-needs.ts";
import { StoredRbac } from "../../authorization/rbac/stored-rbac.ts";
import { applies, since } from "../../base/release-rows.ts";
import { stackOf } from "../../base/logger.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import { NamespacePhases } from "../../resources/followers/namespace-phases.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Store } from "../../storage/store.ts";
import type { ServerOptions } from "../options/server-options.ts";
import type { Opened } from "../start/opened.ts";
import { laterRoleOptions } from "./role-options.ts";

/** Creates the caches that watch the store; they aren't started yet. */
export function storedIndexes(
  options: ServerOptions,
  registry: Registry,
  store: Store,
  opened: Opened,
): {
  readonly policy: StoredRbac;
  readonly namespaces: NamespacePhases;
  readonly needs: StoredNodeNeeds | undefined;
} {
  const { vocabulary, clock, log, authorizationModes } = options;
  const failed = (what: string) => (error: unknown) =>
    log.error({ error: stackOf(error) }, `following ${what} failed`);
  const namespaceKind = registry.require(Namespace);
  return {
    policy: opened.add(new StoredRbac(store, vocabulary, clock, failed("roles")), close),
    namespaces: opened.add(new NamespacePhases(store, namespaceKind, clock, failed("namespaces")), close),
    needs: authorizationModes.includes("Node")
      ? opened.add(
          new StoredNodeNeeds(store, registry, clock, failed("what nodes need"), laterNeeds(options)),
          close,
        )
      : undefined,
  };
}

const readsOwnClaims = applies(since("1.28"));

function laterNeeds(options: ServerOptions): LaterNodeNeeds | undefined {
  const later = laterRoleOptions(options);
  if (later === undefined) return undefined;
  return { resourceClaims: readsOwnClaims(later), ownPods: needsNodeSelectors(later) };
}

function close(opened: { close(): unknown }): unknown {
  return opened.close();
}
