import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/time/clock.ts";
import { readNamedCredentials } from "../../src/remote/named-credentials.ts";
import { RemoteFault } from "../../src/remote/answer-reader.ts";
import { WebhookCaller } from "../../src/remote/webhook-caller.ts";
import { webhookTarget, type WebhookClientConfig } from "../../src/remote/webhook-target.ts";
import { HttpsService, type Reply } from "../support/https-service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const folder = temporaryFolder();
const hosts = ["guard.security.svc"];
let service: HttpsService;
let reply: () => Reply | Promise<Reply>;
beforeAll(async () => {
  service = await HttpsService.start(() => reply(), hosts);
});
afterAll(async () => {
  await service.close();
  folder.remove();
});
beforeEach(() => {
  service.received.length = 0;
  reply = () => ({ body: {} });
});

const port = () => Number(new URL(service.url).port);
const address = () => Promise.resolve({ host: "127.0.0.1", port: port() });
const call = { json: "{}", timeoutMs: 30_000, source: "ana" };
const bundle = () => Buffer.from(service.ca).toString("base64");
const guard = (changes: object = {}): WebhookClientConfig => ({
  service: { namespace: "security", name: "guard", ...changes },
  caBundle: bundle(),
});

describe("a target", () => {
  it.each<[string, WebhookClientConfig, string]>([
    ["a service, at port 443 unless said", { service: { namespace: "n", name: "s" } }, "https://s.n.svc/"],
    [
      "a service with port and path",
      { service: { namespace: "n", name: "s", port: 8443, path: "/a/b" } },
      "https://s.n.svc:8443/a/b",
    ],
    ["a URL with two slashes", { url: "https://127.0.0.1:9443//mutate" }, "https://127.0.0.1:9443/mutate"],
    ["a URL with dots", { url: "https://example.com/a/./b/../c//d/" }, "https://example.com/a/c/d"],
    ["a URL with encoded dots", { url: "https://example.com/a/%2e%2e%2Fc%20d" }, "https://example.com/c%20d"],
    ["a URL with slashes alone", { url: "https://example.com//" }, "https://example.com/"],
    ["a URL that leaves its root", { url: "https://example.com/../../a" }, "https://example.com/a"],
    [
      "a service whose path has two slashes",
      { service: { namespace: "n", name: "s", path: "//a//b/" } },
      "https://s.n.svc/a/b",
    ],
    ["a URL", { url: "https://example.com/x" }, "https://example.com/x"],
  ])("%s", (_, config, url) => {
    expect(webhookTarget(config).url.href).toBe(url);
  });

  it.each([
    "http://example.com",
    "https://me@example.com",
    "https://example.com/?a",
    "https://example.com/#a",
    "x",
  ])("%s is none", (url) => {
    expect(() => webhookTarget({ url })).toThrow(TypeError);
  });
});

describe("a service", () => {
  it("C-2.9-09 is asked where it is found, with a certificate for <service name>.<service namespace>.svc", async () => {
    const asked: unknown[] = [];
    const caller = new WebhookCaller(systemClock, (found) => {
      asked.push(found);
      return address();
    });
    await caller.call(webhookTarget(guard({ path: "/check" })), call);
    expect(asked).toEqual([{ namespace: "security", name: "guard", port: 443 }]);
    expect(service.received[0]).toMatchObject({
      path: "/check?timeout=30s",
      headers: { host: "guard.security.svc" },
    });
    // The very same server under another name is refused.
    const other = webhookTarget(guard({ name: "other" }));
    await expect(caller.call(other, call)).rejects.toThrow(/certificate|altnames/i);
    expect(service.received).toHaveLength(1);
    await caller.close();
  });

  it("that can't be found fails the call, with the reason", async () => {
    const caller = new WebhookCaller(systemClock, () => Promise.reject(new Error("no endpoints")));
    await expect(caller.call(webhookTarget(guard()), call)).rejects.toThrow("no endpoints");
    await caller.close();
  });

  it("is asked over connections that stay open", async () => {
    let opened = 0;
    const caller = new WebhookCaller(systemClock, () => {
      opened++;
      return address();
    });
    for (let count = 0; count < 20; count++) await caller.call(webhookTarget(guard()), call);
    // A second one may be opened while the first is still putting an answer away.
    expect(opened).toBeLessThanOrEqual(2);
    await caller.close();
  });

  it.each([
    [7, "/check?timeout=7s"],
    [undefined, "/check?timeout=30s"],
  ])("gets its timeout of %s s in the query, and a User-Agent", async (timeoutSeconds, expected) => {
    const caller = new WebhookCaller(systemClock, address);
    const timeout = timeoutSeconds === undefined ? {} : { timeoutSeconds };
    await caller.call(webhookTarget(guard({ path: "/check" })), { ...call, ...timeout });
    const [received] = service.received;
    expect(received!.path).toBe(expected);
    expect(received!.headers["user-agent"]).toBe("plinth-webhooks");
    await caller.close();
  });

  it("that is slow holds up nobody but its own callers", async () => {
    let answer: () => void = () => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const caller = new WebhookCaller(systemClock, address);
    reply = async () => {
      await answered;
      return { body: {} };
    };
    const slow = webhookTarget(guard({ path: "/slow", port: 1 }));
    const waiting = Array.from({ length: 400 }, () =>
      caller.call(slow, { ...call, timeoutMs: 60_000 }).then(() => "done"),
    );
    // More than may run or wait for one user are refused at once.
    const refused = Array.from({ length: 300 }, () => caller.call(slow, { ...call, timeoutMs: 60_000 }));
    const results = Promise.allSettled(refused);
    reply = () => ({ body: {} });
    expect((await caller.call(webhookTarget(guard()), call)).toString()).toBe("{}");
    answer();
    expect(new Set(await Promise.all(waiting))).toEqual(new Set(["done"]));
    const rejected = (await results).filter(({ status }) => status === "rejected");
    expect(rejected.length).toBeGreaterThan(50);
    for (const one of rejected) expect((one as PromiseRejectedResult).reason).toBeInstanceOf(RemoteFault);
    await caller.close();
  });

  it("a call whose time is over while it waits is told so", async () => {
    const caller = new WebhookCaller(systemClock, address);
    reply = () => new Promise(() => undefined);
    const target = webhookTarget(guard());
    const running = Array.from({ length: 80 }, () => caller.call(target, { ...call, timeoutMs: 1000 }));
    const settled = Promise.allSettled(running);
    await expect(caller.call(target, { ...call, timeoutMs: 100 })).rejects.toThrow("within 100 ms");
    await caller.close();
    await settled;
  });
});

describe("credentials", () => {
  const file = path.join(folder.path, "credentials.yaml");
  /** Gives users these names, each with its name as token. */
  const tokens = async (names: readonly string[], more: object = {}) => {
    const users = names.map((name) => ({ name, user: { token: `token of ${name}` } }));
    writeFileSync(file, JSON.stringify({ kind: "Config", apiVersion: "v1", users, ...more }));
    return await readNamedCredentials(file);
  };
  const found = async (names: readonly string[], place: string) => {
    const { credentials } = (await tokens(names)).find(place) ?? {};
    return credentials?.kind === "token" ? credentials.token.slice("token of ".length) : undefined;
  };

  it.each<[string, string[], string, string | undefined]>([
    ["C-2.9-23 the DNS name of a service", ["s.n.svc", "*"], "s.n.svc:443", "s.n.svc"],
    [
      "C-2.9-23 with the port, when that isn't 443",
      ["s.n.svc", "s.n.svc:8443"],
      "s.n.svc:8443",
      "s.n.svc:8443",
    ],
    ["C-2.9-23 without the port it isn't found for another one", ["s.n.svc"], "s.n.svc:8443", undefined],
    ["C-2.9-23 the port goes before none", ["s.n.svc", "s.n.svc:443"], "s.n.svc:443", "s.n.svc:443"],
    ["C-2.9-23 the host of a URL", ["example.com"], "example.com:443", "example.com"],
    ["C-2.9-23 host and port of a URL", ["example.com:8443"], "example.com:8443", "example.com:8443"],
    ["C-2.9-24 a wildcard in the place of the first label", ["*.n.svc"], "s.n.svc:443", "*.n.svc"],
    ["C-2.9-24 in the place of the first labels", ["*.svc"], "s.n.svc:443", "*.svc"],
    ["C-2.9-24 the longer name goes first", ["*.svc", "*.n.svc"], "s.n.svc:443", "*.n.svc"],
    ["C-2.9-24 with a port", ["*.n.svc:8443"], "s.n.svc:8443", "*.n.svc:8443"],
    ["C-2.9-24 `*` alone is for all others", ["other.n.svc", "*"], "s.n.svc:8443", "*"],
    ["nobody", ["other.n.svc"], "s.n.svc:443", undefined],
  ])("%s", async (_, names, place, expected) => {
    expect(await found(names, place)).toBe(expected);
  });

  it("the user of the current context is for all others", async () => {
    const current = { "current-context": "c", contexts: [{ name: "c", context: { user: "b" } }] };
    expect((await tokens(["b"], current)).find("s.n.svc:443")).toMatchObject({
      credentials: { token: "token of b" },
    });
  });

  it.each<[string, () => object, object]>([
    ["a token", () => ({ token: "secret" }), { headers: { authorization: "Bearer secret" } }],
    [
      "a user name and password",
      () => ({ username: "me", password: "pass" }),
      { headers: { authorization: `Basic ${Buffer.from("me:pass").toString("base64")}` } },
    ],
    [
      "a certificate and key",
      () => {
        const { certificate, key } = service.clientCertificate("plinth");
        return {
          "client-certificate-data": Buffer.from(certificate).toString("base64"),
          "client-key-data": Buffer.from(key).toString("base64"),
        };
      },
      { client: "plinth" },
    ],
  ])("C-2.9-25 %s is presented to the webhook", async (_, user, shown) => {
    writeFileSync(file, JSON.stringify({ users: [{ name: "guard.security.svc", user: user() }] }));
    const caller = new WebhookCaller(systemClock, address, await readNamedCredentials(file));
    await caller.call(webhookTarget(guard()), call);
    expect(service.received[0]).toMatchObject(shown);
    await caller.close();
  });
});
