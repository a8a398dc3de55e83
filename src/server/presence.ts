import { hostname, networkInterfaces } from "node:os";
import { StatusError } from "../base/status-error.ts";
import { reconcileApiEndpoints, type ServerAddress } from "../controllers/api-service/endpoints.ts";
import { ensureApiService } from "../controllers/api-service/service.ts";
import { IdentityLease, leaseRenewMs } from "../controllers/identity-lease.ts";
import { Lease } from "../kinds/coordination/lease.ts";
import { Endpoints } from "../kinds/core/endpoints.ts";
import { Service } from "../kinds/core/service/service.ts";
import { EndpointSlice } from "../kinds/discovery/endpoint-slice.ts";
import { reachableAddress } from "../kinds/checks/addresses.ts";
import type { HttpListener } from "../http/transport/listener.ts";
import type { Client } from "../resources/client.ts";
import type { Registry } from "../resources/registry.ts";
import { AddressRange } from "../resources/services/address-range.ts";
import { FieldReport } from "../schema/faults.ts";
import { Periodic } from "../storage/periodic.ts";
import { featureGates } from "./features.ts";
import { stackOf, type ServerOptions } from "./options.ts";

/** What a server publishes of itself while it runs. */
export interface Presence {
  /** Takes back what ends with the server. */
  close(): Promise<void>;
}

/**
 * Publishes where the API is: its own Service with endpoints, and the lease of this server. That it can't be published
 * keeps nobody from being served: it is logged, and tried again with each renewal.
 */
export async function publishPresence(
  options: ServerOptions,
  registry: Registry,
  client: Client,
  listener: HttpListener,
): Promise<Presence | undefined> {
  if (![Service, Endpoints, EndpointSlice, Lease].every((kind) => registry.serves(kind))) return undefined;
  const { clock, log, vocabulary } = options;
  const { port } = listener;
  const address = addressOf(options, port);
  const lease = new IdentityLease(client, vocabulary, clock, { hostname: hostname(), port, address });
  const isLeased = (options.identityLease ?? false) && featureGates(options).enabled("APIServerIdentity");
  const publishEndpoints = async () => {
    if (isLeased) await lease.renew();
    const addresses = isLeased ? await lease.livingAddresses() : address === undefined ? [] : [address];
    if (addresses.length > 0) await reconcileApiEndpoints(client, vocabulary, addresses);
  };
  // At the same time, so that what is written is synced as one.
  const publish = async () => {
    const service = ensureApiService(client, vocabulary, { clusterIp: firstAddress(options), port });
    await Promise.all([service, publishEndpoints()]);
  };
  const failed = (error: unknown) => {
    // Another server that starts at the same time may have taken the address, and be about to make the Service.
    if (error instanceof StatusError && error.reason === "Invalid") {
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
 * Where others reach the server: the advertised address, else the one it listens on. A server that listens on all
 * addresses, or on loopback only, gives the first one of this machine's, as the reference does.
 */
function addressOf({ advertiseAddress, serving }: ServerOptions, port: number): ServerAddress | undefined {
  const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  const own = interfaces.filter(({ internal }) => !internal).map(({ address }) => address);
  const ip = [advertiseAddress, serving?.host, ...own].find((one) => one !== undefined && isReachable(one));
  return ip === undefined ? undefined : { ip, port };
}

function isReachable(address: string): boolean {
  const report = FieldReport.start();
  reachableAddress(address, report);
  return report.faults.length === 0;
}

function firstAddress({ serviceClusterIpRanges: [range = ""] }: ServerOptions): string | undefined {
  return AddressRange.parse(range)?.at(0);
}
