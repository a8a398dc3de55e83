import { describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { type Answer } from "../../support/api.ts";
import { HttpsService } from "../../support/https-service.ts";
import { definition, definitions, group, served, whenServed } from "./support.ts";
import {
  type Endpoint,
  right,
  wrong,
  properties,
  versions,
  useConversionWebhook,
} from "./conversion-support.ts";

const { fixture, conversion, endpoints, reviews } = useConversionWebhook();

describe.each(["v1", "v1beta1"])("objects are converted by a webhook, by ConversionReview %s", (review) => {
  test.each(["v1", "v2"])("when they are written and read; stored as %s", async (storage) => {
    const { v1, v2, inV1, inV2 } = await endpoints(storage, ["v9", review]);
    const first = await fixture.server.admin.post(v1, inV1("a", "a.example:80"));
    expect([first.status, first.body.apiVersion, first.body.spec]).toEqual([
      201,
      `${group}/v1`,
      { endpoint: "a.example:80" },
    ]);
    const second = await fixture.server.admin.post(v2, inV2("b", "b.example", 81));
    expect([second.status, second.body.apiVersion, second.body.spec]).toEqual([
      201,
      `${group}/v2`,
      { host: "b.example", port: 81 },
    ]);
    expect((await fixture.server.admin.get(`${v2}/a`)).body.spec).toEqual({ host: "a.example", port: 80 });
    expect((await fixture.server.admin.get(`${v1}/b`)).body.spec).toEqual({ endpoint: "b.example:81" });
    const put = await fixture.server.admin.put(`${v2}/a`, {
      ...(await fixture.server.admin.get(`${v2}/a`)).body,
      spec: { host: "c", port: 82 },
    });
    expect([put.status, put.body.spec, put.body.metadata.generation]).toEqual([
      200,
      { host: "c", port: 82 },
      2,
    ]);
    const patched = await fixture.server.admin.patch(`${v1}/a`, { spec: { endpoint: "d:83" } });
    expect([patched.body.spec, patched.body.apiVersion]).toEqual([{ endpoint: "d:83" }, `${group}/v1`]);
    expect((await fixture.server.admin.patch(`${v2}/a`, { spec: { port: 84 } })).body.spec).toEqual({
      host: "d",
      port: 84,
    });
    const status = await fixture.server.admin.patch(`${v2}/a/status`, { status: { ready: true } });
    expect([status.body.spec, status.body.status]).toEqual([{ host: "d", port: 84 }, { ready: true }]);
    expect(reviews()[0]).toMatchObject({
      apiVersion: `apiextensions.platform.io/${review}`,
      kind: "ConversionReview",
      request: { objects: [{ apiVersion: expect.stringContaining(group) }] },
    });
    await ok(fixture.server.admin.delete(`${v2}/a`));
    expect((await fixture.server.admin.get(`${v1}/a`)).status).toBe(404);
  });
});

describe("conversion", () => {
  test("a request in the stored version calls no webhook; a write in another one is validated by its own schema", async () => {
    const { v1, v2, inV1, inV2 } = await endpoints();
    await ok(fixture.server.admin.post(v1, inV1("a", "a:1")));
    await ok(fixture.server.admin.get(`${v1}/a`));
    await ok(fixture.server.admin.get(v1));
    await ok(fixture.server.admin.patch(`${v1}/a`, { spec: { note: "x" } }));
    expect(fixture.webhook.received).toEqual([]);
    const refused = await fixture.server.admin.post(v2, inV2("b", "b", 70_000));
    expect([refused.status, refused.body.details.causes[0].field]).toEqual([422, "spec.port"]);
    expect((await fixture.server.admin.get(v2, { accept: "application/json" })).body.items[0].spec.note).toBe(
      "x",
    );
  });

  test("a list is converted in batches, with selectors, limits and tables", async () => {
    const { v1, v2, inV1 } = await endpoints();
    const names = Array.from({ length: 520 }, (_, index) => `n${String(index).padStart(3, "0")}`);
    const create = (name: string, index: number) =>
      ok(
        fixture.server.admin.post(v1, inV1(name, `${name}:${index}`, { labels: { odd: String(index % 2) } })),
      );
    // Few connections, as each needs a handshake.
    for (let from = 0; from < names.length; from += 10) {
      await Promise.all(names.slice(from, from + 10).map((name, at) => create(name, from + at)));
    }
    const { body } = await fixture.server.admin.get(v2);
    expect(body.items.map(({ spec }: Endpoint) => [spec.host, spec.port])).toEqual(
      names.map((name, index) => [name, index]),
    );
    expect(body.apiVersion).toBe(`${group}/v2`);
    expect(fixture.webhook.received.length).toBeLessThan(10);
    expect(Math.max(...reviews().map(({ request }) => request.objects.length))).toBeLessThanOrEqual(500);
    fixture.webhook.received.length = 0;
    const some = await fixture.server.admin.get(`${v2}?limit=3&labelSelector=odd%3D1`);
    expect(some.body.items.map(({ spec }: Endpoint) => spec.port)).toEqual([1, 3, 5]);
    const table = await fixture.server.admin.get(`${v2}?limit=2`, {
      accept: "application/json;as=Table;v=v1;g=meta.platform.io",
    });
    expect(table.body.rows.map(({ cells }: { cells: unknown[] }) => cells)).toEqual([
      ["n000", "0"],
      ["n001", "1"],
    ]);
  });

  test("a watch sends changes in its version, in order", async () => {
    const { v1, v2, inV1, inV2 } = await endpoints();
    await ok(fixture.server.admin.post(v1, inV1("before", "b:1")));
    const watch = await fixture.server.admin.watch(`${v2}?watch=1`);
    const next = async () => {
      const { type, object } = await watch.next();
      return [type, object.apiVersion, object.spec];
    };
    const v2Name = `${group}/v2`;
    expect(await next()).toEqual(["ADDED", v2Name, { host: "b", port: 1 }]);
    fixture.answer = async (request) => {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
      return right(request);
    };
    await ok(fixture.server.admin.post(v1, inV1("a", "a:1")));
    for (const port of [2, 3, 4])
      await ok(fixture.server.admin.patch(`${v1}/a`, { spec: { endpoint: `a:${port}` } }));
    await ok(fixture.server.admin.post(v2, inV2("z", "z", 9)));
    await ok(fixture.server.admin.delete(`${v1}/a`));
    const seen = [];
    for (let at = 0; at < 6; at++) seen.push(await next());
    expect(seen).toEqual([
      ["ADDED", v2Name, { host: "a", port: 1 }],
      ["MODIFIED", v2Name, { host: "a", port: 2 }],
      ["MODIFIED", v2Name, { host: "a", port: 3 }],
      ["MODIFIED", v2Name, { host: "a", port: 4 }],
      ["ADDED", v2Name, { host: "z", port: 9 }],
      ["DELETED", v2Name, { host: "a", port: 4 }],
    ]);
    fixture.answer = () => ({ status: 500, body: "" });
    await ok(fixture.server.admin.post(v1, inV1("c", "c:1")));
    const ended = await watch.next();
    expect([ended.type, ended.object.code]).toEqual(["ERROR", 500]);
    watch.close();
  });

  test("apply tracks field ownership across versions", async () => {
    const { v1, v2, inV1, inV2 } = await endpoints();
    const apply = (path: string, manager: string, body: object, more = "") =>
      fixture.server.admin.ask("PATCH", `${path}/a?fieldManager=${manager}${more}`, {
        contentType: "application/apply-patch+yaml",
        body,
      });
    const created = await apply(v1, "alice", inV1("a", "a:1"));
    expect([created.status, created.body.spec]).toEqual([201, { endpoint: "a:1" }]);
    // The owner of the endpoint in v1 would lose it by a change of the port in v2.
    const conflict = await apply(v2, "bob", inV2("a", "a", 2));
    expect([conflict.status, conflict.body.message]).toEqual([409, expect.stringContaining("alice")]);
    const forced = await apply(v2, "bob", inV2("a", "a", 2), "&force=true");
    expect([forced.status, forced.body.spec]).toEqual([200, { host: "a", port: 2 }]);
    const owners = (answer: Answer) =>
      answer.body.metadata.managedFields.map(({ manager, apiVersion, fieldsV1 }: Record<string, object>) => [
        manager,
        apiVersion,
        (fieldsV1 as Record<string, object>)["f:spec"],
      ]);
    expect(owners(forced)).toEqual([["bob", `${group}/v2`, { "f:host": {}, "f:port": {} }]]);
    // An update in v1 takes the ownership of what it changes.
    const updated = await fixture.server.admin.patch(`${v1}/a?fieldManager=carol`, {
      spec: { endpoint: "a:3" },
    });
    expect(owners(updated)).toContainEqual(["carol", `${group}/v1`, { "f:endpoint": {} }]);
    expect(owners(updated)).toContainEqual(["bob", `${group}/v2`, { "f:host": {} }]);
    const again = await apply(v2, "dave", { ...inV2("a", "a", 3), spec: { note: "n" } });
    expect([again.status, again.body.spec]).toEqual([200, { host: "a", note: "n", port: 3 }]);
  });

  test("objects of a former storage version are converted, and an unchanged write stores them in the new version", async () => {
    const { v1, v2, plural, inV1 } = await endpoints("v1");
    await ok(fixture.server.admin.post(v1, inV1("old", "old:1")));
    const path = `${definitions}/${plural}.${group}`;
    await ok(fixture.server.admin.patch(path, { spec: { versions: versions("v2") } }));
    expect((await fixture.server.admin.get(path)).body.status.storedVersions).toEqual(["v1", "v2"]);
    await whenServed(fixture.server.admin, definition({}, plural, "x"), "v2");
    expect((await fixture.server.admin.get(`${v2}/old`)).body.spec).toEqual({ host: "old", port: 1 });
    expect((await fixture.server.admin.get(`${v1}/old`)).body.spec).toEqual({ endpoint: "old:1" });
    const same = (await fixture.server.admin.get(`${v2}/old`)).body;
    const before = same.metadata.resourceVersion;
    const rewritten = await fixture.server.admin.put(`${v2}/old`, same);
    expect(Number(rewritten.body.metadata.resourceVersion)).toBeGreaterThan(Number(before));
    fixture.webhook.received.length = 0;
    expect((await fixture.server.admin.get(`${v2}/old`)).body.spec).toEqual({ host: "old", port: 1 });
    expect(fixture.webhook.received).toEqual([]);
    const unchanged = await fixture.server.admin.put(`${v2}/old`, rewritten.body);
    expect(unchanged.body.metadata.resourceVersion).toBe(rewritten.body.metadata.resourceVersion);
  });

  test("a conversion may change labels and annotations, but no other metadata", async () => {
    const { v1, v2, inV1 } = await endpoints();
    await ok(
      fixture.server.admin.post(v1, inV1("a", "a:1", { labels: { a: "1" }, finalizers: ["example.com/f"] })),
    );
    fixture.answer = wrong(({ response }) => {
      for (const { metadata } of response.convertedObjects) {
        Object.assign(metadata, { labels: { b: "2" }, finalizers: [], resourceVersion: "1", generation: 9 });
      }
    });
    const before = (await fixture.server.admin.get(`${v1}/a`)).body.metadata;
    const { metadata } = (await fixture.server.admin.get(`${v2}/a`)).body;
    expect(metadata).toMatchObject({ ...before, labels: { b: "2" }, managedFields: expect.any(Array) });
  });

  test("a converted object gets the defaults of its version, and unknown fields are dropped", async () => {
    const plural = "defaultings";
    const mode = properties({
      host: { type: "string" },
      port: { type: "integer" },
      mode: { type: "string", default: "fast" },
    });
    const [first, second] = versions("v1");
    const made = definition(
      { versions: [first, { ...second, schema: mode }], conversion: conversion() },
      plural,
      "Defaulting",
    );
    const v1 = await served(fixture.server.admin, made as never);
    const v2 = v1.replace("/v1/", "/v2/");
    const body = {
      apiVersion: `${group}/v1`,
      kind: "Defaulting",
      metadata: { name: "a" },
      spec: { endpoint: "a:1" },
    };
    await ok(fixture.server.admin.post(v1, body));
    expect((await fixture.server.admin.get(`${v2}/a`)).body.spec).toEqual({
      host: "a",
      mode: "fast",
      port: 1,
    });
    const changed = await fixture.server.admin.patch(`${v2}/a`, { spec: { mode: "slow" } });
    // The stored version has no such field, so later reads return the default again.
    expect(changed.body.spec.mode).toBe("fast");
    fixture.answer = wrong(({ response }) => {
      for (const { spec } of response.convertedObjects) Object.assign(spec, { unknown: 1 });
    });
    expect((await fixture.server.admin.get(`${v2}/a`)).body.spec).toEqual({
      host: "a",
      mode: "fast",
      port: 1,
    });
  });

  test("admission webhooks get the version of their rules", async () => {
    const { v1, v2, plural, inV1, inV2 } = await endpoints();
    const seen: Endpoint[] = [];
    const admission = await HttpsService.start(({ text }) => {
      const { apiVersion, kind, request } = JSON.parse(text) as {
        apiVersion: string;
        kind: string;
        request: { uid: string; object: Endpoint; oldObject: Endpoint | null };
      };
      seen.push(request.object);
      if (request.oldObject !== null) seen.push(request.oldObject);
      const patch = [{ op: "add", path: "/spec/note", value: "mutated" }];
      const encoded = Buffer.from(JSON.stringify(patch)).toString("base64");
      const response = { uid: request.uid, allowed: true, patchType: "JSONPatch", patch: encoded };
      return { body: { apiVersion, kind, response } };
    });
    const configurations = "/apis/admissionregistration.platform.io/v1/mutatingwebhookconfigurations";
    await ok(
      fixture.server.admin.post(configurations, {
        metadata: { name: "mutate" },
        webhooks: [
          {
            name: "mutate.example.com",
            admissionReviewVersions: ["v1"],
            sideEffects: "None",
            clientConfig: {
              url: `${admission.url}/`,
              caBundle: Buffer.from(admission.ca).toString("base64"),
            },
            rules: [{ operations: ["*"], apiGroups: [group], apiVersions: ["v2"], resources: [plural] }],
          },
        ],
      }),
    );
    const { body } = await fixture.server.admin.post(v1, inV1("a", "a:1"));
    expect([body.apiVersion, body.spec]).toEqual([`${group}/v1`, { endpoint: "a:1", note: "mutated" }]);
    await ok(fixture.server.admin.patch(`${v1}/a`, { spec: { endpoint: "a:2" } }));
    await ok(fixture.server.admin.post(v2, inV2("b", "b", 3)));
    expect(seen.map(({ apiVersion, spec }) => [apiVersion.slice(-2), spec.host, spec.port])).toEqual([
      ["v2", "a", 1],
      ["v2", "a", 2],
      ["v2", "a", 1],
      ["v2", "b", 3],
    ]);
    await ok(fixture.server.admin.delete(`${configurations}/mutate`));
    await admission.close();
  });

  test("policies get the version of their rules, and parameters in their own version", async () => {
    const { v1, v2, plural, kind, inV1, inV2 } = await endpoints();
    const base = "/apis/admissionregistration.platform.io/v1alpha1/validatingadmissionpolic";
    await ok(fixture.server.admin.post(v1, inV1("limits", "x:100")));
    await ok(
      fixture.server.admin.post(`${base}ies`, {
        metadata: { name: "ports" },
        spec: {
          paramKind: { apiVersion: `${group}/v2`, kind },
          matchConstraints: {
            resourceRules: [
              { operations: ["*"], apiGroups: [group], apiVersions: ["v2"], resources: [plural] },
            ],
          },
          validations: [{ expression: "object.spec.port <= params.spec.port", message: "port is too large" }],
        },
      }),
    );
    await ok(
      fixture.server.admin.post(`${base}ybindings`, {
        metadata: { name: "ports" },
        spec: { policyName: "ports", paramRef: { name: "limits", namespace: "default" } },
      }),
    );
    const refused = await fixture.server.admin.post(v1, inV1("a", "a:101"));
    expect([refused.status, refused.body.message]).toEqual([
      422,
      expect.stringContaining("port is too large"),
    ]);
    await ok(fixture.server.admin.post(v1, inV1("a", "a:99")));
    await ok(fixture.server.admin.post(v2, inV2("b", "b", 100)));
    expect((await fixture.server.admin.post(v2, inV2("c", "c", 101))).status).toBe(422);
    await ok(fixture.server.admin.delete(`${base}ybindings/ports`));
    await ok(fixture.server.admin.delete(`${base}ies/ports`));
  });

  test("generateName works in another version, and a dry run stores nothing", async () => {
    const { v1, v2, inV2 } = await endpoints();
    const { name: _, ...object } = inV2("x", "g", 1).metadata;
    const made = await fixture.server.admin.post(v2, {
      ...inV2("x", "g", 1),
      metadata: { ...object, generateName: "g-" },
    });
    expect([made.status, made.body.spec]).toEqual([201, { host: "g", port: 1 }]);
    const { name } = made.body.metadata;
    expect((await fixture.server.admin.get(`${v1}/${name}`)).body.spec).toEqual({ endpoint: "g:1" });
    const dry = await fixture.server.admin.post(`${v2}?dryRun=All`, inV2("dry", "d", 1));
    expect([dry.status, dry.body.spec]).toEqual([201, { host: "d", port: 1 }]);
    expect((await fixture.server.admin.get(`${v1}/dry`)).status).toBe(404);
    const patched = await fixture.server.admin.patch(`${v2}/${name}?dryRun=All`, { spec: { port: 5 } });
    expect(patched.body.spec).toEqual({ host: "g", port: 5 });
    expect((await fixture.server.admin.get(`${v1}/${name}`)).body.spec).toEqual({ endpoint: "g:1" });
    await ok(fixture.server.admin.delete(`${v2}?labelSelector=none`));
    expect((await fixture.server.admin.get(v1)).body.items).toHaveLength(1);
    await ok(fixture.server.admin.delete(v2));
    expect((await fixture.server.admin.get(v1)).body.items).toEqual([]);
  });
});
