import type { MaybePromise } from "../../../base/turns/maybe-promise.ts";
import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import type { ApiObject } from "../../../schema/kind.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { forbidden } from "../../forbidden.ts";
import type { ObjectReader } from "../../object-reader.ts";

/** Checks a write by the agent of a node. */
export type Check = (request: AgentRequest) => MaybePromise<void>;

/** The checks that a release after the reference release adds. */
export interface LaterChecks {
  /** By `group/resource`, after the checks of the reference release. */
  readonly checks: ReadonlyMap<string, Check>;
  /** See {@link AgentRequest.podReference}. */
  readonly podReference: AgentRequest["podReference"] | undefined;
  /** Further fields in the status of a claim that agents report. */
  readonly claimFields: readonly string[];
  /** Checks a request for a token that is bound to the pod. */
  readonly checkToken: (request: AgentRequest, pod: ApiObject) => MaybePromise<void>;
}

/** A write by the agent of a node. */
export interface AgentRequest extends AdmissionRequest {
  /** Name of the agent's node. */
  readonly node: string;
  readonly objects: ObjectReader;
  readonly vocabulary: Vocabulary;
  /** Returns the type of an object that a mirror pod refers to, for messages; undefined if it refers to none. */
  readonly podReference: (pod: ApiObject) => string | undefined;
  /** Undefined in the reference release. */
  readonly later: LaterChecks | undefined;
}

/** Returns the name of the object, from the body if the path has none. */
export function nameOf({ target, object }: AgentRequest): string {
  return target.name === "" ? (object?.metadata.name ?? "") : target.name;
}

/** @throws {StatusError} Forbidden, always. */
export function reject({ target }: AgentRequest, why: string): never {
  throw forbidden(target, why);
}
