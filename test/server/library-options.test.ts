import { readFileSync } from "node:fs";
import path from "node:path";
import { inspect } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createServer, OptionsError, StatusError, type CreateServerOptions } from "../../src/index.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import { inLibraryTerms, serverOptionsOf } from "../../src/server/options/library-options.ts";
import { serverOptionTable } from "../../src/server/options/option-table.ts";
import { flagNames } from "../../src/server/options/settings.ts";
import type { Server } from "../../src/server/server.ts";
import { filesBelow } from "../tidy/source-files.ts";
import { StoreDamagedError, StoreUnavailableError } from "../../src/storage/store.ts";
import { freePort, root } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What starting a server with these options fails with, whatever their types say. */
async function failureOf(options: unknown): Promise<unknown> {
  try {
    const server = await createServer(options as CreateServerOptions);
    await server.close();
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("createServer rejects invalid options and names them", () => {
  test.each<[unknown, string]>([
    ["k8s", 'options: "k8s" is not an object of options'],
    [{ somethingElse: [] }, "somethingElse: there is no such option; there are vocabulary, release, "],
    [{ admissionPlugin: [] }, "admissionPlugin: there is no such option; did you mean admissionPlugins?"],
    [{ vocabulary: "k8s" }, 'vocabulary: "k8s" is not one of platform, kubernetes'],
    [{ storage: { engine: "lmdb" } }, 'storage.engine: "lmdb" is not one of embedded, memory, etcd'],
    [{ storage: "memory" }, 'storage: "memory" is not an object of options'],
    [{ storage: { engine: "embedded" } }, "storage.dir: is needed, and must be a text"],
    [{ storage: { engine: "memory", dir: "x" } }, "storage.dir: there is no such option; there are engine"],
    [{ port: 99_999 }, "port: 99999 is not an integer from 0 to 65535, or false"],
    [{ port: -1 }, "port: -1 is not an integer"],
    [{ port: "x" }, 'port: "x" is not an integer'],
    [{ host: "no host" }, 'host: "no host" is neither an IP address nor a DNS name'],
    [{ advertiseAddress: "here" }, 'advertiseAddress: "here" is not an IP address'],
    [{ maxConnections: 0 }, "maxConnections: 0 is not an integer from 1 to"],
    [{ authorizationModes: ["Rbac"] }, 'authorizationModes: "Rbac" is not one of Node, RBAC'],
    [{ authorizationModes: ["Webhook"] }, "authorizationModes Webhook needs authorizationWebhook.configFile"],
    [
      { authorizationModes: ["Node", "RBAC"] },
      "authorizationModes Node needs enabledAdmissionPlugins=NodeRestriction",
    ],
    [{ authorizationModes: ["ABAC"] }, "authorizationModes: ABAC needs authorizationPolicyFile"],
    [{ anonymousAuth: "yes" }, 'anonymousAuth: "yes" is not true or false'],
    [{ clientCaFile: "/nowhere/ca.crt" }, "clientCaFile /nowhere/ca.crt: the file doesn't exist"],
    [{ enabledControllers: ["nope"] }, 'enabledControllers: there is no controller "nope"'],
    [{ enabledControllers: "*" }, 'enabledControllers: "*" is not a list of texts'],
    [{ enabledAdmissionPlugins: ["Nope"] }, 'enabledAdmissionPlugins: unknown admission plugin "Nope"'],
    [{ featureGates: "Nope=true" }, "featureGates: unrecognized feature gate: Nope"],
    [{ runtimeConfig: "nope/v1=true" }, 'runtimeConfig: "nope/v1" is not a group version'],
    [{ serviceClusterIpRanges: ["x"] }, 'serviceClusterIpRanges: "x" is not a range of addresses'],
    [{ eventLifeMs: -1 }, "eventLifeMs: -1 is not a number of milliseconds, 0 or more"],
    [{ flow: { fair: 1 } }, "flow.fair: 1 is not true or false"],
    [
      { flow: { maxReading: 0, maxChanging: 0 } },
      "flow.maxReading and flow.maxChanging: with flow.fair one of them must be greater than 0",
    ],
    [{ connections: { loopback: true } }, "connections.loopback: there is no such option"],
    [
      { authentication: { serviceAccounts: { maxExpirationMs: 1 } } },
      "authentication.serviceAccounts.maxExpirationMs: must be 0, or from 1h",
    ],
    [{ authentication: { oidc: { issuerUrl: "x" } } }, "authentication.oidc.clientId: is needed"],
    [
      { authentication: { configFile: "/f", oidc: { issuerUrl: "x", clientId: "y" } } },
      "authentication.configFile can't be used together with authentication.oidc",
    ],
    [{ authentication: { configFile: "/nowhere/f" } }, "authentication.configFile /nowhere/f: "],
    [{ authorizationConfigFile: "/nowhere/f" }, "authorizationConfigFile /nowhere/f: "],
    [
      { authorizationConfigFile: "/f", authorizationModes: ["RBAC"] },
      "authorizationConfigFile can't be used together with authorizationModes",
    ],
    [
      { authorizationConfigFile: "/f", authorizationWebhook: { configFile: "/g" } },
      "authorizationConfigFile can't be used together with authorizationWebhook",
    ],
    [
      { audit: { policyFile: "/nowhere/p", log: { path: "-", mode: "x" } } },
      'audit.log.mode: "x" is not one of',
    ],
    [{ clock: {} }, "clock: {} is not an object with the methods now, monotonicNow, setTimer"],
    [
      { storage: { engine: "etcd", endpoints: ["ftp://h"], prefix: "/p" } },
      'storage.endpoints: "ftp://h" is not http://HOST:PORT',
    ],
  ])("%j", async (options, message) => {
    const error = await failureOf(options);
    expect(error).toBeInstanceOf(OptionsError);
    expect((error as Error).message).toContain(message);
  });

  test("an error of the store names options, in its message, its causes and its stack", async () => {
    const endpoint = `http://127.0.0.1:${await freePort()}`;
    const error = await failureOf({ storage: { engine: "etcd", endpoints: [endpoint] } });
    expect(error).toBeInstanceOf(StoreUnavailableError);
    const { message } = error as Error;
    expect(message).toContain("nothing listens there; check storage.endpoints, and whether etcd runs");
    expect(inspect(error)).toContain(message);
    expect(inspect(error)).not.toMatch(/--etcd-servers/);
  });

  test("renames the flags of an error and of its causes, and no other words with dashes", () => {
    const cause = new StoreDamagedError("leave out --durability");
    const error = new Error("see --etcd-prefix, x--etcd-prefix, --etcd-prefixes, ---etcd-prefix", { cause });
    expect(inLibraryTerms(error)).toBe(error);
    expect(error.message).toBe("see storage.prefix, x--etcd-prefix, --etcd-prefixes, ---etcd-prefix");
    expect(cause).toBeInstanceOf(StoreDamagedError);
    expect(cause.message).toBe("leave out durability");
    expect(error.stack).not.toContain("see --etcd-prefix");
    error.cause = error;
    expect(inLibraryTerms(error)).toBe(error);
  });

  test("messages of the log name options", async () => {
    const messages: [object, string][] = [];
    const write = (facts: object, message: string) => void messages.push([facts, message]);
    const options = serverOptionsOf({ log: { info: write, warn: write, error: write } });
    for (const level of ["info", "warn", "error"] as const)
      options.log[level](
        { error: "--durability: x", code: 3 },
        "nothing is audited: set --audit-policy-file",
      );
    const message = [{ error: "durability: x", code: 3 }, "nothing is audited: set audit.policyFile"];
    expect(messages).toEqual([message, message, message]);
  });

  test("undefined options count as absent", () => {
    const all = Object.fromEntries(Object.keys(serverOptionTable).map((name) => [name, undefined]));
    expect(serverOptionsOf(all)).toEqual(serverOptionsOf({}));
  });

  test("each flag in an error of the server has an option, or can't be set by the library", () => {
    const flags = new Set(flagNames(serverOptionTable).values());
    const named = new Set<string>();
    const folders = [
      "src/server",
      "src/storage",
      "src/remote",
      "src/authentication",
      "src/authorization",
      "src/admission",
    ];
    const files = folders.flatMap((folder) => filesBelow(folder)).filter((one) => !one.includes("/options/"));
    for (const file of files) {
      const code = readFileSync(path.join(root, file), "utf8").replaceAll(/^\s*(\*|\/\*|\/\/).*$/gm, "");
      for (const [flag] of code.matchAll(/--[a-z][a-z-]+(?!\w|\.\w)/g)) named.add(flag);
    }
    expect([...named].filter((flag) => !flags.has(flag)).toSorted()).toEqual([
      "--cert-dir",
      "--data-dir",
      // Flags of etcd.
      "--max-request-bytes",
      "--max-txn-ops",
    ]);
  });
});

describe("a start that fails closes everything", () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  const sockets = () => process.getActiveResourcesInfo().filter((name) => name === "TCPServerWrap").length;

  test("at any step", async () => {
    const before = sockets();
    const storage = { engine: "embedded", dir: path.join(folder.path, "store") } as const;
    const startWith = async (setTimer: typeof systemClock.setTimer) =>
      failureOf({
        storage,
        clock: { ...systemClock, setTimer },
        enabledControllers: ["*", "bootstrapsigner"],
      });
    const delays = new Set<number>();
    const recorded = await startWith((task, delayMs) => {
      delays.add(delayMs);
      return systemClock.setTimer(task, delayMs);
    });
    expect(recorded).toBeUndefined();
    let failures = 0;
    for (const refused of delays) {
      const error = await startWith((task, delayMs) => {
        if (delayMs === refused) throw new Error("no timer is left");
        return systemClock.setTimer(task, delayMs);
      });
      if (error !== undefined) failures++;
      // A handle that is closed is listed for a turn of the event loop more.
      await expect.poll(sockets, { message: `without timers of ${refused} ms` }).toBe(before);
    }
    expect(failures).toBeGreaterThan(0);
    const server = await createServer({ storage, port: false });
    expect((await server.client.list({ apiVersion: "v1", kind: "Namespace" })).items).not.toEqual([]);
    await server.close();
  });

  test("for an option that is checked last", async () => {
    const before = sockets();
    const audit = { policyFile: "/nowhere/policy.yaml", log: { path: "-" } };
    const error = await failureOf({ audit });
    expect((error as Error).message).toBe("audit.policyFile /nowhere/policy.yaml: the file doesn't exist");
    await expect.poll(sockets).toBe(before);
  });
});

describe("the client reports invalid arguments", () => {
  let server: Server;
  beforeAll(async () => {
    server = await createServer({ port: false });
  });
  afterAll(() => server.close());

  const review = { apiVersion: "authorization.platform.io/v1", kind: "SubjectAccessReview", spec: {} };
  const namespaces = { apiVersion: "v1", kind: "Namespace" };
  // What a program without types may hand over.
  // oxlint-disable-next-line typescript/no-explicit-any
  const any = (value: unknown): any => value;

  test.each<[string, () => unknown, number, string]>([
    ["no metadata", () => server.client.create(any(namespaces)), 422, "metadata.name: Required value"],
    ["nothing", () => server.client.create(any(undefined)), 400, "an object is needed, not undefined"],
    ["a text", () => server.client.create(any("x")), 400, "an object is needed, not a value of type string"],
    [
      "no kind",
      () => server.client.create(any({ apiVersion: "v1" })),
      400,
      "kind must be a text, not undefined",
    ],
    [
      "an update of a review",
      () => server.client.update(any(review)),
      405,
      "SubjectAccessReview can only be created",
    ],
    [
      "an update without a name",
      () => server.client.update(any(namespaces)),
      400,
      "must be given in metadata.name",
    ],
    [
      "get without a name",
      () => server.client.get(any(namespaces)),
      400,
      "Namespace: a name is needed, not undefined",
    ],
    ["get of nothing", () => server.client.get(any(null)), 400, "a reference is needed, not null"],
    ["delete without a name", () => server.client.delete(any(namespaces)), 400, "a name is needed"],
    ["list without a kind", () => server.client.list(any({ apiVersion: "v1" })), 400, "kind must be a text"],
    [
      "a watch from nowhere",
      async () => server.client.watch(any(namespaces), () => undefined),
      400,
      "a watch needs the resourceVersion of a list",
    ],
  ])("%s", async (_what, call, code, message) => {
    const error = await Promise.resolve(call()).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(StatusError);
    expect((error as StatusError).code).toBe(code);
    expect((error as Error).message).toContain(message);
  });
});
