import { createYielder } from "../../base/turns/yielding.ts";
import type { AddressRange } from "./address-range.ts";

/** An IPAddress object. */
export interface AddressObject {
  /** The address in canonical form. */
  readonly address: string;
  readonly uid: string;
  /** `namespace/name` of the service that it refers to; undefined if it refers to something else. */
  readonly owner: string | undefined;
  /** Whether a server created it for a service. */
  readonly isManaged: boolean;
  /** Time of its creation, in milliseconds since 1970. */
  readonly createdMs: number;
}

/** The IPAddress objects of services, and the ranges of ServiceCIDR objects, in releases that have them. */
export interface AddressObjects {
  /** Creates the object of an address for a service (`namespace/name`); false if the address has an object. */
  create(address: string, owner: string): Promise<boolean>;
  /** Reads the object of an address; undefined if there is none. */
  find(address: string): Promise<AddressObject | undefined>;
  /** Deletes an object; does nothing if it was deleted or replaced by another one. */
  remove(object: AddressObject): Promise<void>;
  /** Every object. */
  all(): Promise<readonly AddressObject[]>;
  /** Whether the ServiceCIDR of the server's ranges is being deleted, so that no addresses of them are allocated. */
  isOwnRangeDeleted(): Promise<boolean>;
  /** Returns the usable ranges of other ServiceCIDR objects than that of the server. */
  furtherRanges(): Promise<readonly AddressRange[]>;
}

/** An object that no service has needed for this time is deleted. */
const leakedMs = 60_000;

/** What {@link repairObjects} needs. */
export interface ObjectRepair {
  readonly objects: AddressObjects;
  /** The services of addresses, as `namespace/name`. Changed by the repair. */
  readonly needed: Map<string, string>;
  /** Whether a service needs an address now. */
  readonly isNeeded: (address: string, owner: string) => Promise<boolean>;
  /** The current time, in milliseconds since 1970. */
  readonly nowMs: number;
}

/**
 * Creates missing objects, replaces those that refer to something else than the service of their address, and deletes those that servers
 * created and no service needs.
 *
 * @returns whether some objects may have to be deleted later.
 * @throws {StatusError}
 */
export async function repairObjects({ objects, needed, isNeeded, nowMs }: ObjectRepair): Promise<boolean> {
  let isEarly = false;
  const yieldIfDue = createYielder();
  for (const object of await objects.all()) {
    const { address, owner, isManaged, createdMs } = object;
    const service = needed.get(address);
    if (service !== undefined) {
      if (owner === service) needed.delete(address);
      else if (await isNeeded(address, service)) await objects.remove(object);
    } else if (isManaged) {
      if (nowMs - createdMs <= leakedMs) isEarly = true;
      else if (owner === undefined || !(await isNeeded(address, owner))) await objects.remove(object);
    }
    await yieldIfDue();
  }
  for (const [address, service] of needed) {
    if (await isNeeded(address, service)) await objects.create(address, service);
    await yieldIfDue();
  }
  return isEarly;
}
