import { Service } from "../../kinds/core/service/service.ts";
import type { AdmissionPlugin } from "../admission-chain.ts";
import { forbidden } from "../forbidden.ts";

/**
 * DenyServiceExternalIPs: a Service may not gain external addresses; those that it has may stay or be removed
 * (spec: conventions 4.13). Whoever may create Services could otherwise draw traffic for any address to their pods.
 */
export function denyServiceExternalIps(): AdmissionPlugin {
  const concerns: AdmissionPlugin["concerns"] = (operation, { resource, subresource }) =>
    operation !== "DELETE" && subresource === "" && resource.stored.kind === Service;
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
