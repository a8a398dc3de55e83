import { StatusError } from "../../base/status-error.ts";
import { createYielder } from "../../base/turns/yielding.ts";
import { FieldReport, invalidError } from "../../schema/faults.ts";
import type { ApiObject } from "../../schema/kind.ts";
import type { Entry, Store } from "../../storage/store.ts";
import { decodeEntry } from "../objects/stored.ts";
import { repairObjects, type AddressObjects } from "./address-objects.ts";
import type { AddressRange } from "./address-range.ts";
import { Allocations } from "./allocations.ts";
import { addressClaim, addressIn, Claims, claimsOf, type Claim, type ClaimName } from "./claims.ts";
import { settleFamilies, type Family, type ServiceSpecValue } from "./families.ts";
import type { StorageHooks, PendingWrite } from "../engine/storage-hooks.ts";

/** Range of node ports, inclusive. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Random attempts to claim an address or port before all claims are read. */
const randomAttempts = 8;

/** Attempts to release a claim while other requests change its service. */
const releaseAttempts = 16;

/** Addresses of a range, or ports, by number. */
interface Numbers {
  readonly sort: "addresses/" | "ports/";
  readonly claim: (number: number) => ClaimName;
  /** The number of a claimed address or port; undefined if it isn't in the range. */
  readonly numberOf: (claimed: string) => number | undefined;
}

/** Dependencies of the allocation. */
export interface AllocationSetup {
  readonly store: Store;
  /** Store prefix of services. */
  readonly prefix: string;
  readonly ranges: readonly AddressRange[];
  readonly ports: PortRange;
  /** Number of node ports at the beginning of the range that are allocated only if no other is free. */
  readonly reservedPorts: number;
  /** Absent in releases without IPAddress objects. */
  readonly objects?: AddressObjects | undefined;
  /** Returns a random integer of at least 0 and less than `limit`. */
  readonly randomInt: (limit: number) => number;
  /** Called when an unneeded claim could not be released, so that an audit must do it; with the error of the store, if any. */
  readonly leftBehind: (error: unknown) => void;
}

/**
 * Allocates the addresses and node ports of services, and releases unneeded ones. A requested one that another service has is refused;
 * others are chosen at random.
 */
export class ServiceAllocation implements StorageHooks {
  private readonly claims: Claims;

  constructor(private readonly setup: AllocationSetup) {
    this.claims = new Claims(setup.store);
  }

  /** @throws {StatusError} Invalid if a requested address or port can't be allocated. */
  async beforeWrite(object: ApiObject, live: ApiObject | undefined, dryRun: boolean): Promise<PendingWrite> {
    const owner = ownerOf(object);
    const spec = (object["spec"] ??= {}) as ServiceSpecValue;
    const report = FieldReport.start();
    const before = live === undefined ? new Set<ClaimName>() : claimsOf(live);
    const allocations = new Allocations(this.claims, this.setup.objects, owner, before, dryRun);
    const undo = () => this.release(dryRun ? [] : allocations.acquired, owner);
    try {
      settleFamilies(spec, this.setup.ranges, report.at("spec"), (live?.["spec"] ?? {}) as ServiceSpecValue);
      if (report.faults.length === 0) {
        await this.addresses(spec, allocations, report.at("spec"));
        await this.nodePorts(spec, allocations, report.at("spec"));
      }
      if (report.faults.length > 0) {
        throw invalidError({ kind: "Service", group: "", name: object.metadata.name ?? "" }, report.faults);
      }
    } catch (error) {
      await undo();
      throw error;
    }
    const after = claimsOf(object);
    const unused = dryRun ? [] : [...before].filter((name) => !after.has(name));
    return { undo, finish: () => this.release(unused, owner) };
  }

  async afterDelete(object: ApiObject): Promise<void> {
    await this.release(claimsOf(object), ownerOf(object));
  }

  /**
   * Creates missing claims and returns those that no service needs, for example after a crash between the writes of claim and service.
   * A returned claim may be that of a service that is being created; it is stale only if it is still unneeded some time later.
   *
   * Repairs IPAddress objects too.
   *
   * @param services reads all stored services.
   * @param nowMs the current time, in milliseconds since 1970.
   * @throws {StoreError}
   */
  async audit(services: () => AsyncIterable<Entry>, nowMs: number): Promise<Audit> {
    const yieldIfDue = createYielder();
    const { objects } = this.setup;
    const needed = new Map<string, string>();
    const unneeded = new Map<ClaimName, Claim>();
    const owners = new Map<ClaimName, string>();
    for await (const claim of this.claims.all()) {
      unneeded.set(claim.name, claim);
      owners.set(claim.name, claim.owner);
      const turn = yieldIfDue();
      if (turn !== undefined) await turn;
    }
    for await (const entry of services()) {
      const service = decodeEntry(entry);
      const owner = ownerOf(service);
      for (const name of claimsOf(service)) {
        const claimant = owners.get(name);
        const address = addressIn(name);
        if (objects !== undefined && address !== undefined) needed.set(address, owner);
        if (claimant === owner) unneeded.delete(name);
        else if (claimant === undefined) {
          await this.claims.acquire(name, owner, [{ key: entry.key, revision: entry.revision }]);
        }
      }
      const turn = yieldIfDue();
      if (turn !== undefined) await turn;
    }
    if (objects === undefined) return { unneeded, hasRecentObjects: false };
    const isNeeded = (address: string, owner: string) => this.isNeeded(addressClaim(address), owner);
    return { unneeded, hasRecentObjects: await repairObjects({ objects, needed, isNeeded, nowMs }) };
  }

  /** Whether a service has an address or port. */
  private async isNeeded(name: ClaimName, owner: string): Promise<boolean> {
    const entry = await this.setup.store.get(this.setup.prefix + owner);
    return entry !== undefined && claimsOf(decodeEntry(entry)).has(name);
  }

  /**
   * Releases a claim unless its owner needs it, in one transaction.
   *
   * @returns false if the claim or its owner was changed concurrently; then nothing was released.
   * @throws {StoreError}
   */
  async releaseUnneeded(claim: Claim): Promise<boolean> {
    const key = this.setup.prefix + claim.owner;
    const entry = await this.setup.store.get(key);
    if (entry !== undefined && claimsOf(decodeEntry(entry)).has(claim.name)) return true;
    await this.removeObject(claim);
    return await this.claims.release(claim, [{ key, revision: entry?.revision ?? 0 }]);
  }

  /** Deletes the IPAddress object of a claim, before the claim, so that no other service has the address. */
  private async removeObject({ name, owner }: Claim): Promise<void> {
    const address = addressIn(name);
    const { objects } = this.setup;
    if (objects === undefined || address === undefined) return;
    const object = await objects.find(address);
    if (object?.owner === owner) await objects.remove(object);
  }

  /**
   * Releases the claims that an owner no longer needs. The outcome of the write is already decided, so a failed release doesn't fail it and
   * is left to the audit.
   */
  private async release(names: Iterable<ClaimName>, owner: string): Promise<void> {
    try {
      for (const name of names) {
        if (!(await this.releaseOwn(name, owner))) this.setup.leftBehind(undefined);
      }
    } catch (error) {
      this.setup.leftBehind(error);
    }
  }

  /** Releases a claim of an owner unless it needs it; tries again while others change the owner. Returns false if they do so too often. */
  private async releaseOwn(name: ClaimName, owner: string): Promise<boolean> {
    for (let attempt = 0; attempt < releaseAttempts; attempt++) {
      const claim = await this.claims.find(name);
      if (claim?.owner !== owner || (await this.releaseUnneeded(claim))) return true;
    }
    return false;
  }

  private async addresses(
    spec: ServiceSpecValue,
    allocations: Allocations,
    report: FieldReport,
  ): Promise<void> {
    if (spec.type === "ExternalName" || spec.clusterIP === "None") return;
    const requested = spec.clusterIPs ?? [];
    const addresses: string[] = [];
    const own = await this.ownRanges();
    for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
      const ranges = own.filter((one) => one.family === family);
      const address = requested[index];
      if (address === undefined || address === "")
        addresses.push(await this.freeAddress(ranges, family, allocations));
      else {
        addresses.push(address);
        const field = report.at("clusterIPs");
        if (allocations.has(addressClaim(address))) continue;
        if (!(await this.isInRange(address, ranges))) {
          const where = `it is not in the range ${rangesText(ranges)}`;
          field.invalid(requested, `failed to allocate IP ${address}: ${where}`);
        } else if (!(await allocations.acquire(addressClaim(address)))) {
          field.invalid(requested, `failed to allocate IP ${address}: provided IP is already allocated`);
        }
      }
    }
    spec.clusterIPs = addresses;
    if (addresses[0] !== undefined) spec.clusterIP = addresses[0];
  }

  /** Claims a free address of the server's ranges, or of further ones if those are full. */
  private async freeAddress(
    ranges: readonly AddressRange[],
    family: Family,
    allocations: Allocations,
  ): Promise<string> {
    const address = await this.freeIn(ranges, allocations);
    if (address !== undefined) return address;
    const further = (await this.furtherRanges()).filter((one) => one.family === family);
    const other = await this.freeIn(further, allocations);
    if (other !== undefined) return other;
    throw new StatusError(
      "InternalError",
      `failed to allocate a service IP: the range ${rangesText(ranges)} is full`,
    );
  }

  /** The ranges of the server, unless their ServiceCIDR is being deleted. */
  private async ownRanges(): Promise<readonly AddressRange[]> {
    const { objects, ranges } = this.setup;
    return objects !== undefined && (await objects.isOwnRangeDeleted()) ? [] : ranges;
  }

  /** The ranges of further ServiceCIDRs, which are read only when they are needed. */
  private async furtherRanges(): Promise<readonly AddressRange[]> {
    return (await this.setup.objects?.furtherRanges()) ?? [];
  }

  private async isInRange(address: string, own: readonly AddressRange[]): Promise<boolean> {
    const contains = (range: AddressRange) => range.contains(address);
    return own.some(contains) || (await this.furtherRanges()).some(contains);
  }

  /** Claims a free address of the first range that has one; those at the beginning of the range only if no other is free. */
  private async freeIn(
    ranges: readonly AddressRange[],
    allocations: Allocations,
  ): Promise<string | undefined> {
    for (const range of ranges) {
      const { reserved, size } = range;
      const numbers: Numbers = {
        sort: "addresses/",
        claim: (index) => addressClaim(range.at(index)),
        numberOf: (address) => range.indexOf(address),
      };
      const index = await this.choose(numbers, [reserved, size, 0, reserved], allocations);
      if (index !== undefined) return range.at(index);
    }
    return undefined;
  }

  private async freePort(allocations: Allocations): Promise<number> {
    const { reservedPorts } = this.setup;
    const { first, last } = this.setup.ports;
    const dynamic = first + reservedPorts;
    const numbers: Numbers = { sort: "ports/", claim: (port) => `ports/${port}`, numberOf: Number };
    const port = await this.choose(numbers, [dynamic, last + 1, first, dynamic], allocations);
    if (port !== undefined) return port;
    throw new StatusError(
      "InternalError",
      `failed to allocate a nodePort: the range ${first}-${last} is full`,
    );
  }

  /**
   * Claims a random free number; undefined if there is none.
   *
   * @param spans bounds of ranges of numbers: inclusive start, exclusive end; a later range is used only if the earlier ones are full.
   */
  private async choose(
    numbers: Numbers,
    spans: readonly number[],
    allocations: Allocations,
  ): Promise<number | undefined> {
    const [from = 0, to = 0] = spans;
    for (let guess = 0; guess < randomAttempts; guess++) {
      const number = from + this.setup.randomInt(to - from);
      if (await allocations.acquire(numbers.claim(number))) return number;
    }
    const { objects } = this.setup;
    let knowsObjects = objects === undefined || numbers.sort === "ports/";
    const claimed = new Set<number | undefined>();
    for await (const one of this.claims.claimed(numbers.sort)) claimed.add(numbers.numberOf(one));
    for (let at = 0; at < spans.length; at += 2) {
      let free: number[] = [];
      for (let number = spans[at]!; number < spans[at + 1]!; number++) {
        if (!claimed.has(number)) free.push(number);
      }
      // Another write may claim a number first, and an address may have an object of something else.
      while (free.length > 0) {
        const [number] = free.splice(this.setup.randomInt(free.length), 1);
        if (await allocations.acquire(numbers.claim(number!))) return number;
        if (knowsObjects) continue;
        knowsObjects = true;
        for (const { address } of await objects!.all()) claimed.add(numbers.numberOf(address));
        free = free.filter((one) => !claimed.has(one));
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
      if (nodePort !== 0)
        await this.requestedPort(nodePort, allocations, report.at("ports", index, "nodePort"));
    }
    const checksHealth = type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
    const { healthCheckNodePort = 0 } = spec;
    if (checksHealth && healthCheckNodePort !== 0) {
      await this.requestedPort(healthCheckNodePort, allocations, report.at("healthCheckNodePort"));
    }
    if (type === "NodePort" || (type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false)) {
      await this.fillPorts(ports, allocations);
    }
    if (checksHealth && healthCheckNodePort === 0)
      spec.healthCheckNodePort = await this.freePort(allocations);
  }

  /** Allocates missing node ports. The same port with two protocols gets one node port. */
  private async fillPorts(
    ports: NonNullable<ServiceSpecValue["ports"]>,
    allocations: Allocations,
  ): Promise<void> {
    const assigned = new Map<number, { number: number; protocols: Set<string> }>();
    const note = (port: number, protocol: string, number: number) => {
      const entry = assigned.get(port) ?? { number, protocols: new Set() };
      assigned.set(port, { number: entry.number, protocols: entry.protocols.add(protocol) });
    };
    for (const { port, protocol = "TCP", nodePort = 0 } of ports)
      if (nodePort !== 0) note(port, protocol, nodePort);
    for (const one of ports) {
      if ((one.nodePort ?? 0) !== 0) continue;
      const { port, protocol = "TCP" } = one;
      const shared = assigned.get(port);
      const mayShare = shared !== undefined && !shared.protocols.has(protocol);
      one.nodePort = mayShare ? shared.number : await this.freePort(allocations);
      note(port, protocol, one.nodePort);
    }
  }

  private async requestedPort(port: number, allocations: Allocations, field: FieldReport): Promise<void> {
    const { first, last } = this.setup.ports;
    if (allocations.has(`ports/${port}`)) return;
    if (port < first || port > last) {
      field.invalid(
        port,
        `provided port is not in the valid range. The range of valid ports is ${first}-${last}`,
      );
    } else if (!(await allocations.acquire(`ports/${port}`))) {
      field.invalid(port, "provided port is already allocated");
    }
  }
}

function ownerOf({ metadata }: ApiObject): string {
  return `${metadata.namespace}/${metadata.name}`;
}

/** Result of an audit. */
export interface Audit {
  /** Claims that no service needs. */
  readonly unneeded: ReadonlyMap<ClaimName, Claim>;
  /** Whether some IPAddress objects are too recent to be deleted as unneeded. */
  readonly hasRecentObjects: boolean;
}

function rangesText(ranges: readonly AddressRange[]): string {
  return ranges.map(({ text }) => text).join(", ");
}
