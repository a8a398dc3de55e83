import { apiGroup, labelKey } from "../../vocabulary/names.ts";
import { isIPv4 } from "node:net";
import type { IPAddressV1 } from "../../kinds/networking/ip-address.ts";
import type { ServiceCIDRV1 } from "../../kinds/networking/service-cidr.ts";
import type { Client } from "../../resources/clients/client.ts";
import { isRaced, unlessRaced } from "../../resources/clients/races.ts";
import type { AddressObject, AddressObjects } from "../../resources/services/address-objects.ts";
import { AddressRange } from "../../resources/services/address-range.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { isUsable } from "./usable-ranges.ts";

/**
 * Reads and writes IPAddress objects through a client.
 *
 * @param apiVersion a served version of IPAddress.
 * @param rangesVersion a served version of ServiceCIDR; undefined if there is none.
 */
export function addressObjects(
  client: () => Client,
  { domain, groupSuffix, apiServiceName }: Vocabulary,
  apiVersion: string,
  rangesVersion: string | undefined,
): AddressObjects {
  const kind = "IPAddress";
  const managedBy = labelKey(domain, "managed-by", "ipaddress");
  const manager = apiGroup(groupSuffix, "ipallocator");
  const read = ({ metadata, spec }: IPAddressV1): AddressObject => {
    const { group = "", resource = "", namespace = "", name = "" } = spec?.parentRef ?? {};
    return {
      address: metadata.name!,
      uid: metadata.uid!,
      owner: group === "" && resource === "services" ? `${namespace}/${name}` : undefined,
      isManaged: metadata.labels?.[managedBy] === manager,
      createdMs: Date.parse(metadata.creationTimestamp!),
    };
  };
  return {
    async create(address, owner) {
      const [namespace, name] = owner.split("/");
      const labels = {
        [labelKey(domain, "ip-family", "ipaddress")]: isIPv4(address) ? "IPv4" : "IPv6",
        [managedBy]: manager,
      };
      const spec = { parentRef: { resource: "services", namespace, name } };
      try {
        await client().add({ apiVersion, kind, metadata: { name: address, labels }, spec });
        return true;
      } catch (error) {
        if (isRaced(error)) return false;
        throw error;
      }
    },
    async find(address) {
      const object = await client().find<IPAddressV1>({ apiVersion, kind, name: address });
      return object && read(object);
    },
    remove: ({ address, uid }) =>
      unlessRaced(() => client().delete({ apiVersion, kind, name: address }, { uid })),
    async all() {
      return (await client().list<IPAddressV1>({ apiVersion, kind })).items.map(read);
    },
    async isOwnRangeDeleted() {
      if (rangesVersion === undefined) return false;
      const reference = { apiVersion: rangesVersion, kind: "ServiceCIDR", name: apiServiceName };
      return (await client().find<ServiceCIDRV1>(reference))?.metadata.deletionTimestamp !== undefined;
    },
    async furtherRanges() {
      if (rangesVersion === undefined) return [];
      const reference = { apiVersion: rangesVersion, kind: "ServiceCIDR" };
      const { items } = await client().list<ServiceCIDRV1>(reference);
      const others = items.filter((range) => range.metadata.name !== apiServiceName && isUsable(range));
      const texts = new Set(others.flatMap(({ spec }) => spec?.cidrs ?? []));
      return [...texts].flatMap((text) => AddressRange.parse(text) ?? []);
    },
  };
}
