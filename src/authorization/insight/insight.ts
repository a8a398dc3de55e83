import type { Attributes } from "../authorizer.ts";
import type { MaybePromise } from "../../base/maybe-promise.ts";
import type { UserInfo } from "../../base/user-info.ts";

/** A binding, as answers name it. */
export interface BindingReference {
  readonly kind: "ClusterRoleBinding" | "RoleBinding";
  /** Absent for a ClusterRoleBinding. */
  readonly namespace?: string;
  readonly name: string;
}

/** A role, as answers name it. */
export interface RoleReference {
  readonly kind: string;
  /** Absent for a ClusterRole. */
  readonly namespace?: string;
  readonly name: string;
}

/** A user, group or service account. */
export interface ShownSubject {
  readonly kind: string;
  /** Of a service account. */
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
  /** How many entries of long lists aren't shown. */
  readonly entriesLeftOut?: number;
}

/** What one rule of a role gives one subject by one binding. */
export interface Grant {
  readonly binding: BindingReference;
  readonly role: RoleReference;
  readonly subject: ShownSubject;
  readonly rule: ShownRule;
  /** The rule's place among the role's rules, from 0. */
  readonly ruleIndex: number;
  /** The cluster roles in which the rule is written, where the role has an aggregation rule. */
  readonly aggregatedFrom?: readonly string[];
}

/** The parts of a question that a grant may lack. */
export type Part = "verb" | "apiGroup" | "resource" | "resourceName" | "nonResourceURL" | "namespace";

/** What one grant lacks to allow what was asked. */
export interface MissingPart {
  readonly part: Part;
  /** What was asked for. */
  readonly wanted: string;
  /** What is given instead; of long lists the first entries. */
  readonly given: readonly string[];
  /** Both, for people. */
  readonly message: string;
}

/** A grant that comes close. */
export interface NearMiss extends Grant {
  readonly missing: readonly MissingPart[];
}

/** A binding that names the asked subject and can't count, or not all of it. */
export interface BindingFault {
  readonly binding: BindingReference;
  /** Absent where the reference is of an unknown kind. */
  readonly role?: RoleReference;
  readonly fault: "RoleNotFound" | "Invalid";
  readonly message: string;
}

/** How an authorizer comes to its opinion. Lists are bounded; what is left out is counted or said. */
export interface Explanation {
  /** Empty unless what was asked is allowed. */
  readonly grants: readonly Grant[];
  readonly moreGrants: boolean;
  /** Empty where what was asked is allowed. The closest come first. */
  readonly nearMisses: readonly NearMiss[];
  readonly nearMissesLeftOut: number;
  readonly faults: readonly BindingFault[];
  readonly faultsLeftOut: number;
  /** Namespaces that aren't asked about, in which there are bindings of the subject that weren't looked at. */
  readonly namespacesLeftOut: number;
}

/** Who may do something, one page of them. */
export interface AllowedSubjects {
  /** By kind, namespace and name. */
  readonly subjects: readonly AllowedSubject[];
  /** Whether there are more after the last one. */
  readonly more: boolean;
}

/** A subject that may do what was asked. */
export interface AllowedSubject extends ShownSubject {
  /** By which bindings and rules: the first of them. */
  readonly grants: readonly Omit<Grant, "subject">[];
  /** Whether there are more. */
  readonly moreGrants?: boolean;
}

/** The names of objects for which an action is allowed that isn't allowed for all. */
export interface AllowedNames {
  /** The first of them, sorted. */
  readonly names: readonly string[];
  /** Whether there are more. */
  readonly more: boolean;
}

/** Gives the names for which an action of the user is allowed, by rules that are limited to names. */
export type NamesOf = (attributes: Attributes) => Promise<AllowedNames>;

/** Which page of subjects is wanted. */
export interface Page {
  /** So many subjects at most. */
  readonly limit: number;
  /** The last subject of the page before. */
  readonly after: ShownSubject | undefined;
}

/** An action, whoever does it. */
export type Action =
  | Omit<Extract<Attributes, { kind: "resource" }>, "user">
  | Omit<Extract<Attributes, { kind: "nonResource" }>, "user">;

/**
 * Says more of an authorizer's decisions than whether. Answers take in every write that was acknowledged before the
 * question; those that come meanwhile may be in them or not. Long work lets others have their turn.
 */
export interface AccessInsight {
  /** Why a question is decided as it is. */
  explain(attributes: Attributes): MaybePromise<Explanation>;
  /** Whom the authorizer allows an action. */
  whoCan(action: Action, page: Page): MaybePromise<AllowedSubjects>;
  /** By which names a user is allowed something in a namespace, for many questions about them. */
  namesFor(user: UserInfo, namespace: string): MaybePromise<NamesOf>;
}
