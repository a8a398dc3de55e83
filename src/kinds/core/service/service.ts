import { gate, since, allByRelease } from "../../../base/release-rows.ts";
import { kind } from "../v1.ts";
import type { ObjectFor, ObjectMetaValue } from "../../../schema/kind.ts";
import { ObjectMeta } from "../../../schema/object-meta.ts";
import { field } from "../../../schema/types.ts";
import { loadBalancerPoints, unambiguousPoints } from "../../checks/load-balancer.ts";
import { labelsText, orNone, balancerAddresses } from "../../cells.ts";
import { ageColumn, nameColumn } from "../../columns.ts";
import { checkAddressUpdate, checkFamilyUpdate } from "./address-rules.ts";
import { checkClassUpdate, checkServiceSpec } from "./rules.ts";
import { ServiceSpec, type ServicePort } from "./spec.ts";
import { ServiceStatus } from "./status.ts";
import {
  checkBalancerStatus,
  checkHealthCheckUpdate,
  dropInapplicable,
  keepAllocated,
  releaseSecondary,
  syncAddresses,
} from "./update.ts";
import { labelKey } from "../../../vocabulary/names.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { FieldReport } from "../../../schema/faults.ts";
import { rejectsAmbiguous, unambiguousAddress, unambiguousRange } from "../../checks/strict-addresses.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import { addressWarnings, rangeWarnings } from "../../checks/addresses.ts";

interface WarnedService {
  readonly metadata: ObjectMetaValue;
  readonly spec?: ServiceSpec | undefined;
}

const sources = allByRelease<(spec: ServiceSpec) => string[]>(
  since("1.27", clusterAddressWarnings),
  since("1.34", headlessWarnings),
  since("1.27", ({ externalIPs = [] }) => listWarnings("spec.externalIPs", externalIPs, addressWarnings)),
  since("1.36", externalAddressWarnings),
  since("1.27", ({ loadBalancerIP = "" }) => addressWarnings("spec.loadBalancerIP", loadBalancerIP)),
  since("1.27", ({ loadBalancerSourceRanges = [] }) =>
    listWarnings("spec.loadBalancerSourceRanges", loadBalancerSourceRanges, rangeWarnings),
  ),
  since("1.28", namedWarnings),
  since("1.35", distributionWarnings),
);

/** Returns the warnings for a service. */
function serviceWarnings({ metadata, spec = {} }: WarnedService, context: KindContext): string[] {
  if (context.subresource !== "") return [];
  return [
    ...hintsWarnings(metadata, context.vocabulary),
    ...sources(context).flatMap((source) => source(spec)),
  ];
}

function hintsWarnings({ annotations }: ObjectMetaValue, { domain }: Vocabulary): string[] {
  const hints = labelKey(domain, "topology-aware-hints", "service");
  if (annotations?.[hints] === undefined) return [];
  return [`annotation ${hints} is deprecated, use ${labelKey(domain, "topology-mode", "service")} instead`];
}

const isHeadless = ({ type, clusterIP }: ServiceSpec) => type === "ClusterIP" && clusterIP === "None";

function clusterAddressWarnings({ type, clusterIP, clusterIPs = [] }: ServiceSpec): string[] {
  if (type === "ExternalName" || clusterIP === "None") return [];
  return listWarnings("spec.clusterIPs", clusterIPs, addressWarnings);
}

function externalAddressWarnings(spec: ServiceSpec): string[] {
  if ((spec.externalIPs ?? []).length === 0 || isHeadless(spec) || spec.type === "ExternalName") return [];
  return ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"];
}

function distributionWarnings({ trafficDistribution }: ServiceSpec): string[] {
  if (trafficDistribution !== "PreferClose") return [];
  return ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"'];
}

function listWarnings(
  path: string,
  values: readonly string[],
  warningsOf: (path: string, value: string) => string[],
): string[] {
  return values.flatMap((value, index) => warningsOf(`${path}[${index}]`, value));
}

function headlessWarnings(spec: ServiceSpec): string[] {
  if (!isHeadless(spec)) return [];
  const { loadBalancerIP = "", externalIPs = [], sessionAffinity } = spec;
  const ignored = [
    ...(loadBalancerIP === "" ? [] : ["loadBalancerIP"]),
    ...(externalIPs.length === 0 ? [] : ["externalIPs"]),
    ...(sessionAffinity === "None" ? [] : ["SessionAffinity"]),
  ];
  return ignored.map((name) => `spec.${name} is ignored for headless services`);
}

/** Warns of fields that are only used with, or without, the type ExternalName. */
function namedWarnings({ type, externalIPs = [], externalName = "" }: ServiceSpec): string[] {
  if (type === "ExternalName")
    return externalIPs.length > 0 ? ['spec.externalIPs is ignored when spec.type is "ExternalName"'] : [];
  return externalName === "" ? [] : ['spec.externalName is ignored when spec.type is not "ExternalName"'];
}

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

interface Shown {
  readonly spec?: ServiceSpec | undefined;
  readonly status?: ServiceStatus | undefined;
}

/** Returns the external address of a service, depending on its type. */
function externalAddress({ spec = {}, status }: Shown): string {
  const externalIps = spec.externalIPs ?? [];
  switch (spec.type) {
    case "ClusterIP":
    case "NodePort":
      return externalIps.length === 0 ? "<none>" : externalIps.join(",");
    case "LoadBalancer": {
      const all = [...balancerAddresses(status?.loadBalancer?.ingress), ...externalIps];
      return all.length === 0 ? "<pending>" : all.join(",");
    }
    case "ExternalName":
      return spec.externalName ?? "";
    default:
      return "<unknown>";
  }
}

/** Returns ports as `80/TCP,443:30443/TCP`; empty without ports. */
function portsText(ports: readonly ServicePort[] | undefined): string {
  return (ports ?? [])
    .map(({ port, nodePort = 0, protocol = "" }) =>
      nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`,
    )
    .join(",");
}

interface Addressed {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> | undefined };
  readonly spec?: ServiceSpec | undefined;
  readonly status?:
    | {
        readonly loadBalancer?:
          { readonly ingress?: readonly { readonly ip?: string | undefined }[] | undefined } | undefined;
      }
    | undefined;
}

/** Rejects addresses and ranges of a service that programs read differently, except those of the stored service. */
function unambiguousServiceAddresses(
  { metadata, spec = {}, status }: Addressed,
  live: Addressed | undefined,
  report: FieldReport,
  context: KindContext,
): void {
  if (!rejectsAmbiguous(context)) return;
  for (const list of ["clusterIPs", "externalIPs"] as const) {
    for (const [index, address] of (spec[list] ?? []).entries())
      unambiguousAddress(address, report.at("spec", list, index), context, live?.spec?.[list]);
  }
  const points = report.at("status", "loadBalancer", "ingress");
  unambiguousPoints(status?.loadBalancer?.ingress, live?.status?.loadBalancer?.ingress, points, context);
  const ranges = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    const existing = (live?.spec?.loadBalancerSourceRanges ?? []).map((range) => range.trim());
    // The spelling of the reference.
    for (const [index, range] of ranges.entries())
      unambiguousRange(range.trim(), report.at("spec", "LoadBalancerSourceRanges", index), context, existing);
    return;
  }
  const key = labelKey(context.vocabulary.domain, "load-balancer-source-ranges", "service.beta");
  const annotation = metadata.annotations?.[key] ?? "";
  if (annotation === live?.metadata.annotations?.[key]) return;
  for (const range of annotation.split(","))
    unambiguousRange(range.trim(), report.at("metadata", "annotations").key(key), context);
}
