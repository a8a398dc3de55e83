import { CustomResourceDefinition } from "../../kinds/apiextensions/custom-resource-definition.ts";
import { leftoverObjects } from "../../custom-resources/definitions/leftover-objects.ts";
import { addressObjects } from "../../controllers/services/address-objects.ts";
import { networking } from "../../kinds/groups.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { StorageHooks } from "../../resources/engine/storage-hooks.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { AddressObjects } from "../../resources/services/address-objects.ts";
import { AddressRange } from "../../resources/services/address-range.ts";
import { ServiceClaimRepair } from "../../resources/services/claim-repair.ts";
import { ServiceAllocation, type PortRange } from "../../resources/services/service-allocation.ts";
import { applies, gate, since } from "../../base/release-rows.ts";
import { rarely } from "../../base/time/clock.ts";
import { stackOf } from "../../base/logger.ts";
import type { Store } from "../../storage/store.ts";
import { groupName } from "../../schema/kind.ts";
import { featureGates } from "../features/enabled-features.ts";
import { OptionsError } from "../options/options-error.ts";
import type { ServerOptions } from "../options/server-options.ts";

/** Minimum interval of log lines about claims that could not be released. */
const failureLogIntervalMs = 10_000;

/** Side effects of writes of some kinds. */
export interface ServerEffects {
  readonly byPrefix: ReadonlyMap<string, StorageHooks>;
  /** Releases claims that remain after a crash or a store failure; undefined if Services aren't served. */
  readonly repair: ServiceClaimRepair | undefined;
}

/** What the effects use. */
interface EffectTools {
  /** Returns a random integer of at least 0 and less than `below`. */
  readonly randomInt: (below: number) => number;
  /** Returns the client of the server's own writes, without admission. */
  readonly client: () => Client;
}

/** @throws {OptionsError} if an address or port range can't be used. */
export function serverEffects(
  options: ServerOptions,
  registry: Registry,
  store: Store,
  { randomInt, client }: EffectTools,
): ServerEffects {
  const { serviceClusterIpRanges, serviceNodePortRange, clock, log } = options;
  const ranges = addressRanges(serviceClusterIpRanges);
  const ports = portRange(serviceNodePortRange);
  const byPrefix = new Map<string, StorageHooks>();
  const definitions = registry.serves(CustomResourceDefinition)
    ? registry.require(CustomResourceDefinition)
    : undefined;
  if (definitions !== undefined) {
    const reserves = (group: string, resource: string) => registry.reserves(group, resource);
    byPrefix.set(definitions.storePrefix, leftoverObjects(store, definitions, reserves));
  }
  const prefix = registry.find("", "v1", "services")?.storePrefix;
  if (prefix === undefined) return { byPrefix, repair: undefined };
  const failed = rarely(clock, failureLogIntervalMs, (error: unknown) =>
    log.warn({ error: stackOf(error) }, "claims of services could not be released; retrying"),
  );
  const leftBehind = (error: unknown) => {
    if (error !== undefined) failed(error);
    repair.request();
  };
  const objects = objectsOf(options, registry, client);
  const allocation = new ServiceAllocation({
    store,
    prefix,
    ranges,
    ports,
    reservedPorts: reservesPorts({ release: options.release, enabled: featureGates(options).enabled })
      ? reservedPorts(ports)
      : 0,
    objects,
    randomInt,
    leftBehind,
  });
  byPrefix.set(prefix, allocation);
  const repair = new ServiceClaimRepair({ allocation, store, prefix, clock, failed });
  return { byPrefix, repair };
}

/** Whether the beginning of the range of node ports is left to requested ones. */
const reservesPorts = applies(since("1.27", gate("ServiceNodePortStaticSubrange")), since("1.31"));

/** Returns how many node ports at the beginning of a range are left to requested ones: a 32nd of it, at least 16, at most 128. */
function reservedPorts({ first, last }: PortRange): number {
  const size = last + 1 - first;
  return size <= 16 ? 0 : Math.min(128, Math.max(16, Math.floor(size / 32)));
}

/** Returns the IPAddress objects of services; undefined in releases and with feature gates without them. */
function objectsOf(
  options: ServerOptions,
  registry: Registry,
  client: () => Client,
): AddressObjects | undefined {
  const { vocabulary } = registry;
  const group = groupName(networking, vocabulary);
  const [addresses] = registry.versionsOf(group, "ipaddresses");
  if (addresses === undefined || !featureGates(options).enabled("MultiCIDRServiceAllocator"))
    return undefined;
  const [ranges] = registry.versionsOf(group, "servicecidrs");
  return addressObjects(client, vocabulary, addresses.apiVersion, ranges?.apiVersion);
}

function addressRanges(texts: readonly string[]): AddressRange[] {
  const ranges = texts.map((text) => {
    const range = AddressRange.parse(text);
    if (range !== undefined) return range;
    throw new OptionsError(`--service-cluster-ip-range: ${JSON.stringify(text)} is not a range of addresses`);
  });
  if (ranges.length === 0) throw new OptionsError("--service-cluster-ip-range: at least one range is needed");
  if (ranges.length > 2 || (ranges.length === 2 && ranges[0]!.family === ranges[1]!.family)) {
    throw new OptionsError("--service-cluster-ip-range: there can be one range, or one of each family");
  }
  return ranges;
}

function portRange(text: string): PortRange {
  const match = /^(\d{1,5})-(\d{1,5})$/.exec(text);
  const [first, last] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || first < 1 || last > 65535 || first > last) {
    throw new OptionsError(
      `--service-node-port-range: ${JSON.stringify(text)} is not a range of ports like 30000-32767`,
    );
  }
  return { first, last };
}
