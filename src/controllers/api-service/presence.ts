import { hostname } from "node:os";
import { StatusError } from "../../base/status-error.ts";
import { reconcileApiEndpoints, type ServerAddress } from "./endpoints.ts";
import { ensureApiService } from "./service.ts";
import { IdentityLease, leaseRenewMs } from "../identity-lease.ts";
import { Lease } from "../../kinds/coordination/lease.ts";
import { Endpoints } from "../../kinds/core/endpoints.ts";
import { Service } from "../../kinds/core/service/service.ts";
import { EndpointSlice } from "../../kinds/discovery/endpoint-slice.ts";
import { reachableAddress } from "../../kinds/checks/addresses.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import { AddressRange } from "../../resources/services/address-range.ts";
import { FieldReport } from "../../schema/faults.ts";
import { Periodic } from "../../storage/periodic.ts";
import { stackOf, type Logger } from "../../base/logger.ts";
import { outsideMachineAddresses } from "../../base/network/ip-address.ts";
import type { Clock } from "../../base/time/clock.ts";
import type { Vocabulary } from "../../vocabulary/vocabulary.ts";

/** Published information about a running server. */
export interface Presence {
  /** Stops the renewal and deletes the lease; the Service and its endpoints remain. */
  close(): Promise<void>;
}

/** Dependencies and settings of {@link publishPresence}. */
export interface PresenceSetup {
  readonly registry: Registry;
  readonly client: Client;
  readonly vocabulary: Vocabulary;
  readonly clock: Clock;
  readonly log: Logger;
  /** Address at which clients reach the server, and the address on which it listens, if set. */
  readonly advertiseAddress: string | undefined;
  readonly host: string | undefined;
  readonly port: number;
  /** Range of service addresses; the API's own Service has the first one. */
  readonly clusterIpRange: string;
  /** Whether the server renews a Lease every ten seconds. */
  readonly isLeased: boolean;
}

/**
 * Publishes the API's own Service with its endpoints, and the lease of this server. A failure doesn't stop the server:
 * it is logged, and retried with each renewal.
 */
export async function publishPresence(setup: PresenceSetup): Promise<Presence | undefined> {
  const { registry, client, vocabulary, clock, log, port, isLeased } = setup;
  if (![Service, Endpoints, EndpointSlice, Lease].every((kind) => registry.serves(kind))) return undefined;
  const address = addressOf(setup);
  const lease = new IdentityLease(client, vocabulary, clock, { hostname: hostname(), port, address });
  const publishEndpoints = async () => {
    if (isLeased) await lease.renew();
    const addresses = isLeased ? await lease.livingAddresses() : address === undefined ? [] : [address];
    if (addresses.length > 0) await reconcileApiEndpoints(client, vocabulary, addresses);
  };
  /** Number of consecutive rejections of the Service. */
  let refusals = 0;
  // Concurrently, so that the writes share a sync.
  const publish = async () => {
    const service = ensureApiService(client, vocabulary, {
      clusterIp: AddressRange.parse(setup.clusterIpRange)?.at(0),
      port,
    });
    await Promise.all([service, publishEndpoints()]);
    refusals = 0;
  };
  const failed = (error: unknown) => {
    if (error instanceof StatusError && error.reason === "Invalid") {
      refusals++;
      // Another starting server may have allocated the address, and be about to create the Service.
      if (isLeased && refusals === 1) return;
      return log.warn({ error: error.message }, "the API's own service is not there yet");
    }
    log.error(
      { error: stackOf(error) },
      "the server's own service and lease could not be brought up to date",
    );
  };
  await publish().catch(failed);
  const renewal = isLeased ? new Periodic(clock, leaseRenewMs, publish, failed) : undefined;
  return {
    async close() {
      await renewal?.stop();
      if (isLeased) await lease.release().catch(failed);
    },
  };
}

/**
 * Returns the address for clients: the advertised address, else the listen address. If the server listens on all
 * addresses or on loopback only, the first address of this machine is used, as in the reference.
 */
function addressOf({ advertiseAddress, host, port }: PresenceSetup): ServerAddress | undefined {
  const ip = [advertiseAddress, host, ...outsideMachineAddresses()].find(
    (one) => one !== undefined && isReachable(one),
  );
  return ip === undefined ? undefined : { ip, port };
}

function isReachable(address: string): boolean {
  const report = FieldReport.start();
  reachableAddress(address, report);
  return report.faults.length === 0;
}
