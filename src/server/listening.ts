import { listen, type HttpListener } from "../http/listener.ts";
import { handle } from "../http/pipeline.ts";
import type { HttpService } from "../http/service.ts";
import { mayUpgrade } from "../http/verbs/connect.ts";
import type { Client } from "../resources/client.ts";
import type { Registry } from "../resources/registry.ts";
import type { ServerOptions } from "./options.ts";
import { publishPresence, type Presence } from "./presence.ts";
import { renewCertificates, type Renewal } from "./renewal.ts";
import type { Serving } from "./serving.ts";

/** What a server has once it is reached from outside; without a socket, nothing of it. */
export interface Listening {
  readonly listener: HttpListener | undefined;
  readonly presence: Presence | undefined;
  /** Keeps the certificates up to date. */
  readonly renewal: Renewal | undefined;
}

/** What is needed to be reached. */
interface Parts {
  readonly options: ServerOptions;
  readonly serving: Serving | undefined;
  readonly service: HttpService;
  readonly client: Client;
  readonly registry: Registry;
  /** Publishes the authorities of clients again. */
  readonly tell: () => Promise<void>;
}

/** Opens the socket, publishes where the server is, and keeps its certificates up to date. */
export async function startListening(parts: Parts): Promise<Listening> {
  const { options, serving, service, client, registry, tell } = parts;
  if (serving === undefined) return { listener: undefined, presence: undefined, renewal: undefined };
  const listener = await open(serving, service);
  const presence = await publishPresence(options, registry, client, listener);
  return { listener, presence, renewal: await renewCertificates(options, serving, listener, tell) };
}

async function open(serving: Serving, service: HttpService): Promise<HttpListener> {
  const listener = await listen(
    { ...serving.listen, observer: service.clients, guard: service.guard, unsent: service.unsent },
    (exchange) => handle(service, exchange),
    (method, url) => mayUpgrade(service, method, url),
  );
  service.backends.follow((sockets) => listener.leaveOut(sockets));
  return listener;
}
