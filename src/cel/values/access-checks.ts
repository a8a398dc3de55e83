import {
  authorizerType,
  decisionType,
  groupCheckType,
  pathCheckType,
  resourceCheckType,
} from "../types/opaque-types.ts";
import type { OpaqueType } from "../types/types.ts";
import { OpaqueValue } from "./values.ts";

/** The service account of a check. */
export interface CheckedAccount {
  readonly namespace: string;
  readonly name: string;
}

/** The subject of a check; undefined for the user of the request. */
type CheckedSubject = CheckedAccount | undefined;

/** The resource of a check. */
export interface CheckedResource {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
}

/** A question to the authorizer: may the subject do `verb` with the resource or the path? */
export interface AccessCheck {
  readonly account: CheckedSubject;
  readonly verb: string;
  readonly object: CheckedResource | { readonly path: string };
}

export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason: string;
  /** Empty if there was none. */
  readonly error: string;
}

/**
 * Decides a check.
 *
 * @throws {Suspension} the decision isn't available yet.
 */
export type DecideAccess = (check: AccessCheck) => AccessDecision;

/** A value that is equal to itself only. */
abstract class Check extends OpaqueValue {
  equals(other: OpaqueValue): boolean {
    return other === this;
  }
}

/** The variable `authorizer`. */
export class AuthorizerValue extends Check {
  readonly type: OpaqueType = authorizerType;

  constructor(
    readonly decide: DecideAccess,
    readonly account?: CheckedSubject,
  ) {
    super();
  }
}

export class PathCheck extends Check {
  readonly type: OpaqueType = pathCheckType;

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly object: { readonly path: string },
  ) {
    super();
  }
}

export class GroupCheck extends Check {
  readonly type: OpaqueType = groupCheckType;

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly group: string,
  ) {
    super();
  }
}

export class ResourceCheck extends Check {
  readonly type: OpaqueType = resourceCheckType;

  constructor(
    readonly authorizer: AuthorizerValue,
    readonly object: CheckedResource,
  ) {
    super();
  }
}

export class DecisionValue extends Check {
  readonly type: OpaqueType = decisionType;

  constructor(readonly decision: AccessDecision) {
    super();
  }
}
