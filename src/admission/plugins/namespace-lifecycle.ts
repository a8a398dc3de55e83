import { objectNotFound } from "../../base/object-errors.ts";
import { forbidden } from "../forbidden.ts";
import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import type { StatusError } from "../../base/status-error.ts";
import { authorization } from "../../kinds/groups.ts";
import type { AdmissionCondition, AdmissionRequest } from "../../resources/engine/engine.ts";
import type { NamespacePhases } from "../../resources/followers/namespace-phases.ts";
import type { Resource } from "../../resources/registry/registry.ts";
import { groupName } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";

/**
 * NamespaceLifecycle: rejects creates in a missing (404) or terminating (403) namespace, and deletes of system namespaces (403).
 */
export function namespaceLifecycle(
  phases: NamespacePhases,
  namespaces: Resource,
  vocabulary: Vocabulary,
): AdmissionPlugin {
  const systemNamespaces = new Set(["default", vocabulary.systemNamespace, vocabulary.publicNamespace]);
  const reviews = groupName(authorization, vocabulary);
  return {
    name: "NamespaceLifecycle",
    concerns: (operation, { resource }) =>
      resource === namespaces
        ? operation === "DELETE"
        : operation === "CREATE" && resource.namespaced && resource.group !== reviews,
    mutate(request) {
      const { operation, target } = request;
      if (operation !== "DELETE") {
        return andThen(activeCondition(phases, request), (condition) => {
          if (!request.reinvocation) request.effects.addCondition(condition);
        });
      }
      if (systemNamespaces.has(target.name)) throw forbidden(target, "this namespace may not be deleted");
    },
  };
}

/**
 * Returns the condition that the namespace of a new object is unchanged at commit. Otherwise the object could be stored after the
 * content of the namespace is deleted, and would remain.
 *
 * @throws {StatusError} NotFound: the namespace is missing; Forbidden: it is terminating.
 */
function activeCondition(
  phases: NamespacePhases,
  request: AdmissionRequest,
): MaybePromise<AdmissionCondition> {
  const { namespace } = request.target;
  return andThen(phases.of(namespace, request.staged), (current) => {
    if (current === undefined) throw objectNotFound({ resource: "namespaces", group: "", name: namespace });
    if (current.phase === "Terminating") throw terminating(request);
    return { ...current.condition, renew: () => activeCondition(phases, request) };
  });
}

function terminating({ target }: AdmissionRequest): StatusError {
  const { namespace } = target;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  return forbidden(target, why, [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }]);
}
