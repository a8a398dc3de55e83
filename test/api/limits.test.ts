import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Answer, type Api } from "../support/api.ts";
import { read } from "../tidy/source-files.ts";
import { configMap, ok } from "./support.ts";

const collection = "/api/v1/namespaces/default/configmaps";
const mebibyte = 2 ** 20;

let server: TestServer;
beforeAll(async () => {
  server = await TestServer.start();
});
afterAll(() => server.close());

/** What a request may have. */
interface Limit {
  /** The first cell of its row in docs/limits.md. */
  readonly name: string;
  readonly value: number;
  /** Sends a request with this much. */
  send(api: Api, amount: number): Promise<Answer>;
}

const dryRun = `${collection}?dryRun=All`;

function postRaw(api: Api, raw: string, contentType = "application/json", at = dryRun): Promise<Answer> {
  return api.ask("POST", at, { raw, contentType });
}

function numbers(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => index);
}

const limits: readonly Limit[] = [
  {
    name: "body, bytes",
    value: 3 * mebibyte,
    send: (api, amount) => postRaw(api, JSON.stringify(configMap("body")).padEnd(amount)),
  },
  {
    name: "commas in a JSON body",
    value: 199_999,
    send: (api, amount) => {
      // Three are between the other members.
      const items = `${"0,".repeat(amount - 3)}0`;
      return postRaw(
        api,
        `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"values"},"unknown":[${items}]}`,
      );
    },
  },
  {
    name: "nested arrays and objects",
    value: 200,
    // One is the object itself.
    send: (api, amount) => {
      const nested = "[".repeat(amount - 1) + "]".repeat(amount - 1);
      return postRaw(
        api,
        `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"nested"},"unknown":${nested}}`,
      );
    },
  },
  {
    name: "values of a ConfigMap or Secret, bytes",
    value: mebibyte,
    send: (api, amount) => api.post(dryRun, { ...configMap("data"), data: { a: "x".repeat(amount) } }),
  },
  {
    name: "keys and values of annotations, bytes",
    value: 256 * 1024,
    send: (api, amount) =>
      api.post(dryRun, { metadata: { name: "notes", annotations: { a: "x".repeat(amount - 1) } } }),
  },
  {
    name: "name of most kinds, characters",
    value: 253,
    send: (api, amount) => api.post(dryRun, configMap("n".repeat(amount))),
  },
  {
    name: "owner references",
    value: 4096,
    send: (api, amount) =>
      api.post(dryRun, {
        metadata: {
          name: "owned",
          ownerReferences: numbers(amount).map((index) => ({
            apiVersion: "v1",
            kind: "Pod",
            name: `pod-${index}`,
            uid: `uid-${index}`,
          })),
        },
      }),
  },
  {
    name: "field manager, characters",
    value: 128,
    send: (api, amount) => api.post(`${dryRun}&fieldManager=${"m".repeat(amount)}`, configMap("managed")),
  },
  {
    name: "checks in a BulkAccessReview",
    value: 1000,
    send: (api, amount) =>
      api.post("/apis/insight.platform.io/v1/bulkaccessreviews", {
        spec: {
          checks: numbers(amount).map(() => ({
            self: { resourceAttributes: { verb: "get", resource: "pods" } },
          })),
        },
      }),
  },
  {
    name: "resource types of a subscription",
    value: 64,
    send: (api, amount) =>
      api.ask(
        "GET",
        `/subscriptions?timeoutSeconds=1&${numbers(amount)
          .map((index) => `watch=pods%3Fnamespace%3Dn${index}`)
          .join("&")}`,
      ),
  },
];

/** The rows of the section as name, value and answer. */
function rows(): readonly (readonly string[])[] {
  const page = read("docs/limits.md");
  const section = page.slice(page.indexOf("## One request"));
  return [...section.matchAll(/^\| ([^|]+?) +\| ([\d,]+) +\| (\d{3})/gm)].map((row) => row.slice(1));
}

describe("docs/limits.md, one request", () => {
  test("lists each of these limits", () => {
    expect(rows().map(([name, value]) => [name, value])).toEqual(
      limits.map(({ name, value }) => [name, value.toLocaleString("en-US")]),
    );
  });

  test.each(limits)("$name: accepted at $value, rejected above", async (limit) => {
    await ok(limit.send(server.admin, limit.value));
    const rejected = await limit.send(server.admin, limit.value + 1);
    const [, , status] = rows().find(([name]) => name === limit.name)!;
    expect({ status: rejected.status, kind: rejected.body.kind }).toEqual({
      status: Number(status),
      kind: "Status",
    });
  });

  test("headers: 431 above 32 KiB", async () => {
    const ask = (length: number) =>
      server.admin.ask("GET", collection, { headers: { "x-long": "a".repeat(length) } });
    expect((await ask(31 * 1024)).status).toBe(200);
    expect((await ask(32 * 1024)).status).toBe(431);
    expect(read("docs/limits.md")).toContain("431");
  });
});
