import { StatusError } from "../../base/status-error.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Store } from "../../storage/store.ts";
import { canonicalAddress, type AddressRange } from "./address-range.ts";
import { Claims, type ClaimName } from "./claims.ts";
import { settleFamilies, type ServiceSpecValue } from "./families.ts";
import type { StorageHooks, PendingWrite } from "../storage-hooks.ts";

/** Ports of the nodes that services get; both ends included. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** How often a free address or port is guessed before the store is asked which are taken. */
const guesses = 8;

/** Addresses of a range, or ports, by number. */
interface Numbers {
  readonly sort: "addresses/" | "ports/";
  readonly claim: (number: number) => ClaimName;
  /** The number of what a claim is about; undefined where it has none. */
  readonly numberOf: (claimed: string) => number | undefined;
}

/**
 * Gives services their addresses and node ports, and takes back what they no longer need. What was asked for and somebody
 * else has is refused; what wasn't asked for is chosen by chance.
 */
export class ServiceAllocation implements StorageHooks {
  private readonly claims: Claims;

  constructor(
    store: Store,
    private readonly ranges: readonly AddressRange[],
    private readonly ports: PortRange,
    private readonly randomInt: (below: number) => number,
  ) {
    this.claims = new Claims(store);
  }

  /** @throws {StatusError} Invalid for what can't be had. */
  async beforeWrite(object: ApiObject, live: ApiObject | undefined, dryRun: boolean): Promise<PendingWrite> {
    const owner = ownerOf(object);
    const spec = (object["spec"] ??= {}) as ServiceSpecValue;
    const report = FieldReport.start();
    const before = live === undefined ? new Set<ClaimName>() : claimsOf(live);
    const allocations = new Allocations(this.claims, owner, before, dryRun);
    try {
      settleFamilies(spec, this.ranges, report.at("spec"), (live?.["spec"] ?? {}) as ServiceSpecValue);
      if (report.faults.length === 0) {
        await this.addresses(spec, allocations, report.at("spec"));
        await this.nodePorts(spec, allocations, report.at("spec"));
      }
      if (report.faults.length > 0) {
        throw invalidError({ kind: "Service", group: "", name: object.metadata.name ?? "" }, report.faults);
      }
    } catch (error) {
      await allocations.undo();
      throw error;
    }
    const after = claimsOf(object);
    const unused = dryRun ? [] : [...before].filter((name) => !after.has(name));
    return {
      undo: () => allocations.undo(),
      finish: async () => {
        for (const name of unused) await this.claims.release(name, owner);
      },
    };
  }

  async afterDelete(object: ApiObject): Promise<void> {
    const owner = ownerOf(object);
    for (const name of claimsOf(object)) await this.claims.release(name, owner);
  }

  /**
   * Makes the claims that are missing, and gives those that no service needs, as after a crash between claim and service.
   * One of them may be that of a service which is just being made: only what is still there some time later is stale.
   *
   * @param services reads every service that is stored.
   */
  async audit(services: () => AsyncIterable<ApiObject>): Promise<Map<ClaimName, string>> {
    const unneeded = new Map<ClaimName, string>();
    for await (const { name, owner } of this.claims.all()) unneeded.set(name, owner);
    for await (const service of services()) {
      const owner = ownerOf(service);
      for (const name of claimsOf(service)) {
        const known = unneeded.get(name);
        if (known === undefined) await this.claims.take(name, owner);
        else if (known === owner) unneeded.delete(name);
      }
    }
    return unneeded;
  }

  /** Takes claims back. */
  async release(claims: ReadonlyMap<ClaimName, string>): Promise<void> {
    for (const [name, owner] of claims) await this.claims.release(name, owner);
  }

  private async addresses(
    spec: ServiceSpecValue,
    allocations: Allocations,
    report: FieldReport,
  ): Promise<void> {
    if (spec.type === "ExternalName" || spec.clusterIP === "None") return;
    const given = spec.clusterIPs ?? [];
    const addresses: string[] = [];
    for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
      const range = this.ranges.find((one) => one.family === family)!;
      const wanted = given[index];
      if (wanted === undefined || wanted === "") addresses.push(await this.freeAddress(range, allocations));
      else {
        addresses.push(wanted);
        const place = report.at("clusterIPs");
        if (allocations.has(addressClaim(wanted))) continue;
        if (!range.contains(wanted)) {
          place.invalid(given, `failed to allocate IP ${wanted}: it is not in the range ${range.text}`);
        } else if (!(await allocations.take(addressClaim(wanted)))) {
          place.invalid(given, `failed to allocate IP ${wanted}: provided IP is already allocated`);
        }
      }
    }
    spec.clusterIPs = addresses;
    if (addresses[0] !== undefined) spec.clusterIP = addresses[0];
  }

  /** A free address; those at the beginning of the range come last. */
  private async freeAddress(range: AddressRange, allocations: Allocations): Promise<string> {
    const { reserved, size } = range;
    const numbers: Numbers = {
      sort: "addresses/",
      claim: (index) => addressClaim(range.at(index)),
      numberOf: (address) => range.indexOf(address),
    };
    const found = await this.choose(numbers, [reserved, size, 0, reserved], allocations);
    if (found !== undefined) return range.at(found);
    throw new StatusError(
      "InternalError",
      `failed to allocate a service IP: the range ${range.text} is full`,
    );
  }

  private async freePort(allocations: Allocations): Promise<number> {
    const { first, last } = this.ports;
    const numbers: Numbers = { sort: "ports/", claim: (port) => `ports/${port}`, numberOf: Number };
    const found = await this.choose(numbers, [first, last + 1], allocations);
    if (found !== undefined) return found;
    throw new StatusError(
      "InternalError",
      `failed to allocate a nodePort: the range ${first}-${last} is full`,
    );
  }

  /**
   * Claims a random free number; undefined when there is none.
   *
   * @param spans bounds of spans of numbers, from and up to, not including; a later one is used only where those before it
   *   are full.
   */
  private async choose(
    numbers: Numbers,
    spans: readonly number[],
    allocations: Allocations,
  ): Promise<number | undefined> {
    const [from = 0, to = 0] = spans;
    for (let guess = 0; guess < guesses; guess++) {
      const number = from + this.randomInt(to - from);
      if (await allocations.take(numbers.claim(number))) return number;
    }
    const taken = new Set<number | undefined>();
    for await (const one of this.claims.taken(numbers.sort)) taken.add(numbers.numberOf(one));
    for (let at = 0; at < spans.length; at += 2) {
      const free: number[] = [];
      for (let number = spans[at]!; number < spans[at + 1]!; number++) {
        if (!taken.has(number)) free.push(number);
      }
      // Somebody else may be quicker.
      while (free.length > 0) {
        const [number] = free.splice(this.randomInt(free.length), 1);
        if (await allocations.take(numbers.claim(number!))) return number;
      }
    }
    return undefined;
  }

  private async nodePorts(
    spec: ServiceSpecValue,
    allocations: Allocations,
    report: FieldReport,
  ): Promise<void> {
    const { type, ports = [] } = spec;
    // Requested values are allocated first, so that random allocation can't take one of them.
    for (const [index, { nodePort = 0 }] of ports.entries()) {
      if (nodePort !== 0) await this.givenPort(nodePort, allocations, report.at("ports", index, "nodePort"));
    }
    const checksHealth = type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
    const { healthCheckNodePort = 0 } = spec;
    if (checksHealth && healthCheckNodePort !== 0) {
      await this.givenPort(healthCheckNodePort, allocations, report.at("healthCheckNodePort"));
    }
    if (type === "NodePort" || (type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false)) {
      await this.fillPorts(ports, allocations);
    }
    if (checksHealth && healthCheckNodePort === 0)
      spec.healthCheckNodePort = await this.freePort(allocations);
  }

  /** One port under two protocols has one number on the nodes too. */
  private async fillPorts(
    ports: NonNullable<ServiceSpecValue["ports"]>,
    allocations: Allocations,
  ): Promise<void> {
    const known = new Map<number, { number: number; protocols: Set<string> }>();
    const note = (port: number, protocol: string, number: number) => {
      const found = known.get(port) ?? { number, protocols: new Set() };
      known.set(port, { number: found.number, protocols: found.protocols.add(protocol) });
    };
    for (const { port, protocol = "TCP", nodePort = 0 } of ports)
      if (nodePort !== 0) note(port, protocol, nodePort);
    for (const one of ports) {
      if ((one.nodePort ?? 0) !== 0) continue;
      const { port, protocol = "TCP" } = one;
      const shared = known.get(port);
      const mayShare = shared !== undefined && !shared.protocols.has(protocol);
      one.nodePort = mayShare ? shared.number : await this.freePort(allocations);
      note(port, protocol, one.nodePort);
    }
  }

  private async givenPort(port: number, allocations: Allocations, place: FieldReport): Promise<void> {
    const { first, last } = this.ports;
    if (allocations.has(`ports/${port}`)) return;
    if (port < first || port > last) {
      place.invalid(
        port,
        `provided port is not in the valid range. The range of valid ports is ${first}-${last}`,
      );
    } else if (!(await allocations.take(`ports/${port}`))) {
      place.invalid(port, "provided port is already allocated");
    }
  }
}

/** The claims of one write; a dry run only checks which are free. */
class Allocations {
  private readonly taken = new Set<ClaimName>();

  constructor(
    private readonly claims: Claims,
    private readonly owner: string,
    private readonly before: ReadonlySet<ClaimName>,
    private readonly dryRun: boolean,
  ) {}

  /** Whether the service has a claim already, from before or by this write. */
  has(name: ClaimName): boolean {
    return this.before.has(name) || this.taken.has(name);
  }

  /** Takes a claim that the service doesn't have; false when any service, also this one, has it. */
  async take(name: ClaimName): Promise<boolean> {
    if (this.has(name) || (await this.claims.owner(name)) !== undefined) return false;
    if (!this.dryRun && !(await this.claims.take(name, this.owner))) return false;
    this.taken.add(name);
    return true;
  }

  /** Gives back what was taken. */
  async undo(): Promise<void> {
    if (this.dryRun) return;
    for (const name of this.taken) await this.claims.release(name, this.owner);
  }
}

function ownerOf({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

function addressClaim(address: string): ClaimName {
  return `addresses/${canonicalAddress(address)}`;
}

/** What a service has. */
function claimsOf(object: ApiObject): Set<ClaimName> {
  const {
    clusterIPs = [],
    clusterIP,
    ports = [],
    healthCheckNodePort = 0,
  } = (object["spec"] ?? {}) as ServiceSpecValue;
  const claims = new Set<ClaimName>();
  const addresses = clusterIPs.length > 0 ? clusterIPs : clusterIP === undefined ? [] : [clusterIP];
  for (const address of addresses) {
    if (address !== "" && address !== "None") claims.add(addressClaim(address));
  }
  for (const { nodePort = 0 } of ports) if (nodePort !== 0) claims.add(`ports/${nodePort}`);
  if (healthCheckNodePort !== 0) claims.add(`ports/${healthCheckNodePort}`);
  return claims;
}
