import { groupVersion } from "../../vocabulary/names.ts";
import type { ServiceCIDRV1 } from "../../kinds/networking/service-cidr.ts";
import type { Client } from "../../resources/clients/client.ts";
import { same } from "../../kinds/checks/values.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";
import { retryRaced } from "../create-or-update.ts";

const maxAttempts = 3;
const ready = "Ready";

/**
 * Creates the ServiceCIDR with the ranges of the server's options, and sets its condition Ready. A second range is added to an existing
 * one; other ranges aren't changed.
 *
 * @param now the time in RFC 3339.
 */
export async function ensureDefaultServiceCIDR(
  client: Client,
  { apiServiceName: name, groupSuffix }: Vocabulary,
  cidrs: readonly string[],
  now: () => string,
): Promise<void> {
  const reference = { apiVersion: groupVersion(groupSuffix, "networking", "v1"), kind: "ServiceCIDR", name };
  await retryRaced(maxAttempts, async () => {
    const { apiVersion, kind } = reference;
    let object = await client.find<ServiceCIDRV1>(reference);
    if (object === undefined) {
      object = await client.create<ServiceCIDRV1>({
        apiVersion,
        kind,
        metadata: { name },
        spec: { cidrs: [...cidrs] },
      });
    }
    const { spec, status } = object;
    const before = spec?.cidrs ?? [];
    if (before.length === 1 && cidrs.length === 2 && before[0] === cidrs[0]) {
      object = await client.update<ServiceCIDRV1>({
        ...object,
        metadata: { ...object.metadata },
        spec: { cidrs: [...cidrs] },
      });
    } else if (!same(before, cidrs)) return;
    if (status?.conditions?.some(({ type }) => type === ready) === true) return;
    const message = "default Service CIDR is ready";
    const condition = { type: ready, status: "True", reason: "", message, lastTransitionTime: now() };
    await client.update(
      {
        ...object,
        metadata: { ...object.metadata },
        status: { conditions: [...(status?.conditions ?? []), condition] },
      },
      "status",
    );
  });
}
