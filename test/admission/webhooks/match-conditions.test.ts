import { describe, expect, test } from "vitest";
import { useServer } from "../../support/use-server.ts";
import { hook, patched, useWebhook } from "./support.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const CONFIGURATIONS = "/apis/admissionregistration.platform.io/v1/validatingwebhookconfigurations";
const fixture = useWebhook({ release: "1.30" });

const map = (name: string, data: object = {}) => ({ metadata: { name }, data });
const conditions = (...expressions: string[]) => ({
  matchConditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
});

describe("match conditions of webhooks", () => {
  test("call a validating webhook only if all hold", async () => {
    const when = conditions("has(object.data)", "'a' in object.data", "request.operation == 'CREATE'");
    await fixture.configurations.validating("c", hook(fixture.webhook.client("/v"), when));
    await fixture.server.admin.post(MAPS, map("without"));
    await fixture.server.admin.post(MAPS, map("other", { b: "1" }));
    expect(fixture.webhook.paths).toEqual([]);
    expect((await fixture.server.admin.post(MAPS, map("with", { a: "1" }))).status).toBe(201);
    expect(fixture.webhook.paths).toEqual(["/v"]);
    await fixture.server.admin.delete(`${MAPS}/with`);
    expect(fixture.webhook.paths).toEqual(["/v"]);
  });

  test("see the changes of earlier mutating webhooks", async () => {
    fixture.webhook.answer = () => ({ response: patched({ op: "add", path: "/data", value: { a: "1" } }) });
    const first = { name: "a.test.example.com" };
    const second = { name: "b.test.example.com", ...conditions("has(object.data) && 'a' in object.data") };
    await fixture.configurations.mutating(
      "c",
      hook(fixture.webhook.client("/first"), first),
      hook(fixture.webhook.client("/second"), second),
    );
    expect((await fixture.server.admin.post(MAPS, map("changed"))).body["data"]).toEqual({ a: "1" });
    expect(fixture.webhook.paths).toEqual(["/first", "/second"]);
  });

  test.each([
    ["Fail", 403],
    ["Ignore", 201],
  ])("that fail follow the failure policy %s", async (failurePolicy, expected) => {
    const changes = { failurePolicy, ...conditions("1 / 0 == 1") };
    await fixture.configurations.validating("c", hook(fixture.webhook.client(), changes));
    const { status, body } = await fixture.server.admin.post(MAPS, map("failing"));
    expect(status).toBe(expected);
    if (expected === 403) expect(body["message"]).toContain("matchCondition 'c0' failed: division by zero");
    expect(fixture.webhook.paths).toEqual([]);
  });

  test("can check what the user may do", async () => {
    const when = conditions("!authorizer.requestResource.check('call-webhooks').allowed()");
    await fixture.configurations.validating("c", hook(fixture.webhook.client(), when));
    expect((await fixture.server.admin.post(MAPS, map("by-administrator"))).status).toBe(201);
    expect(fixture.webhook.paths).toEqual([]);
    const otherwise = conditions("authorizer.requestResource.check('call-webhooks').allowed()");
    await fixture.configurations.validating("d", hook(fixture.webhook.client("/d"), otherwise));
    expect((await fixture.server.admin.post(MAPS, map("by-administrator-too"))).status).toBe(201);
    expect(fixture.webhook.paths).toEqual(["/d"]);
  });

  test("that fail don't count if one is false", async () => {
    const changes = conditions("1 / 0 == 1", "false");
    await fixture.configurations.validating("c", hook(fixture.webhook.client(), changes));
    expect((await fixture.server.admin.post(MAPS, map("skipped"))).status).toBe(201);
  });

  test.each([
    [[{ name: "c", expression: "1" }], "expression"],
    [[{ name: "c", expression: "object." }], "expression"],
    [[{ name: "c c", expression: "true" }], "name"],
    [[{ name: "c", expression: " " }], "expression"],
  ])("are refused: %j", async (matchConditions, field) => {
    const webhooks = [hook(fixture.webhook.client(), { matchConditions })];
    const { status, body } = await fixture.server.admin.post(CONFIGURATIONS, {
      metadata: { name: "bad" },
      webhooks,
    });
    expect(status).toBe(422);
    expect(body["details"].causes.map((cause: { field: string }) => cause.field)).toEqual([
      `webhooks[0].matchConditions[0].${field}`,
    ]);
  });
});

describe("in the reference release", () => {
  const server = useServer();
  test("webhooks have no match conditions", async () => {
    const webhooks = [hook({ url: "https://127.0.0.1:1/" }, conditions("true"))];
    const body = { metadata: { name: "unknown" }, webhooks };
    const { status, body: answer } = await server.admin.post(
      `${CONFIGURATIONS}?fieldValidation=Strict`,
      body,
    );
    expect(status).toBe(400);
    expect(answer["message"]).toContain('unknown field "webhooks[0].matchConditions"');
  });
});
