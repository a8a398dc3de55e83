import type { Group } from "../schema/kind.ts";

/** The API groups; only those whose name ends in the product's suffix are marked. */
export const core: Group = { base: "", suffixed: false };
export const rbac: Group = { base: "rbac.authorization", suffixed: true };
export const authorization: Group = { base: "authorization", suffixed: true };
export const authentication: Group = { base: "authentication", suffixed: true };
