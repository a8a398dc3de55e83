import { labelKey } from "../../../vocabulary/names.ts";
import { allByRelease, since } from "../../../base/release-rows.ts";
import type { Vocabulary } from "../../../vocabulary/vocabulary.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { ObjectMetaValue } from "../../../schema/kind.ts";
import { addressWarnings, rangeWarnings } from "../../checks/address-warnings.ts";
import type { ServiceSpec } from "./spec.ts";

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
export function serviceWarnings({ metadata, spec = {} }: WarnedService, context: KindContext): string[] {
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
