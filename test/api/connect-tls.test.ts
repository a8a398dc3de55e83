import { writeFileSync } from "node:fs";
import path from "node:path";
import type { TLSSocket } from "node:tls";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import {
  createServingCertificates,
  issueClientCertificate,
} from "../../src/base/certificates/serving-certificates.ts";
import { answerOf, http2Session } from "../robustness/support.ts";
import { FakeBackend, makeNode, makePod } from "../support/backends.ts";
import { plinthHere } from "../support/program-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { TestServer } from "../support/api.ts";

const log = "/api/v1/namespaces/default/pods/pod/log";

describe("TLS to node agents", () => {
  const folder = temporaryFolder();
  const own = createServingCertificates(["127.0.0.1", "localhost"], systemClock);
  const foreign = createServingCertificates(["127.0.0.1"], systemClock);
  const misnamed = createServingCertificates(["elsewhere.example"], systemClock);
  const client = issueClientCertificate(
    { certificate: own.caCertificate, key: own.caKey! },
    { commonName: "server", organizations: ["agents"], days: 1 },
    systemClock,
  );
  const file = (name: string, text: string): string => {
    const place = path.join(folder.path, name);
    writeFileSync(place, text);
    return place;
  };
  const ca = file("ca.crt", own.caCertificate);
  const cert = file("client.crt", client.certificate);
  const key = file("client.key", client.key);
  let agents: FakeBackend[] = [];
  let servers: TestServer[] = [];
  afterEach(async () => {
    await Promise.all([...servers, ...agents].map((one) => one.close()));
    agents = [];
    servers = [];
  });
  afterAll(() => folder.remove());

  /** A server with a pod on a node whose agent has these certificates. */
  async function start(
    shown: typeof own,
    connections: object,
    address = "127.0.0.1",
    featureGates = "",
  ): Promise<{ server: TestServer; peers: unknown[] }> {
    const peers: unknown[] = [];
    const agent = await FakeBackend.start(
      (request, response) => {
        const socket = request.socket as TLSSocket;
        peers.push(socket.authorized ? socket.getPeerCertificate().subject.CN : undefined);
        response.end("line");
      },
      {
        tls: {
          cert: shown.serving.certificate,
          key: shown.serving.key,
          ca: own.caCertificate,
          requestCert: true,
          rejectUnauthorized: false,
        },
      },
    );
    const server = await TestServer.start({
      connections: { allowLoopback: true, ...connections },
      featureGates,
    });
    agents.push(agent);
    servers.push(server);
    await makeNode(server.admin, "node", { Hostname: address }, agent.port);
    await makePod(server.admin, "pod", { node: "node", ip: "127.0.0.1" });
    return { server, peers };
  }

  test("any agent certificate is accepted without a CA file", async () => {
    const { server, peers } = await start(foreign, {});
    expect((await server.admin.get(log)).status).toBe(200);
    expect(peers).toEqual([undefined]);
  });

  test.each(["127.0.0.1", "localhost"])(
    "with a CA file, the agent's certificate for %s is accepted",
    async (address) => {
      const { server } = await start(own, { nodeAgentCaFile: ca }, address);
      expect((await server.admin.get(log)).status).toBe(200);
    },
  );

  test.each([
    ["another authority's", foreign],
    ["one for another name", misnamed],
  ])("with a CA file, %s is rejected, whatever the client's Host header", async (what, shown) => {
    const authority = what.startsWith("one") ? file("other.crt", misnamed.caCertificate) : ca;
    const { server, peers } = await start(shown, { nodeAgentCaFile: authority });
    const session = http2Session(server);
    const authorization = `Bearer ${server.server.adminToken}`;
    for (const place of [log, "/api/v1/nodes/node/proxy/x"]) {
      for (const host of ["127.0.0.1", "elsewhere.example"]) {
        const head = { ":path": place, ":authority": host, authorization };
        const { status, text } = await answerOf(session.request(head));
        expect([status, JSON.parse(text).reason]).toEqual([503, "ServiceUnavailable"]);
        expect(JSON.parse(text).message).toMatch(/certificate|altnames/);
      }
    }
    session.close();
    expect(peers).toEqual([]);
    expect((await server.admin.get(`${log}?insecureSkipTLSVerifyBackend=true`)).status).toBe(200);
  });

  test("the server's client certificate is sent to agents, not to pods", async () => {
    const files = { nodeAgentCaFile: ca, nodeAgentCertFile: cert, nodeAgentKeyFile: key };
    const { server, peers } = await start(own, files);
    expect((await server.admin.get(log)).status).toBe(200);
    const [agent] = agents;
    const proxied = `/api/v1/namespaces/default/pods/https:pod:${agent!.port}/proxy/`;
    expect((await server.admin.get(proxied)).status).toBe(200);
    expect(peers).toEqual(["server", undefined]);
  });

  const serve = (...flags: string[]) =>
    plinthHere("serve", `--data-dir=${path.join(folder.path, "data")}`, "--secure-port=0", ...flags);

  test.each([
    [
      ["--kubelet-certificate-authority=/nowhere"],
      /--kubelet-certificate-authority \/nowhere: the file doesn't exist/,
    ],
    [
      [`--kubelet-certificate-authority=${key}`],
      /--kubelet-certificate-authority \S+: holds no certificate in PEM/,
    ],
    [
      [`--kubelet-client-certificate=${cert}`],
      /--kubelet-client-certificate and --kubelet-client-key are given together/,
    ],
    [
      [`--kubelet-client-key=${key}`],
      /--kubelet-client-certificate and --kubelet-client-key are given together/,
    ],
    [[`--kubelet-client-certificate=${cert}`, "--kubelet-client-key=/nowhere"], /\/nowhere doesn't exist/],
    [
      [`--kubelet-client-certificate=${ca}`, `--kubelet-client-key=${key}`],
      /client\.key is not the key of \S+ca\.crt/,
    ],
    [
      ["--kubelet-preferred-address-types=InternalIP,Nope"],
      /--kubelet-preferred-address-types: "Nope" is not one of Hostname,/,
    ],
    [["--kubelet-preferred-address-types="], /--kubelet-preferred-address-types: "" is not one of/],
    [["--kubelet-timeout=0s"], /--kubelet-timeout: must be longer than 0s/],
    [["--allow-loopback-connections=maybe"], /--allow-loopback-connections: "maybe" is not true or false/],
  ])("serve %s fails with a clear message", async (flags, message) => {
    const { code, stderr } = await serve(...flags);
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("    at ");
    expect(code).toBeGreaterThan(0);
  });
});
