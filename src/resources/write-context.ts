import { deepClone } from "../base/json/value.ts";
import type { ApiObject } from "../schema/kind.ts";
import { kindContext, type Engine, type Target, type WriteOptions } from "./engine.ts";
import { fromStored } from "./conversion.ts";

/** What one write works with; made once at the beginning of a verb. The verb itself sees the stored version only. */
export interface WriteContext<O extends WriteOptions = WriteOptions> {
  readonly engine: Engine;
  /** The object or collection in the version in which it is stored (spec: conventions 9). */
  readonly target: Target;
  /** The same in the version of the request; the same value as `target` where that is the stored version. */
  readonly requestTarget: Target;
  readonly options: O;
}

/** @param requestTarget the object or collection in the version of the request. */
export function writeContext<O extends WriteOptions>(
  engine: Engine,
  requestTarget: Target,
  options: O,
): WriteContext<O> {
  const { stored } = requestTarget.resource;
  const target = stored === requestTarget.resource ? requestTarget : { ...requestTarget, resource: stored };
  return { engine, target, requestTarget, options };
}

/** A stored object in the version of the request: the object itself where that is the stored version, else a new one. */
export function inRequestVersion(write: WriteContext, object: ApiObject): ApiObject {
  const { engine, target, requestTarget } = write;
  if (requestTarget === target) return object;
  return fromStored(requestTarget.resource, deepClone(object), kindContext(engine, target));
}
