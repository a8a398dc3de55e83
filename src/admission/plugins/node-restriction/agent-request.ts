import type { AdmissionRequest } from "../../../resources/engine/engine.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { forbidden } from "../../forbidden.ts";
import type { ObjectReader } from "../../object-reader.ts";

/** A write by the agent of a node. */
export interface AgentRequest extends AdmissionRequest {
  /** Name of the agent's node. */
  readonly node: string;
  readonly objects: ObjectReader;
  readonly vocabulary: Vocabulary;
}

/** Returns the name of the object, from the body if the path has none. */
export function nameOf({ target, object }: AgentRequest): string {
  return target.name === "" ? (object?.metadata.name ?? "") : target.name;
}

/** @throws {StatusError} Forbidden, always. */
export function reject({ target }: AgentRequest, why: string): never {
  throw forbidden(target, why);
}
