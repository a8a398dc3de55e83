import { andThen, type MaybePromise } from "../../base/turns/maybe-promise.ts";
import { StatusError } from "../../base/status-error.ts";
import { authorization } from "../../kinds/groups.ts";
import { Namespace } from "../../kinds/core/namespace.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import type { NamespacePhases } from "../../resources/followers/namespace-phases.ts";
import { declarationOf, groupName } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin, AdmittedType } from "../admission-chain.ts";

/** Whether a type is namespaced and isn't Namespace itself. */
function isInside({ resource }: AdmittedType): boolean {
  return resource.namespaced && declarationOf(resource.stored.kind) !== Namespace;
}

/** NamespaceExists: rejects writes in a missing namespace with 404 (spec: conventions 4.13). */
export function namespaceExists(phases: NamespacePhases): AdmissionPlugin {
  return {
    name: "NamespaceExists",
    concerns: (operation, type) => operation !== "CONNECT" && isInside(type),
    validate({ target: { namespace }, staged }) {
      return andThen(phases.of(namespace, staged), (phase) => {
        if (phase !== undefined) return;
        const details = { name: namespace, kind: "namespaces" };
        throw new StatusError("NotFound", `namespaces ${JSON.stringify(namespace)} not found`, details);
      });
    },
  };
}

/** Creates a namespace; succeeds if it exists. */
export type ProvisionNamespace = (name: string) => Promise<void>;

/**
 * NamespaceAutoProvision: creates the missing namespace of a new object (spec: conventions 4.13), except in a dry run. It runs
 * before NamespaceLifecycle, which rejects objects in missing namespaces.
 */
export function namespaceAutoProvision(
  phases: NamespacePhases,
  provision: ProvisionNamespace,
  vocabulary: Vocabulary,
): AdmissionPlugin {
  const reviews = groupName(authorization, vocabulary);
  return {
    name: "NamespaceAutoProvision",
    concerns: (operation, type) =>
      operation === "CREATE" && isInside(type) && type.resource.group !== reviews,
    mutate({ target: { namespace }, dryRun, staged }: AdmissionRequest): MaybePromise<void> {
      if (dryRun) return;
      return andThen(phases.of(namespace, staged), (phase) =>
        phase === undefined ? provision(namespace) : undefined,
      );
    },
  };
}
