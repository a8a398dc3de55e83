import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { RBAC, configMap, ok } from "../api/support.ts";
import { TestServer } from "../support/api.ts";
import {
  RawConnection,
  answerOf,
  head,
  http2Session,
  portOf,
  stillAnswers,
  storeVersion,
} from "./support.ts";
import { cpuStopwatch } from "../support/cpu-time.ts";

const path = "/api/v1/namespaces/default/configmaps";
const limit = 3 * 1024 * 1024;
let server: TestServer;
const defects: unknown[] = [];
beforeAll(async () => {
  const note = (facts: object) => void defects.push(facts);
  server = await TestServer.start({ log: { info: () => undefined, warn: () => undefined, error: note } });
  await ok(server.admin.post(path, configMap("target")));
});
afterAll(async () => {
  await stillAnswers(server);
  expect(defects).toEqual([]);
  await server.close();
});

/** Sends a body and expects that a rejection leaves the store unchanged. */
async function refused(
  raw: string | Buffer,
  statuses: readonly number[],
  contentType = "application/json",
  method = "POST",
  at = path,
) {
  const before = await storeVersion(server);
  const answer = await server.admin.ask(method, at, { raw, contentType });
  expect(statuses, answer.text.slice(0, 300)).toContain(answer.status);
  expect(answer.body.kind).toBe("Status");
  expect(await storeVersion(server)).toBe(before);
  return answer;
}

describe("bodies above the size limit", () => {
  const large = Buffer.alloc(limit + 1, 0x20);

  test("a body with a larger Content-Length is 413", async () => {
    const { body } = await refused(large, [413]);
    expect(body.reason).toBe("RequestEntityTooLarge");
    await refused(Buffer.alloc(40 * 1024 * 1024, 0x20), [413]);
    await refused(large, [413], "application/merge-patch+json", "PATCH", `${path}/target`);
    await refused(large, [413], "application/yaml");
    await refused(large, [413], "application/json", "DELETE", `${path}/target`);
  });

  test("a chunked body is 413 once it exceeds the limit, and the rest is not read", async () => {
    const connection = await RawConnection.open(portOf(server));
    connection.write(
      head(server, `POST ${path}`, "Content-Type: application/json", "Transfer-Encoding: chunked"),
    );
    const chunk = Buffer.alloc(64 * 1024, 0x20);
    for (let sent = 0; sent <= limit; sent += chunk.length)
      connection.write("10000\r\n").write(chunk).write("\r\n");
    expect(await connection.receives(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 413 /);
    await connection.closes();
  });

  test("an HTTP/2 body is 413, however much the client still sends", async () => {
    const session = http2Session(server);
    const headers = {
      ":method": "POST",
      ":path": path,
      authorization: `Bearer ${server.server.adminToken}`,
      "content-type": "application/json",
    };
    const declared = session.request({ ...headers, "content-length": String(limit + 1) });
    expect((await answerOf(declared)).status).toBe(413);
    const endless = session.request(headers);
    const answered = answerOf(endless);
    const chunk = Buffer.alloc(256 * 1024, 0x20);
    const push = (): void => {
      if (!endless.closed && !endless.destroyed) endless.write(chunk, () => setImmediate(push));
    };
    push();
    expect((await answered).status).toBe(413);
    const after = session.request({ ...headers, ":method": "GET", ":path": `${path}/target` });
    after.end();
    expect((await answerOf(after)).status).toBe(200);
    session.close();
  });

  test("an object that becomes too large by patches is 413 or 422", async () => {
    const annotations = { a: "x".repeat(200 * 1024), b: "x".repeat(100 * 1024) };
    expect((await server.admin.patch(`${path}/target`, { metadata: { annotations } })).status).toBe(422);
    const half = { data: { a: "x".repeat(600 * 1024) } };
    expect((await server.admin.patch(`${path}/target`, half)).status).toBe(200);
    expect((await server.admin.patch(`${path}/target`, { data: { b: "x".repeat(600 * 1024) } })).status).toBe(
      422,
    );
    const names = Array.from({ length: 100_000 }, (_, i) => `${i}-${"n".repeat(12)}`);
    const rules = [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: names }];
    expect(
      (await server.admin.post(`${RBAC}/clusterroles`, { metadata: { name: "wide" }, rules })).status,
    ).toBe(201);
    const more = [{ op: "copy", from: "/rules/0", path: "/rules/-" }];
    expect([413, 422]).toContain(
      (await server.admin.patch(`${RBAC}/clusterroles/wide`, more, "json")).status,
    );
    await ok(server.admin.delete(`${RBAC}/clusterroles/wide`));
  });
});

describe("malformed and unusual bodies", () => {
  test.each([
    ["nothing but spaces", "   "],
    ["bytes that are not UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
    ["a byte order mark alone", Buffer.from([0xef, 0xbb, 0xbf])],
    ["a NUL", "\u0000"],
    ["an open string", '{"metadata":{"name":"x'],
    ["100,000 open brackets", "[".repeat(100_000)],
    ["100,000 nested lists", "[".repeat(100_000) + "]".repeat(100_000)],
    ["100,000 nested objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`],
    ["a number of a million digits", `{"metadata":{"name":"x","generation":${"9".repeat(1_000_000)}}}`],
    ["an endless exponent", '{"metadata":{"name":"x","generation":1e999999}}'],
    ["a number below 2^53 as text", '{"metadata":{"name":"x","generation":"1"}}'],
    ["a number beyond 2^63", '{"metadata":{"name":"x","generation":9223372036854775808}}'],
    ["NaN", '{"metadata":{"name":"x","generation":NaN}}'],
    ["a lone surrogate in a name", '{"metadata":{"name":"\\ud800"}}'],
    ["a NUL in a name", '{"metadata":{"name":"a\\u0000b"}}'],
    ["a name of 1 MiB", JSON.stringify({ metadata: { name: "n".repeat(1024 * 1024) } })],
    ["a label of 1 MiB", JSON.stringify({ metadata: { name: "x", labels: { a: "n".repeat(1024 * 1024) } } })],
  ])("%s is rejected", async (_what, raw) => {
    await refused(raw, [400, 422]);
  });

  test.each([300, 1000, 4000, 100_000])("a role name of %d letters is 201 or 422", async (length) => {
    const { status } = await server.admin.post(`${RBAC}/clusterroles`, {
      metadata: { name: "r".repeat(length) },
      rules: [],
    });
    expect([201, 422]).toContain(status);
    if (length > 1000) expect(status).toBe(422);
  });

  test("YAML with exponential aliases, deep nesting, many documents and tags is rejected", async () => {
    const laughs = ["a0: &a0 [x,x,x,x,x,x,x,x,x,x]"];
    for (let i = 1; i < 12; i++)
      laughs.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(",")}]`);
    const bodies = [
      laughs.join("\n"),
      `a: ${"[".repeat(50_000)}`,
      `${"- ".repeat(50_000)}x`,
      Array.from({ length: 5000 }, (_, i) => `${" ".repeat(Math.min(i, 400))}a:`).join("\n"),
      "a: 1\n---\nb: 2\n",
      "a: !!js/function 'x'",
      "a: *missing",
      "&a a: *a",
      "<<: 5",
      "\t\t- x: [",
    ];
    for (const raw of bodies) await refused(raw, [400, 422], "application/yaml");
  });

  test("a body of 180,000 keys is read without blocking other requests", async () => {
    const keys = Array.from({ length: 180_000 }, (_, i) => `"k${i}":"v"`).join(",");
    const spent = cpuStopwatch();
    const sent = server.admin.ask("POST", path, { raw: `{"metadata":{"name":"wide"},"data":{${keys}}}` });
    await stillAnswers(server);
    const { status } = await sent;
    expect(spent()).toBeLessThan(20_000);
    expect([201, 413, 422]).toContain(status);
    await server.admin.delete(`${path}/wide`);
    const empty = `{"metadata":{"name":"x"},"data":{${'"a":"",'.repeat(400_000)}"a":""}}`;
    await refused(empty, [400], "application/json", "POST", `${path}?fieldValidation=Strict`);
  });

  test("a body with too many values is rejected before it is decoded", async () => {
    const ownerReferences = "{},".repeat(1_000_000);
    for (const raw of [
      `{"metadata":{"name":"x","ownerReferences":[${ownerReferences}{}]}}`,
      `{"metadata":{"name":"\\ud800","ownerReferences":[${ownerReferences}{}]}}`,
    ]) {
      const spent = cpuStopwatch();
      const { body } = await refused(raw, [400]);
      expect(body.message).toContain("more than 200000 values");
      expect(spent()).toBeLessThan(5000);
    }
  });

  test("a JSON patch with too much work is rejected", async () => {
    const data = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`k${i}`, ""]));
    expect((await server.admin.post(path, { metadata: { name: "large" }, data })).status).toBe(201);
    const moves = Array.from({ length: 200 }, (_, i) =>
      i % 2 === 0
        ? { op: "move", from: "/data", path: "/other" }
        : { op: "move", from: "/other", path: "/data" },
    );
    const spent = cpuStopwatch();
    const { status } = await server.admin.patch(`${path}/large?dryRun=All`, moves, "json");
    expect([200, 413, 422]).toContain(status);
    expect(spent()).toBeLessThan(8000);
    await server.admin.delete(`${path}/large`);
  });

  test("a hundred thousand errors get a short response", async () => {
    const finalizers = Array.from({ length: 150_000 }, () => "A b");
    const answer = await refused(JSON.stringify({ metadata: { name: "x", finalizers } }), [422]);
    expect(answer.text.length).toBeLessThan(1024 * 1024);
    expect(answer.body.details.causes.at(-1).message).toBe("there are more faults than these");
  });

  test("large integers in free-form fields are stored exactly", async () => {
    const digits = "12345678901234567890";
    const managed = `{"manager":"m","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:x":${digits}}}`;
    const cases = [
      [
        "/apis/apps/v1/namespaces/default/controllerrevisions",
        `{"metadata":{"name":"digits"},"revision":1,"data":{"x":${digits}}}`,
      ],
      [
        "/apis/authorization.platform.io/v1/selfsubjectaccessreviews",
        `{"metadata":{"managedFields":[${managed}]},"spec":{"nonResourceAttributes":{"path":"/","verb":"get"}}}`,
      ],
    ] as const;
    for (const [at, raw] of cases) {
      const { status, text } = await server.admin.ask("POST", at, { raw });
      expect(status, text).toBe(201);
      expect(text).toContain(digits);
    }
  });
});

describe("patches that grow the object", () => {
  test("repeated doubling copies are rejected", async () => {
    const double = Array.from({ length: 40 }, (_, i) => ({
      op: "copy",
      from: "/metadata",
      path: `/metadata/x${i}`,
    }));
    const spent = cpuStopwatch();
    const { status } = await server.admin.patch(`${path}/target`, double, "json");
    expect([400, 413, 422]).toContain(status);
    expect(spent()).toBeLessThan(10_000);
  });

  test("100,000 operations are rejected", async () => {
    const many = Array.from({ length: 100_000 }, () => ({ op: "test", path: "/kind", value: "ConfigMap" }));
    expect([400, 413, 422]).toContain((await server.admin.patch(`${path}/target`, many, "json")).status);
  });

  test("large keyed lists are merged in limited time", async () => {
    const templates = "/api/v1/namespaces/default/podtemplates";
    const withEnv = (prefix: string) => {
      const env = Array.from({ length: 15_000 }, (_, i) => ({ name: `${prefix}${i}`, value: "v" }));
      return {
        metadata: { name: "keyed" },
        template: { metadata: {}, spec: { containers: [{ name: "c", image: "i", env }] } },
      };
    };
    await ok(server.admin.post(templates, withEnv("A")));
    const spent = cpuStopwatch();
    expect([200, 413]).toContain(
      (await server.admin.patch(`${templates}/keyed`, withEnv("B"), "strategic")).status,
    );
    expect(spent()).toBeLessThan(10_000);
  });
});
