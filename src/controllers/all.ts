import { clusterRoleAggregation } from "./cluster-role-aggregation.ts";
import type { Controller } from "./controller.ts";
import { eventExpiry } from "./event-expiry.ts";
import { garbageCollection } from "./garbage-collection/garbage-collection.ts";
import { namespaceDeletion } from "./namespace-deletion.ts";

/** Every controller that a server runs. */
export const builtInControllers: readonly Controller[] = [
  namespaceDeletion,
  clusterRoleAggregation,
  garbageCollection,
  eventExpiry,
];
