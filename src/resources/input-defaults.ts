import { fillFieldDefaults } from "../schema/defaults.ts";
import type { ApiObject } from "../schema/kind.ts";
import { kindContext, type Engine, type Target } from "./engine.ts";

/** Fills in what the declaration gives when the client doesn't. Changes the object. */
export function fillDefaults(engine: Engine, target: Target, object: ApiObject): void {
  const context = kindContext(engine, target);
  fillFieldDefaults(target.resource.kind.type, object, context);
  target.resource.kind.fillDefaults?.(object, context);
}
