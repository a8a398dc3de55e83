import { andThen } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { subjectOf, type AdmissionCondition, type Engine, type Target } from "./engine.ts";

/**
 * The condition for storing a new object of a custom kind: its definition is unchanged and isn't being deleted. Otherwise an object could
 * be stored after the deletion of all others, and would reappear with the next definition of that name.
 *
 * @returns undefined for a built-in kind.
 * @throws {StatusError} NotFound if the definition was deleted; MethodNotAllowed while it is being deleted.
 */
export function definitionCondition(engine: Engine, target: Target): AdmissionCondition | undefined {
  const { registry } = engine;
  const { resource } = target;
  if (resource.kind.custom === undefined) return undefined;
  const condition = registry.definitionCondition(resource);
  const [served] = registry.withSameObjects(resource);
  if (condition === undefined || served === undefined)
    throw new StatusError("NotFound", "the server could not find the requested resource");
  if (!served.kind.verbs.includes("create")) {
    const { resource: kind, group } = subjectOf(target);
    const message = "create is not allowed while the CustomResourceDefinition is being deleted";
    throw new StatusError("MethodNotAllowed", message, { kind, group });
  }
  return { ...condition, renew: () => andThen(registry.sync(), () => definitionCondition(engine, target)) };
}
