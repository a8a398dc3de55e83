import { objectNotFound } from "../../base/object-errors.ts";
import { forbidden } from "../forbidden.ts";
import { andThen } from "../../base/maybe-promise.ts";
import type { StatusError } from "../../base/status-error.ts";
import { authorization } from "../../kinds/groups.ts";
import type { AdmissionRequest } from "../../resources/engine.ts";
import type { NamespacePhases } from "../../resources/namespace-phases.ts";
import type { Resource } from "../../resources/registry.ts";
import { groupName } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";

/**
 * NamespaceLifecycle: nothing is created in a namespace that is missing (404) or terminating (403), and the system's
 * own namespaces can't be deleted (403).
 */
export function namespaceLifecycle(
  phases: NamespacePhases,
  namespaces: Resource,
  vocabulary: Vocabulary,
): AdmissionPlugin {
  const kept = new Set(["default", vocabulary.systemNamespace, vocabulary.publicNamespace]);
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
        return andThen(phases.of(target.namespace), (phase) => checkPhase(phase, request));
      }
      if (kept.has(target.name)) throw forbidden(target, "this namespace may not be deleted");
    },
  };
}

/** @param phase undefined for a namespace that isn't there. */
function checkPhase(phase: string | undefined, request: AdmissionRequest): void {
  const { namespace } = request.target;
  if (phase === undefined) {
    throw objectNotFound({ resource: "namespaces", group: "", name: namespace });
  }
  if (phase === "Terminating") throw terminating(request);
}

function terminating({ target }: AdmissionRequest): StatusError {
  const { namespace } = target;
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const message = `namespace ${namespace} is being terminated`;
  return forbidden(target, why, [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }]);
}
