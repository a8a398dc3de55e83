import { useServer } from "../support/use-server.ts";
import type { RequestListener } from "node:http";
import { afterAll, afterEach, beforeAll } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import { head, portOf, RawConnection } from "../robustness/support.ts";
import { FakeBackend, makeNode, makePod, upgradeEcho, type UpgradeListener } from "../support/backends.ts";
import { grant, until } from "./support.ts";

export const pods = "/api/v1/namespaces/default/pods";
export const upgrade = ["Connection: Upgrade", "Upgrade: SPDY/3.1"];
const { serving } = createServingCertificates(["localhost"], systemClock);
const tls = { cert: serving.certificate, key: serving.key };
const plain: RequestListener = (request, response) => response.end(`plain ${request.url}`);

/** Starts a server, a node agent and a pod; `streams.onUpgrade` serves upgraded connections. */
export function useStreamingPods() {
  const server = useServer({
    users: [{ name: "watcher" }, { name: "runner" }],
    connections: { allowLoopback: true },
  });
  const streams = {
    ...({} as { backend: FakeBackend; agent: FakeBackend }),
    onUpgrade: upgradeEcho as UpgradeListener,
  };
  beforeAll(async () => {
    const listen: UpgradeListener = (request, socket, first) => streams.onUpgrade(request, socket, first);
    streams.backend = await FakeBackend.start(plain, { upgrade: listen });
    streams.agent = await FakeBackend.start(plain, { tls, upgrade: listen });
    await makeNode(server.admin, "node", { InternalIP: "127.0.0.1" }, streams.agent.port);
    await makePod(server.admin, "pod", { ip: "127.0.0.1", port: streams.backend.port, node: "node" });
    await makePod(server.admin, "two", { node: "node", containers: ["a", "b"] });
    await makePod(server.admin, "waiting");
    const rule = (verbs: string[], resources: string[]) => ({ verbs, apiGroups: [""], resources });
    await grant(server.admin, "watcher", [rule(["get"], ["pods", "pods/exec"])]);
    await grant(server.admin, "runner", [rule(["create"], ["pods/exec"])]);
  });
  afterEach(async () => {
    streams.onUpgrade = upgradeEcho;
    await until(
      () => streams.backend.sockets.size + streams.agent.sockets.size,
      (open) => open === 0,
    );
  });
  afterAll(async () => {
    await streams.backend.close();
    await streams.agent.close();
  });
  /** Sends the head of a request together with following bytes. */
  async function send(
    line: string,
    headers: readonly string[] = upgrade,
    first = "",
  ): Promise<RawConnection> {
    const connection = await RawConnection.open(portOf(server));
    return connection.write(head(server, line, ...headers) + first);
  }

  return { server, streams, send };
}
