import type { Kind } from "../schema/kind.ts";
import type { Group } from "../schema/types.ts";

const plain = <const B extends string>(base: B) => ({ base, suffixed: false }) as const;
const suffixed = <const B extends string>(base: B) => ({ base, suffixed: true }) as const;

/** API groups. The names of suffixed groups end with the suffix of the vocabulary. */
export const core = plain("");
export const apps = plain("apps");
export const autoscaling = plain("autoscaling");
export const batch = plain("batch");
export const policy = plain("policy");
export const admissionregistration = suffixed("admissionregistration");
export const apiextensions = suffixed("apiextensions");
export const apiregistration = suffixed("apiregistration");
export const authentication = suffixed("authentication");
export const authorization = suffixed("authorization");
export const certificates = suffixed("certificates");
export const coordination = suffixed("coordination");
export const discovery = suffixed("discovery");
export const events = suffixed("events");
export const flowcontrol = suffixed("flowcontrol.apiserver");
/** Specific to this product; the reference has no such group. */
export const insight = suffixed("insight");
/** Specific to this product; the reference has no such group. */
export const history = suffixed("history");
export const internalApiserver = suffixed("internal.apiserver");
export const networking = suffixed("networking");
export const node = suffixed("node");
export const rbac = suffixed("rbac.authorization");
export const resource = suffixed("resource");
export const scheduling = suffixed("scheduling");
export const storage = suffixed("storage");
export const storagemigration = suffixed("storagemigration");
/** Specific to this product; the reference has no such group. */
export const tenancy = suffixed("tenancy");
/** Specific to this product; the reference has no such group. */
export const transactions = suffixed("transactions");

/** Whether a kind has a name in a group, in any version; doesn't need the module that declares it. */
export function isKindOf({ group, name }: Kind, expected: Group, ...names: readonly string[]): boolean {
  return group.base === expected.base && group.suffixed === expected.suffixed && names.includes(name);
}
