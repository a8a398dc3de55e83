import { createHmac } from "node:crypto";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AdmissionPlugin } from "../../src/admission/admission-chain.ts";
import { createServer, type CreateServerOptions, type Server } from "../../src/index.ts";
import { urlOf } from "../../src/server/listening/cluster-info.ts";
import { ManualClock } from "../api/support.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const tokenSecret = "0123456789abcdef";
const clusterInfo = {
  apiVersion: "v1",
  kind: "ConfigMap",
  namespace: "platform-public",
  name: "cluster-info",
};
const day = 24 * 60 * 60 * 1000;

let clock: ManualClock;
let server: Server;
beforeEach(() => (clock = new ManualClock()));
afterEach(() => server.close());

async function start(controllers: string[], options: CreateServerOptions = {}): Promise<void> {
  server = await createServer({ port: false, clock, enabledControllers: controllers, ...options });
}

const inMs = (ms: number) => new Date(clock.now() + ms).toISOString();

interface Changes {
  readonly data?: Readonly<Record<string, string>>;
  readonly name?: string;
  readonly namespace?: string;
  readonly type?: string;
}

/** Stores a bootstrap token for signing, but for the changes. */
function store(id: string, changes: Changes = {}) {
  const stringData = {
    "token-id": id,
    "token-secret": tokenSecret,
    "usage-bootstrap-signing": "true",
    ...changes.data,
  };
  const { name = `bootstrap-token-${id}`, namespace = "platform-system" } = changes;
  return server.client.create({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, namespace },
    type: changes.type ?? "bootstrap.platform.io/token",
    stringData,
  });
}

const reference = (name: string) => ({
  apiVersion: "v1",
  kind: "Secret",
  namespace: "platform-system",
  name,
});

async function secrets(): Promise<string[]> {
  const { items } = await server.client.list({ apiVersion: "v1", kind: "Secret" });
  return items.map(({ metadata }) => metadata.name!);
}

async function info(): Promise<Record<string, string>> {
  const { data = {} } = (await server.client.get(clusterInfo)) as { data?: Record<string, string> };
  return data;
}

const signatures = async () =>
  Object.keys(await info())
    .filter((key) => key.startsWith("jws-"))
    .toSorted();

const createInfo = (data: Record<string, string>) => {
  const { name, namespace, ...type } = clusterInfo;
  return server.client.create({ ...type, metadata: { name, namespace }, data });
};

describe("5.4 the token cleaner", () => {
  it("C-2.7-08 C-5.4-02 deletes expired tokens and no other Secret", async () => {
    await start(["tokencleaner"]);
    await store("ended1", { data: { expiration: inMs(-1) } });
    await store("minute", { data: { expiration: inMs(60_000) } });
    await store("months", { data: { expiration: inMs(90 * day) } });
    await store("never1");
    await store("unread", { data: { expiration: "tomorrow" } });
    await store("other1", { data: { expiration: inMs(-1) }, type: "Opaque" });
    await store("where1", { data: { expiration: inMs(-1) }, namespace: "default" });
    const rest = ["months", "never1", "other1"].map((id) => `bootstrap-token-${id}`);
    const elsewhere = "bootstrap-token-where1";
    await expect.poll(secrets).toEqual([elsewhere, "bootstrap-token-minute", ...rest]);
    await clock.advance(59_000);
    expect(await secrets()).toContain("bootstrap-token-minute");
    await clock.advance(1000);
    await expect.poll(secrets).toEqual([elsewhere, ...rest]);
    for (let passed = 0; passed < 90; passed++) await clock.advance(day);
    await expect.poll(secrets).toEqual([elsewhere, ...rest.slice(1)]);
  });

  it("keeps a token until its new expiration when the expiration was moved", async () => {
    await start(["tokencleaner"]);
    await store("minute", { data: { expiration: inMs(60_000) } });
    await clock.advance(30_000);
    const stringData = { expiration: inMs(120_000) };
    await server.client.patch(reference("bootstrap-token-minute"), { stringData });
    await clock.advance(100_000);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await secrets()).toEqual(["bootstrap-token-minute"]);
    await clock.advance(50_000);
    await expect.poll(secrets).toEqual([]);
  });

  it("keeps a token whose expiration is extended, or that is recreated, during its deletion", async () => {
    let change: (() => Promise<unknown>) | undefined;
    let deletions = 0;
    const between: AdmissionPlugin = {
      name: "Between",
      concerns: (operation, { resource }) => operation === "DELETE" && resource.kind.name === "Secret",
      async validate() {
        deletions++;
        const once = change;
        change = undefined;
        await once?.();
      },
    };
    await start(["tokencleaner"], { admissionPlugins: [between] });
    const name = "bootstrap-token-minute";
    const endsIn = (ms: number) => ({ data: { expiration: inMs(ms) } });
    await store("minute", endsIn(60_000));
    change = () => server.client.patch(reference(name), { stringData: { expiration: inMs(60_000) } });
    await clock.advance(60_000);
    await expect.poll(() => deletions).toBe(1);
    expect(await secrets()).toEqual([name]);
    change = async () => {
      await server.client.delete(reference(name));
      await store("minute", endsIn(60_000));
    };
    await clock.advance(60_000);
    // The second deletion is the cleaner's, the third the test's.
    await expect.poll(() => deletions).toBe(3);
    expect(await secrets()).toEqual([name]);
    await clock.advance(60_000);
    await expect.poll(secrets).toEqual([]);
  });

  it("does not run unless --controllers names it", async () => {
    await start(["*"]);
    await store("ended1", { data: { expiration: inMs(-1) } });
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await secrets()).toEqual(["bootstrap-token-ended1"]);
  });
});

describe("2.7 the signer of cluster-info", () => {
  it("C-2.7-10 C-2.7-11 C-5.4-03 signs an existing kubeconfig with each token, using HS256 and the whole token as key", async () => {
    await start(["*", "bootstrapsigner"]);
    const kubeconfig = "apiVersion: v1\nkind: Config\n# ä\n";
    await createInfo({ kubeconfig, other: "stays" });
    await store("token1");
    await store("token2", { data: { "token-secret": "fedcba9876543210" } });
    await expect.poll(signatures).toEqual(["jws-kubeconfig-token1", "jws-kubeconfig-token2"]);
    const data = await info();
    expect([data["kubeconfig"], data["other"]]).toEqual([kubeconfig, "stays"]);
    const tokens = { token1: `token1.${tokenSecret}`, token2: "token2.fedcba9876543210" };
    for (const [id, token] of Object.entries(tokens)) {
      const [header = "", payload, signature] = data[`jws-kubeconfig-${id}`]!.split(".");
      expect(JSON.parse(Buffer.from(header, "base64url").toString())).toEqual({ alg: "HS256", kid: id });
      expect(payload).toBe("");
      const signed = `${header}.${Buffer.from(kubeconfig).toString("base64url")}`;
      expect(signature).toBe(createHmac("sha256", token).update(signed).digest("base64url"));
    }
  });

  it("C-2.7-04 C-2.7-06 signs with unexpired tokens that allow signing, and removes other signatures", async () => {
    await start(["bootstrapsigner"]);
    await createInfo({ kubeconfig: "text", "jws-kubeconfig-gone12": "of a token that is gone" });
    await store("meant1");
    await store("nomean", { data: { "usage-bootstrap-signing": "yes" } });
    await store("ended1", { data: { expiration: inMs(-1) } });
    await store("minute", { data: { expiration: inMs(60_000) } });
    await store("wrong1", { name: "bootstrap-token-wrong2" });
    await store("short1", { data: { "token-secret": "short" } });
    await store("opaque", { type: "Opaque" });
    await store("where1", { namespace: "default" });
    await expect.poll(signatures).toEqual(["jws-kubeconfig-meant1", "jws-kubeconfig-minute"]);
    await clock.advance(60_000);
    await expect.poll(signatures).toEqual(["jws-kubeconfig-meant1"]);
    await server.client.delete(reference("bootstrap-token-meant1"));
    await expect.poll(signatures).toEqual([]);
  });

  it("signs again when the kubeconfig changes and when the ConfigMap is recreated", async () => {
    await start(["bootstrapsigner"]);
    await store("token1");
    await createInfo({ kubeconfig: "one" });
    await expect.poll(signatures).toHaveLength(1);
    const first = (await info())["jws-kubeconfig-token1"];
    await server.client.patch(clusterInfo, { data: { kubeconfig: "two" } });
    await expect.poll(async () => (await info())["jws-kubeconfig-token1"]).not.toBe(first);
    await server.client.delete(clusterInfo);
    await createInfo({ kubeconfig: "one" });
    await expect.poll(async () => (await info())["jws-kubeconfig-token1"]).toBe(first);
  });
});

describe("2.7 cluster-info", () => {
  it("C-2.7-09 contains the server's address and CA certificate, and no users", async () => {
    await start(["*", "bootstrapsigner"], { port: 0 });
    const { kubeconfig } = await info();
    const ca = Buffer.from(server.caCertificate!).toString("base64");
    expect(JSON.parse(kubeconfig!)).toEqual({
      apiVersion: "v1",
      kind: "Config",
      clusters: [{ name: "", cluster: { server: server.url, "certificate-authority-data": ca } }],
    });
    await store("token1");
    await expect.poll(signatures).toEqual(["jws-kubeconfig-token1"]);
  });

  it("is not overwritten at a restart", async () => {
    const folder = temporaryFolder();
    try {
      const storage = { engine: "embedded", dir: path.join(folder.path, "store") } as const;
      await start(["bootstrapsigner"], { port: 0, storage });
      await server.client.patch(clusterInfo, { data: { kubeconfig: "by hand" } });
      await server.close();
      await start(["bootstrapsigner"], { port: 0, storage });
      expect(await info()).toEqual({ kubeconfig: "by hand" });
      await server.close();
    } finally {
      folder.remove();
    }
  });

  it.each([
    ["127.0.0.1", 6443, "https://127.0.0.1:6443"],
    ["api.example.com", 6443, "https://api.example.com:6443"],
    ["2001:db8::1", 6443, "https://[2001:db8::1]:6443"],
    ["::1", 443, "https://[::1]"],
  ])("has the URL of the host %s and port %i, %s", (host, port, expected) => {
    expect(urlOf(host, port)).toBe(expected);
  });

  it("is not created when the controller bootstrapsigner is disabled", async () => {
    await start(["*"], { port: 0 });
    expect(await server.client.find(clusterInfo)).toBeUndefined();
  });
});

describe("the default roles of a fresh store", () => {
  const find = (name: string) =>
    server.client.find({ apiVersion: "rbac.authorization.platform.io/v1", kind: "ClusterRole", name });

  it("have the same aggregated rules as the controller would write when the server is ready", async () => {
    await start([]);
    const names = ["admin", "edit", "view"];
    const stored = await Promise.all(names.map(find));
    const without = stored.map((role) => (role as { rules?: unknown[] }).rules ?? []);
    expect(without.map(({ length }) => length > 0)).toEqual([true, true, true]);
    await server.close();
    await start(["clusterrole-aggregation"]);
    for (const [index, name] of names.entries()) {
      const role = (await find(name)) as { rules?: unknown[]; metadata: { resourceVersion?: string } };
      expect(role.rules).toEqual(without[index]);
    }
  });
});
