import type { OpaqueType } from "./types.ts";

const opaque = (name: string): OpaqueType => ({ is: "opaque", name });

export const ipType = opaque("net.IP");
export const cidrType = opaque("net.CIDR");
export const quantityType = opaque("Quantity");
export const semverType = opaque("Semver");
export const formatType = opaque("NamedFormat");
export const authorizerType = opaque("authorization.Authorizer");
export const pathCheckType = opaque("authorization.PathCheck");
export const groupCheckType = opaque("authorization.GroupCheck");
export const resourceCheckType = opaque("authorization.ResourceCheck");
export const decisionType = opaque("authorization.Decision");
