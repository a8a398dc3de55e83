import type { Attributes } from "../authorizer.ts";
import type { MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";

/** Reference to a binding in a response. */
export interface BindingReference {
  readonly kind: "ClusterRoleBinding" | "RoleBinding";
  /** Absent for a ClusterRoleBinding. */
  readonly namespace?: string;
  readonly name: string;
}

/** Reference to a role in a response. */
export interface RoleReference {
  readonly kind: string;
  /** Absent for a ClusterRole. */
  readonly namespace?: string;
  readonly name: string;
}

/** A user, group or service account. */
export interface ShownSubject {
  readonly kind: string;
  /** Set for a service account only. */
  readonly namespace?: string;
  readonly name: string;
}

/** A role's rule without its empty lists. */
export interface ShownRule {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  /** Number of omitted entries of long lists. */
  readonly entriesLeftOut?: number;
}

/** A rule that applies to a subject, with its role and the binding. */
export interface Grant {
  readonly binding: BindingReference;
  readonly role: RoleReference;
  readonly subject: ShownSubject;
  readonly rule: ShownRule;
  /** Index of the rule in the rules of the role. */
  readonly ruleIndex: number;
  /** If the role has an aggregation rule: names of the cluster roles from which it has the rule. */
  readonly aggregatedFrom?: readonly string[];
}

/** The attributes of a request in which a grant may differ. */
export type Part = "verb" | "apiGroup" | "resource" | "resourceName" | "nonResourceURL" | "namespace";

/** An attribute that the grant doesn't allow. */
export interface MissingPart {
  readonly part: Part;
  /** Value of the request. */
  readonly wanted: string;
  /** Values of the grant; the first entries of a long list. */
  readonly given: readonly string[];
  /** Message for users with both values. */
  readonly message: string;
}

/** A grant that differs from the request in few attributes. */
export interface NearMiss extends Grant {
  readonly missing: readonly MissingPart[];
}

/** A binding of the subject that has no effect, or only for some of its subjects. */
export interface BindingFault {
  readonly binding: BindingReference;
  /** Absent if the kind of the roleRef is unknown. */
  readonly role?: RoleReference;
  readonly fault: "RoleNotFound" | "Invalid";
  readonly message: string;
}

/** Explanation of a decision. Lists have a maximum length; a count or flag shows that entries are omitted. */
export interface Explanation {
  /** Empty unless the request is allowed. */
  readonly grants: readonly Grant[];
  /** Whether grants are omitted. */
  readonly moreGrants: boolean;
  /** Closest first. Empty if the request is allowed. */
  readonly nearMisses: readonly NearMiss[];
  /** Number of omitted near misses. */
  readonly nearMissesLeftOut: number;
  /** Bindings of the subject that have no effect. */
  readonly faults: readonly BindingFault[];
  /** Number of omitted faults. */
  readonly faultsLeftOut: number;
  /** Number of other namespaces with bindings of the subject that were not searched for near misses. */
  readonly namespacesLeftOut: number;
}

/** One page of the subjects that are allowed an action. */
export interface AllowedSubjects {
  /** Sorted by kind, namespace and name. */
  readonly subjects: readonly AllowedSubject[];
  /** Whether another page follows. */
  readonly more: boolean;
}

/** A subject that is allowed the action. */
export interface AllowedSubject extends ShownSubject {
  /** The first bindings and rules that allow the action. */
  readonly grants: readonly Omit<Grant, "subject">[];
  /** Whether grants are omitted. */
  readonly moreGrants?: boolean;
}

/** The object names for which an action is allowed, if it isn't allowed for all objects. */
export interface AllowedNames {
  /** Sorted; at most 20. */
  readonly names: readonly string[];
  /** Whether names are omitted. */
  readonly more: boolean;
}

/** Returns the object names for which rules with `resourceNames` allow an action of the user. */
export type NamesOf = (attributes: Attributes) => Promise<AllowedNames>;

/** The requested page of subjects. */
export interface Page {
  /** Maximum number of subjects. */
  readonly limit: number;
  /** The last subject of the previous page; undefined for the first page. */
  readonly after: ShownSubject | undefined;
}

/** The attributes of a request without the user. */
export type Action =
  | Omit<Extract<Attributes, { kind: "resource" }>, "user">
  | Omit<Extract<Attributes, { kind: "nonResource" }>, "user">;

/**
 * Explains the decisions of an authorizer. Results reflect every write acknowledged before the call, and may reflect later
 * ones. Long operations yield to the event loop.
 */
export interface AccessInsight {
  /** Explains the decision for a request. */
  explain(attributes: Attributes): MaybePromise<Explanation>;
  /** Lists the subjects that are allowed an action. */
  whoCan(action: Action, page: Page): MaybePromise<AllowedSubjects>;
  /** Collects the rules with names of a user in a namespace (empty: cluster scope). The returned function can be called for many actions. */
  namesFor(user: UserInfo, namespace: string): MaybePromise<NamesOf>;
}
