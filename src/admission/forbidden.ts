import { StatusError, type Cause } from "../base/status-error.ts";
import type { Target } from "../resources/engine.ts";

/** The error with which a plugin rejects a request: 403, with the object that it is about and the reason. */
export function forbidden(
  { resource, name }: Pick<Target, "resource" | "name">,
  why: string,
  causes?: readonly Cause[],
): StatusError {
  const type = resource.group === "" ? resource.name : `${resource.name}.${resource.group}`;
  return new StatusError("Forbidden", `${type} ${JSON.stringify(name)} is forbidden: ${why}`, {
    name,
    group: resource.group,
    kind: resource.name,
    ...(causes === undefined ? {} : { causes }),
  });
}
