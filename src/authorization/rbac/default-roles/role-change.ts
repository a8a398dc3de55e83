import type { Rule, Subject } from "../policy.ts";

/** A change of a default role after the reference release. */
export interface RoleChange {
  /** Name of the ClusterRole, or of the Role in the system namespace. */
  readonly role: string;
  /** Rules that are added; the role is created if it doesn't exist. */
  readonly added?: readonly Rule[];
  /** Rules for resources that are removed. */
  readonly removed?: readonly Rule[];
  /** Subjects that are bound to the role. */
  readonly subjects?: readonly Subject[];
}
