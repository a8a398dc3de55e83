import { gate, since } from "../../../base/release-rows.ts";
import { kind } from "../v1.ts";
import { type ObjectFor } from "../../../schema/kind.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field } from "../../../schema/types.ts";
import { loadBalancerPoints } from "../../checks/load-balancer.ts";
import { labelsText, orNone } from "../../cells.ts";
import { ageColumn, nameColumn } from "../../columns.ts";
import { unambiguousServiceAddresses } from "./ambiguous-addresses.ts";
import { checkAddressUpdate, checkFamilyUpdate } from "./address-rules.ts";
import { externalAddress, portsText } from "./cells.ts";
import { checkClassUpdate, checkServiceSpec } from "./rules.ts";
import { ServiceSpec } from "./spec.ts";
import { ServiceStatus } from "./status.ts";
import { serviceWarnings } from "./warnings.ts";
import {
  checkBalancerStatus,
  checkHealthCheckUpdate,
  dropInapplicable,
  keepAllocated,
  releaseSecondary,
  syncAddresses,
} from "./update.ts";

interface Balanced {
  readonly spec?: { readonly type?: string | undefined } | undefined;
  readonly status?:
    { readonly loadBalancer?: { readonly ingress?: object[] | undefined } | undefined } | undefined;
}

function fillPointModes({ spec, status }: Balanced): void {
  if (spec?.type !== "LoadBalancer") return;
  for (const point of (status?.loadBalancer?.ingress ?? []) as { ip?: string; ipMode?: string }[])
    if ((point.ip ?? "") !== "") point.ipMode ??= "VIP";
}

export const Service = kind({
  name: "Service",
  resource: "services",
  singular: "service",
  shortNames: ["svc"],
  categories: ["all"],
  scope: "Namespaced",
  nameForm: "label1035",
  gatedNameForm: { gate: "RelaxedServiceNameValidation", form: "label" },
  createOnUpdate: true,
  returnsDeletedObject: true,
  doc: "A stable name and address for a group of pods.",
  effect: {
    acts: "addresses and node ports are allocated; `proxy` connects to its endpoints",
  },
  fields: {
    metadata: field(1, ObjectMeta, "Metadata of the service.").emitEmpty(),
    spec: field(2, ServiceSpec, "Desired state of the Service.").emitEmpty(),
    // As in the reference, only the addresses of a status are validated.
    status: field(3, ServiceStatus, "Observed state of the Service.").emitEmpty().unchecked(),
  },
  selectable: {
    "spec.clusterIP": (service) => service.spec?.clusterIP ?? "",
    "spec.type": (service) => service.spec?.type ?? "",
  },
  fillDefaults: since("1.29", gate("LoadBalancerIPMode", fillPointModes)),
  prepareCreate(copy) {
    const { clusterIP = "", clusterIPs = [] } = copy.spec ?? {};
    if (clusterIP !== "" && clusterIPs.length === 0) copy.spec!.clusterIPs = [clusterIP];
  },
  prepareUpdate(copy, live) {
    if (copy.spec === undefined || live.spec === undefined) return;
    keepAllocated(copy.spec, live.spec);
    syncAddresses(copy.spec, live.spec);
    releaseSecondary(copy.spec, live.spec);
    dropInapplicable(copy.spec, live.spec);
  },
  validate(service, report, context) {
    checkServiceSpec(service.spec ?? {}, service.metadata, report, context);
    loadBalancerPoints(service.status?.loadBalancer?.ingress, report.at("status", "loadBalancer", "ingress"));
  },
  validateCreate(service, report, context) {
    unambiguousServiceAddresses(service, undefined, report, context);
  },
  validateUpdate(service, live, report, context) {
    if (context.subresource === "status") checkBalancerStatus(service, report, context);
    unambiguousServiceAddresses(service, live, report, context);
    const specReport = report.at("spec");
    checkAddressUpdate(service.spec ?? {}, live.spec ?? {}, specReport);
    checkFamilyUpdate(service.spec ?? {}, live.spec ?? {}, specReport);
    checkClassUpdate(service.spec ?? {}, live.spec ?? {}, specReport);
    checkHealthCheckUpdate(service.spec ?? {}, live.spec ?? {}, specReport);
  },
  warnings: since("1.27", serviceWarnings),
  status: {
    initial: () => ({ loadBalancer: {} }),
  },
  subresources: {
    proxy: {
      shape: "connect",
      verbs: ["create", "delete", "get", "patch", "update"],
      optionsKind: "ServiceProxyOptions",
    },
  },
  columns: [
    nameColumn,
    {
      name: "Type",
      type: "string",
      doc: "Type of the service.",
      cell: (service) => service.spec?.type ?? "",
    },
    {
      name: "Cluster-IP",
      type: "string",
      doc: "IP address inside the cluster.",
      cell: (service) => service.spec?.clusterIPs?.[0] ?? "<none>",
    },
    {
      name: "External-IP",
      type: "string",
      doc: "Addresses outside the cluster.",
      cell: externalAddress,
    },
    {
      name: "Port(s)",
      type: "string",
      doc: "Ports of the service, with their node ports.",
      cell: (service) => orNone(portsText(service.spec?.ports)),
    },
    ageColumn,
    {
      name: "Selector",
      type: "string",
      priority: 1,
      doc: "Labels of the pods behind the service.",
      cell: (service) => labelsText(service.spec?.selector),
    },
  ],
});
export type Service = ObjectFor<typeof Service>;
