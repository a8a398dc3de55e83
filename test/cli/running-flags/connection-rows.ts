import { connect, type ConnectionOptions, type TLSSocket } from "node:tls";
import { createServingCertificates } from "../../../src/base/certificates/serving-certificates.ts";
import { authority, client } from "../../authentication/pki.ts";
import { ok } from "../../api/support.ts";
import { echo, FakeBackend, makeNode, makePod, ownAddress, SilentServer } from "../../support/backends.ts";
import { apiService, apiServices, availability, ExtensionServer } from "../../support/extension-server.ts";
import { write } from "./files.ts";
import type { FlagGroup, FlaggedServer } from "./table.ts";

const core = "/api/v1/namespaces/default";
const loopback = "--allow-loopback-connections";

interface Handshake {
  readonly protocol: string | null;
  /** Common name and alternative names of the server's certificate. */
  readonly name: string;
  readonly alternativeNames: string;
}

/** What a client sees of a server's TLS; undefined where it isn't let in. */
function handshake(
  { server }: FlaggedServer,
  options: ConnectionOptions = {},
): Promise<Handshake | undefined> {
  const { hostname: host, port } = new URL(server.url!);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ...options });
    socket.once("secureConnect", () => {
      const { subject, subjectaltname = "" } = socket.getPeerCertificate();
      resolve({ protocol: socket.getProtocol(), name: String(subject.CN), alternativeNames: subjectaltname });
      socket.destroy();
    });
    socket.once("error", () => resolve(undefined));
  });
}

const own = createServingCertificates(["127.0.0.1", "own.example"]).serving;
const ownName = async (server: FlaggedServer) =>
  (await handshake(server))!.alternativeNames.includes("DNS:own.example");

const servingGroups: readonly FlagGroup[] = [
  {
    name: "the listener",
    rows: [
      {
        flag: "tls-min-version",
        value: "VersionTLS13",
        observed: "what a client of TLS 1.2 speaks",
        observe: async (server) => (await handshake(server, { maxVersion: "TLSv1.2" }))?.protocol,
        changed: undefined,
        usual: "TLSv1.2",
      },
      {
        flag: "console",
        value: "false",
        observed: "whether the web console is served",
        observe: async ({ admin }) => (await admin.get("/console/")).status,
        changed: 404,
        usual: 200,
      },
      {
        flag: "tls-san",
        value: "plinth.example",
        observed: "whether the certificate has the name",
        observe: async (server) => (await handshake(server))!.alternativeNames.includes("DNS:plinth.example"),
        changed: true,
        usual: false,
      },
    ],
  },
  {
    name: "the serving certificate",
    rows: [
      {
        flag: "tls-cert-file",
        value: write("serving.crt", own.certificate),
        observed: "whether the certificate is the one of the file",
        observe: ownName,
        changed: true,
        usual: false,
      },
      {
        flag: "tls-private-key-file",
        value: write("serving.key", own.key),
        observed: "whether the server presents the certificate with this key",
        observe: ownName,
        changed: true,
        usual: false,
      },
      {
        flag: "tls-cipher-suites",
        value: "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        observed: "whether a client with another suite of TLS 1.2 is let in",
        observe: async (server) => {
          const other = { maxVersion: "TLSv1.2", ciphers: "ECDHE-ECDSA-AES128-GCM-SHA256" } as const;
          return (await handshake(server, other)) !== undefined;
        },
        changed: false,
        usual: true,
      },
    ],
  },
];

let serverCount = 0;

/** The log of a pod whose node's agent is at a port of this machine. */
async function logFrom({ admin }: FlaggedServer, port: number, addresses: Record<string, string>) {
  const name = `n${++serverCount}`;
  await makeNode(admin, name, addresses, port);
  await makePod(admin, name, { node: name, ip: "127.0.0.1" });
  return admin.get(`${core}/pods/${name}/log`);
}

/** The value of a promise, or `waiting` where it isn't there after some dozen requests. */
async function soon<T>({ admin }: FlaggedServer, promise: Promise<T>): Promise<T | "waiting"> {
  let result: T | "waiting" = "waiting";
  // A request that still waits at the end is broken off.
  promise.then(
    (value) => (result = value),
    () => undefined,
  );
  for (let round = 0; round < 200 && result === "waiting"; round++) await admin.get("/livez");
  return result;
}

async function agentGroups(): Promise<readonly FlagGroup[]> {
  const certificates = createServingCertificates(["127.0.0.1"]);
  const ca = { certificate: certificates.caCertificate, key: certificates.caKey! };
  const identity = client(ca, "the-server");
  const agent = await FakeBackend.start(
    (request, response) => {
      const { authorized, getPeerCertificate } = request.socket as TLSSocket;
      response.end(authorized ? getPeerCertificate.call(request.socket).subject.CN : "nobody");
    },
    {
      tls: {
        cert: certificates.serving.certificate,
        key: certificates.serving.key,
        ca: ca.certificate,
        requestCert: true,
        rejectUnauthorized: false,
      },
    },
  );
  const silent = await SilentServer.start();
  const backend = await FakeBackend.start(echo);
  const proxied = async ({ admin }: FlaggedServer) => {
    const name = `p${++serverCount}`;
    await makePod(admin, name, { ip: "127.0.0.1", port: backend.port });
    return (await admin.get(`${core}/pods/${name}:${backend.port}/proxy/`)).status;
  };
  const caller = async (server: FlaggedServer) =>
    (await logFrom(server, agent.port, { ExternalIP: "127.0.0.1" })).text;
  return [
    {
      name: "connections to this machine",
      rows: [
        {
          flag: "allow-loopback-connections",
          value: "true",
          observed: "the answer to a request that is passed to a pod at 127.0.0.1",
          observe: proxied,
          changed: 200,
          usual: 400,
        },
      ],
    },
    {
      name: "connections to some networks",
      shared: [loopback],
      rows: [
        {
          flag: "proxy-denied-cidrs",
          value: "127.0.0.0/8",
          observed: "the answer to a request that is passed to a pod at 127.0.0.1",
          observe: proxied,
          changed: 400,
          usual: 200,
        },
      ],
    },
    {
      name: "whether node agents are verified",
      shared: [loopback],
      rows: [
        {
          flag: "kubelet-certificate-authority",
          value: write("other-ca.pem", authority().certificate),
          observed: "the answer to a log of a node whose agent has a certificate by another authority",
          observe: async (server) => (await logFrom(server, agent.port, { ExternalIP: "127.0.0.1" })).status,
          changed: 503,
          usual: 200,
        },
      ],
    },
    {
      name: "connections to node agents",
      shared: [loopback],
      rows: [
        {
          flag: "kubelet-client-certificate",
          value: write("agent-client.pem", identity.certificate),
          observed: "who the server is to an agent",
          observe: caller,
          changed: "the-server",
          usual: "nobody",
        },
        {
          flag: "kubelet-client-key",
          value: write("agent-client.key", identity.key),
          observed: "who the server is to an agent",
          observe: caller,
          changed: "the-server",
          usual: "nobody",
        },
        {
          flag: "kubelet-preferred-address-types",
          value: "ExternalIP",
          observed: "whether a node is asked that has an internal address only",
          observe: async (server) => (await logFrom(server, agent.port, { InternalIP: "127.0.0.1" })).status,
          changed: 503,
          usual: 200,
        },
      ],
    },
    {
      name: "the patience with node agents",
      shared: [loopback],
      rows: [
        {
          flag: "kubelet-timeout",
          value: "20ms",
          observed: "whether the answer waits for an agent that says nothing",
          observe: async (server) => {
            const answer = logFrom(server, silent.port, { ExternalIP: "127.0.0.1" });
            const got = await soon(server, answer);
            return got === "waiting" ? got : got.status;
          },
          changed: 504,
          usual: "waiting",
        },
      ],
      async close() {
        await agent.close();
        await silent.close();
        await backend.close();
      },
    },
  ];
}

async function extensionGroups(): Promise<readonly FlagGroup[]> {
  const extension = await ExtensionServer.start();
  const identity = extension.clientCertificate("front");
  const widgets = `${extension.path}/namespaces/default/widgets/one`;
  const registered = async (server: FlaggedServer) => {
    if ((await server.admin.get(`${apiServices}/${extension.name}`)).status === 404)
      await extension.register(server.admin);
    return server.admin.get(widgets);
  };
  const caller = async (server: FlaggedServer) => {
    await registered(server);
    return extension.received.at(-1)!.client;
  };
  return [
    {
      name: "requests that are passed to extension servers",
      shared: [loopback],
      rows: [
        {
          flag: "proxy-client-cert-file",
          value: write("front.pem", identity.certificate),
          observed: "who the server is to an extension server",
          observe: caller,
          changed: "front",
          usual: "",
        },
        {
          flag: "proxy-client-key-file",
          value: write("front.key", identity.key),
          observed: "who the server is to an extension server",
          observe: caller,
          changed: "front",
          usual: "",
        },
        {
          flag: "aggregator-reject-forwarding-redirect",
          value: "false",
          observed: "the answer where an extension server redirects",
          async observe(server) {
            const { answer } = extension;
            extension.answer = (_request, response) => {
              response.writeHead(302, { location: "https://elsewhere.example/" });
              response.end();
            };
            const { status } = await registered(server);
            extension.answer = answer;
            return status;
          },
          changed: 302,
          usual: 502,
        },
      ],
      close: () => extension.close(),
    },
  ];
}

/** An address of this machine's network; endpoints can't be loopback addresses. */
const address = ownAddress();
/** Flags whose effect needs a network. */
export const flagsOfNetworks = address === undefined ? ["enable-aggregator-routing"] : [];

async function routingGroup(at: string): Promise<FlagGroup> {
  const extension = await ExtensionServer.start({ service: "cluster" }, at);
  const network = at.split(".").slice(0, 2).join(".");
  return {
    name: "the routes to extension servers",
    shared: [loopback, `--service-cluster-ip-range=${network}.0.0/16`],
    rows: [
      {
        flag: "enable-aggregator-routing",
        value: "true",
        observed: "whether a service without ready pods is reached at its cluster address",
        async observe({ admin }) {
          const spec = { clusterIP: at, ports: [{ port: extension.port }] };
          await ok(admin.post(`${core}/services`, { metadata: { name: "cluster" }, spec }));
          const subsets = [{ addresses: [{ ip: "192.0.2.9" }], ports: [{ port: extension.port }] }];
          await ok(admin.post(`${core}/endpoints`, { metadata: { name: "cluster" }, subsets }));
          const service = { namespace: "default", name: "cluster", port: extension.port };
          const caBundle = Buffer.from(extension.ca).toString("base64");
          await ok(admin.post(apiServices, apiService(extension.group, "v1", { service, caBundle })));
          for (;;) {
            const condition = availability(await admin.get(`${apiServices}/${extension.name}`));
            if (condition !== undefined) return condition.reason;
          }
        },
        changed: "FailedDiscoveryCheck",
        usual: "Passed",
      },
    ],
    close: () => extension.close(),
  };
}

/** How the server is reached, and how it reaches others. */
export async function connectionGroups(): Promise<readonly FlagGroup[]> {
  return [
    ...servingGroups,
    ...(await agentGroups()),
    ...(await extensionGroups()),
    ...(address === undefined ? [] : [await routingGroup(address)]),
  ];
}
