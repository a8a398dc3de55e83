import { objectAs } from "../../schema/api-object.ts";
import { labelKey } from "../../vocabulary/names.ts";
import { andThen } from "../../base/turns/maybe-promise.ts";
import { resource as resourceGroup, isKindOf } from "../../kinds/groups.ts";
import type { AdmissionRequest } from "../../resources/engine/engine.ts";
import { invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import type { AdmissionPlugin, AdmittedType } from "../admission-chain.ts";
import type { FollowedObjects, NamespaceFacts } from "../followed-objects.ts";

interface Requests {
  readonly devices?: { readonly requests?: readonly { readonly exactly?: Access }[] | null };
}

interface Access {
  readonly adminAccess?: boolean;
}

interface Claim {
  readonly spec?: Requests & { readonly spec?: Requests };
  readonly status?: { readonly allocation?: { readonly devices?: { readonly results?: readonly Access[] } } };
}

/**
 * Access for administration needs a label of the namespace: in requests of new claims and templates, and in new allocations. The check
 * runs after the plugins and can't be disabled.
 */
export function deviceAdminAccess(
  namespaces: () => FollowedObjects<NamespaceFacts>,
  vocabulary: Vocabulary,
): AdmissionPlugin {
  const label = labelKey(vocabulary.domain, "admin-access", "resource");
  return {
    name: "DeviceAdminAccess",
    concerns: (operation, type) => isChecked(operation, type),
    validate(request) {
      const { target, object } = request;
      const field = object === undefined ? undefined : firstAccess(request);
      if (field === undefined) return;
      const { resource, namespace, name } = target;
      return andThen(namespaces().get("", namespace, request.staged), (facts) => {
        if (facts?.labels[label] === "true") return;
        const needed = `admin access to devices requires the \`${label}: true\` label on the containing namespace`;
        const cause = { reason: "FieldValueForbidden", message: `Forbidden: ${needed}`, field } as const;
        throw invalidError({ kind: resource.kind.name, group: resource.group, name }, [cause]);
      });
    },
  };
}

function isChecked(
  operation: AdmissionRequest["operation"],
  { resource, subresource }: AdmittedType,
): boolean {
  const { kind } = resource.stored;
  if (operation === "CREATE" && subresource === "") {
    return isKindOf(kind, resourceGroup, "ResourceClaim", "ResourceClaimTemplate");
  }
  return operation === "UPDATE" && subresource === "status" && isKindOf(kind, resourceGroup, "ResourceClaim");
}

/** Returns the path of the first access for administration that the write adds. */
function firstAccess({ operation, target, object, live }: AdmissionRequest): string | undefined {
  if (operation === "UPDATE") {
    const index = firstOf(resultsOf(object));
    const isGranted = firstOf(resultsOf(live)) !== -1;
    return index === -1 || isGranted ? undefined : `status.allocation.devices.results[${index}].adminAccess`;
  }
  const isTemplate = isKindOf(target.resource.stored.kind, resourceGroup, "ResourceClaimTemplate");
  const { spec } = objectAs<Claim>(object!);
  const requests = (isTemplate ? spec?.spec : spec)?.devices?.requests ?? [];
  const index = firstOf(requests.map(({ exactly = {} }) => exactly));
  return index === -1 ? undefined : `spec.devices.requests[${index}].adminAccess`;
}

function resultsOf(claim: ApiObject | undefined): readonly Access[] {
  return objectAs<Claim>(claim)?.status?.allocation?.devices?.results ?? [];
}

function firstOf(accesses: readonly Access[]): number {
  return accesses.findIndex(({ adminAccess }) => adminAccess === true);
}
