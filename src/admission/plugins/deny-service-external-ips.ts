import { Service } from "../../kinds/core/service/service.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";
import { declarationOf } from "../../schema/kind.ts";

/**
 * DenyServiceExternalIPs: rejects new external addresses of a Service; existing ones may be kept or removed (spec: conventions
 * 4.13). Otherwise a user who may create Services could redirect traffic for any address to their pods.
 */
export function denyServiceExternalIps(): AdmissionPlugin {
  const concerns: AdmissionPlugin["concerns"] = (operation, { resource, subresource }) =>
    operation !== "DELETE" && subresource === "" && declarationOf(resource.stored.kind) === Service;
  return {
    name: "DenyServiceExternalIPs",
    concerns,
    validate({ operation, target, object, live }) {
      if (!concerns(operation, target)) return;
      const before = new Set(externalIps(live));
      if (externalIps(object).every((address) => before.has(address))) return;
      throw forbidden(target, "use of external IPs is denied by admission control");
    },
  };
}

function externalIps(service: object | undefined): readonly string[] {
  return (service as { spec?: { externalIPs?: readonly string[] } } | undefined)?.spec?.externalIPs ?? [];
}
