import { networking } from "../../kinds/groups.ts";
import { extensions, groupVersion } from "./group-versions.ts";
import { at, change, keepDefault, move, rename, type Rule, type VersionChange } from "./notes.ts";

const v1 = groupVersion(networking, "v1");
const v1beta1 = groupVersion(networking, "v1beta1");
const extensionsV1beta1 = groupVersion(extensions, "v1beta1");

/** A port was a number or a name in one field; the new version has a field for each. */
const portByForm: Rule = (part) => {
  const form = typeof part.value["servicePort"] === "number" ? "number" : "name";
  move("servicePort", `service.port.${form}`)(part);
};

const backend: readonly Rule[] = [move("serviceName", "service.name"), portByForm];

const ingress: readonly Rule[] = [
  at("spec.backend", ...backend),
  at("spec", rename("backend", "defaultBackend")),
  at("spec.rules[].http.paths[].backend", ...backend),
  at("spec.rules[].http.paths[]", keepDefault("pathType", "ImplementationSpecific", undefined)),
];

export const networkingChanges: readonly VersionChange[] = [
  change(extensionsV1beta1, v1, ["Ingress"], ...ingress),
  change(v1beta1, v1, ["Ingress"], ...ingress),
  change(v1beta1, v1, ["IngressClass"]),
  change(extensionsV1beta1, v1, ["NetworkPolicy"]),
];
