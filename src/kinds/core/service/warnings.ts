import { labelKey } from "../../../vocabulary/names.ts";
import { isAtLeast } from "../../../base/releases.ts";
import type { KindContext } from "../../../schema/context.ts";
import type { ObjectMetaValue } from "../../../schema/kind.ts";
import { addressWarnings, rangeWarnings } from "../../checks/address-warnings.ts";
import type { ServiceSpec } from "./spec.ts";

/** Returns the warnings for a service, in releases from 1.27 on. */
export function serviceWarnings(
  { metadata, spec = {} }: { readonly metadata: ObjectMetaValue; readonly spec?: ServiceSpec | undefined },
  { release, vocabulary, subresource }: KindContext,
): string[] {
  if (subresource !== "" || !isAtLeast(release, "1.27")) return [];
  const hints = labelKey(vocabulary.domain, "topology-aware-hints", "service");
  const { clusterIPs = [], externalIPs = [], loadBalancerIP = "", loadBalancerSourceRanges = [] } = spec;
  const isNamed = spec.type === "ExternalName";
  const isHeadless = spec.type === "ClusterIP" && spec.clusterIP === "None";
  const hasAddresses = !isNamed && clusterIPs.length > 0 && spec.clusterIP !== "None";
  return [
    ...(metadata.annotations?.[hints] === undefined
      ? []
      : [
          `annotation ${hints} is deprecated, use ${labelKey(vocabulary.domain, "topology-mode", "service")} instead`,
        ]),
    ...(hasAddresses ? listWarnings("spec.clusterIPs", clusterIPs, addressWarnings) : []),
    ...(isHeadless && isAtLeast(release, "1.34") ? headlessWarnings(spec) : []),
    ...listWarnings("spec.externalIPs", externalIPs, addressWarnings),
    ...(externalIPs.length > 0 && !isHeadless && !isNamed && isAtLeast(release, "1.36")
      ? ["spec.externalIPs is deprecated and may no longer be implemented in some clusters"]
      : []),
    ...addressWarnings("spec.loadBalancerIP", loadBalancerIP),
    ...listWarnings("spec.loadBalancerSourceRanges", loadBalancerSourceRanges, rangeWarnings),
    ...(isAtLeast(release, "1.28") ? namedWarnings(spec) : []),
    ...(spec.trafficDistribution === "PreferClose" && isAtLeast(release, "1.35")
      ? ['spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"']
      : []),
  ];
}

function listWarnings(
  path: string,
  values: readonly string[],
  warningsOf: (path: string, value: string) => string[],
): string[] {
  return values.flatMap((value, index) => warningsOf(`${path}[${index}]`, value));
}

function headlessWarnings({ loadBalancerIP = "", externalIPs = [], sessionAffinity }: ServiceSpec): string[] {
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
