import type { HttpService } from "../../http/service.ts";
import type { ServerOptions } from "../options/server-options.ts";
import { listen, type HttpListener } from "../../http/transport/listener.ts";
import { handle } from "../../http/pipeline.ts";
import { mayUpgrade } from "../../http/verbs/connect.ts";
import type { Client } from "../../resources/clients/client.ts";
import type { Registry } from "../../resources/registry/registry.ts";
import type { Opened } from "../start/opened.ts";
import { publishPresence } from "../../controllers/api-service/presence.ts";
import { featureGates } from "../features/enabled-features.ts";
import { renewCertificates } from "../certificates/renewal.ts";
import type { Serving } from "../certificates/serving.ts";

/** Time for running requests to finish after the server begins to stop. */
const drainMs = 5000;

/** The dependencies of the listener. */
interface Parts {
  readonly options: ServerOptions;
  readonly serving: Serving | undefined;
  readonly service: HttpService;
  readonly client: Client;
  readonly registry: Registry;
  /** Publishes the CA certificates for client certificates again. */
  readonly publishTrust: () => Promise<void>;
  /** Registers what to close on stop. */
  readonly opened: Opened;
}

/**
 * Opens the socket, publishes the server's address, and starts the renewal of certificates. Returns undefined if the
 * options ask for no socket.
 */
export async function startListening(parts: Parts): Promise<HttpListener | undefined> {
  const { options, serving, service, client, registry, publishTrust, opened } = parts;
  if (serving === undefined) {
    opened.add(service.streams, (streams) => streams.drain());
    return undefined;
  }
  const listener = opened.add(await open(serving, service), async (one) => {
    const stopped = one.close(drainMs);
    service.streams.drain();
    await stopped;
  });
  const { advertiseAddress, serviceClusterIpRanges, identityLease } = options;
  const presence = await publishPresence({
    ...options,
    registry,
    client,
    advertiseAddress,
    host: options.host,
    port: listener.port,
    clusterIpRange: serviceClusterIpRanges[0] ?? "",
    isLeased: identityLease && featureGates(options).enabled("APIServerIdentity"),
  });
  opened.add(presence, (one) => one?.close());
  opened.add(await renewCertificates(options, serving, listener, publishTrust), (renewal) => renewal.close());
  return listener;
}

async function open(serving: Serving, service: HttpService): Promise<HttpListener> {
  const listener = await listen(
    {
      ...serving.listen,
      observer: service.clients,
      guard: service.guard,
      backlog: service.backlog,
      turns: service.turns,
    },
    (exchange) => handle(service, exchange),
    (method, url, protocol) => mayUpgrade(service, method, url, protocol),
  );
  service.backends.follow((sockets) => listener.leaveOut(sockets));
  return listener;
}
