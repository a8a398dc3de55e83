import { describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { type Received } from "../../support/https-service.ts";
import { definitions, group } from "./support.ts";
import { right, wrong, useConversionWebhook } from "./conversion-support.ts";

const { fixture, endpoints } = useConversionWebhook();

describe("a failing conversion webhook", () => {
  test.each<[string, () => typeof fixture.answer, RegExp]>([
    ["answers with another status", () => () => ({ status: 503, body: "" }), /status 503/],
    ["answers with no JSON", () => () => ({ body: "<html>" }), /not JSON/],
    ["answers with nothing", () => () => ({ body: "{}" }), /no response/],
    [
      "answers another question",
      () => wrong(({ response }) => void (response.uid = "x")),
      /expected response.uid/,
    ],
    [
      "answers in another version of the review",
      () => wrong((body) => ({ ...body, apiVersion: "x/v1" })),
      /expected webhook response/,
    ],
    [
      "refuses",
      () =>
        wrong(({ response }) => void (response.result = { status: "Failed", message: "no way" } as never)),
      /no way/,
    ],
    [
      "leaves objects out",
      () => wrong(({ response }) => void (response.convertedObjects = [])),
      /returned 0 objects, expected 1/,
    ],
    [
      "answers in another version",
      () => wrong(({ response }) => void (response.convertedObjects[0]!.apiVersion = "x/v3")),
      /invalid groupVersion/,
    ],
    [
      "makes another kind of it",
      () => wrong(({ response }) => void (response.convertedObjects[0]!.kind = "Pod")),
      /must have the same kind/,
    ],
    [
      "renames it",
      () => wrong(({ response }) => void (response.convertedObjects[0]!.metadata.name = "x")),
      /must have the same name/,
    ],
    [
      "gives it another uid",
      () => wrong(({ response }) => void (response.convertedObjects[0]!.metadata["uid"] = "x")),
      /must have the same uid/,
    ],
    [
      "moves it",
      () => wrong(({ response }) => void (response.convertedObjects[0]!.metadata["namespace"] = "x")),
      /must have the same namespace/,
    ],
    [
      "takes its metadata away",
      () => wrong(({ response }) => void (response.convertedObjects[0]!.metadata = undefined as never)),
      /missing metadata/,
    ],
    [
      "makes labels of a wrong type",
      () => wrong(({ response }) => void (response.convertedObjects[0]!.metadata.labels = { a: 1 as never })),
      /metadata.labels/,
    ],
    [
      "answers with no objects",
      () => wrong(({ response }) => void (response.convertedObjects = [null as never])),
      /not an object/,
    ],
    [
      "answers with 100 MB",
      () => () => ({ body: " ".repeat(100 * 1024 * 1024) }),
      /answers more than 8388608 bytes/,
    ],
  ])("that %s fails the request with 500 and names the definition", async (_, make, why) => {
    const { v1, v2, plural, inV1, inV2, kind } = await endpoints();
    await ok(fixture.server.admin.post(v1, inV1("a", "a:1")));
    fixture.answer = make();
    const { status, body } = await fixture.server.admin.get(`${v2}/a`);
    expect([status, body.reason, body.message]).toEqual([500, "InternalError", expect.stringMatching(why)]);
    expect(body.message).toContain(`conversion webhook for ${group}/v1, Kind=${kind} failed: `);
    expect(body.message).toContain(`CustomResourceDefinition ${plural}.${group}`);
    expect((await fixture.server.admin.post(v2, inV2("b", "b", 1))).status).toBe(500);
    expect((await fixture.server.admin.get(`${v1}/b`)).status).toBe(404);
    await ok(fixture.server.admin.get(`${v1}/a`));
    await ok(fixture.server.admin.delete(`${v1}/a`));
  });

  test("doesn't prevent deletion of its objects, their namespace and the definition", async () => {
    const { v1, plural, inV1 } = await endpoints();
    await ok(fixture.server.admin.post("/api/v1/namespaces", { metadata: { name: "leaving" } }));
    const inside = v1.replace("/default/", "/leaving/");
    await ok(fixture.server.admin.post(inside, inV1("a", "a:1")));
    await ok(fixture.server.admin.post(v1, inV1("a", "a:1")));
    fixture.answer = () => ({ status: 500, body: "" });
    await ok(fixture.server.admin.delete("/api/v1/namespaces/leaving"));
    const gone = (path: string) =>
      expect.poll(async () => (await fixture.server.admin.get(path)).status, { timeout: 5000 });
    await gone("/api/v1/namespaces/leaving").toBe(404);
    await ok(fixture.server.admin.delete(`${definitions}/${plural}.${group}`));
    await gone(`${definitions}/${plural}.${group}`).toBe(404);
  });

  test("that never answers delays no other resource", async () => {
    const { v1, v2, inV1 } = await endpoints();
    const other = await endpoints();
    await ok(fixture.server.admin.post(v1, inV1("a", "a:1")));
    await ok(fixture.server.admin.post(other.v1, other.inV1("a", "a:1")));
    fixture.answer = ({ text }) =>
      text.includes(`"kind":"Endpoint${fixture.count - 1}"`)
        ? { body: undefined }
        : right({ text } as Received);
    let answered = 0;
    const stuck = [v2, ...Array.from({ length: 50 }, () => `${v2}/a`)].map(async (path) => {
      await fixture.server.admin.get(path).catch(() => undefined);
      answered += 1;
    });
    for (let at = 0; at < 20; at++) {
      expect((await fixture.server.admin.get(`${other.v2}/a`)).body.spec).toEqual({ host: "a", port: 1 });
      await ok(fixture.server.admin.get(`${v1}/a`));
      await ok(fixture.server.admin.get("/api/v1/namespaces"));
    }
    expect(answered).toBe(0);
    void Promise.all(stuck);
  });
});
