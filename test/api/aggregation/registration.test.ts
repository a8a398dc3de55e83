import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/time/clock.ts";
import { createMemoryStore } from "../../../src/storage/memory/memory-store.ts";
import { TestServer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { apiService, apiServices, availability, ExtensionServer } from "../../support/extension-server.ts";
import { definition, definitions, group } from "../custom-resources/support.ts";
import { ok, until } from "../support.ts";

const label = "aggregator.platform.io/automanaged";

const server = useServer({ connections: { allowLoopback: true } });

const find = (name: string) => server.admin.get(`${apiServices}/${name}`);
const found = (name: string) =>
  until(
    () => find(name),
    ({ status }) => status === 200,
  );
const gone = (name: string) =>
  until(
    () => find(name),
    ({ status }) => status === 404,
  );

describe("the APIServices of group versions that this server serves", () => {
  test.each([
    ["v1.", 18_000, 1],
    ["v1.apps", 17_800, 15],
    ["v1.rbac.authorization.platform.io", 17_000, 15],
    ["v2.autoscaling", 17_500, 30],
    ["v1.apiextensions.platform.io", 16_700, 15],
    ["v1.coordination.platform.io", 16_500, 15],
  ])("%s exists from the start, local and available", async (name, groupPriorityMinimum, versionPriority) => {
    const { body } = await found(name);
    expect(body.metadata.labels).toEqual({ [label]: "onstart" });
    expect(body.spec).toMatchObject({ version: name.split(".")[0], groupPriorityMinimum, versionPriority });
    expect(body.spec.service).toBeUndefined();
    expect(availability({ body })).toMatchObject({ status: "True", reason: "Local" });
  });

  test("exist for each built-in group version except that of APIServices", async () => {
    const { body } = await server.admin.get("/apis");
    const served = (body.groups as { name: string; versions: { version: string }[] }[])
      .flatMap(({ name, versions }) => versions.map(({ version }) => `${version}.${name}`))
      .filter((name) => !name.endsWith(".apiregistration.platform.io"));
    for (const name of ["v1.", ...served]) await found(name);
    expect((await find("v1.apiregistration.platform.io")).status).toBe(404);
  });

  test("of custom resources are created and deleted with the served versions of definitions", async () => {
    await ok(server.admin.post(definitions, definition()));
    const { body } = await found(`v1.${group}`);
    expect(body.metadata.labels).toEqual({ [label]: "true" });
    expect(body.spec).toEqual({ group, version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 });
    await ok(server.admin.delete(`${apiServices}/v1.${group}`));
    await found(`v1.${group}`);
    await ok(server.admin.patch(`${apiServices}/v1.${group}`, { spec: { versionPriority: 5 } }));
    await until(
      () => find(`v1.${group}`),
      ({ body: one }) => one.spec.versionPriority === 100,
    );
    await ok(server.admin.delete(`${definitions}/orders.${group}`));
    await gone(`v1.${group}`);
  });

  test("are left unchanged when an operator created one with the name of a custom resource's version", async () => {
    const extension = await ExtensionServer.start({ group });
    await extension.register(server.admin);
    await ok(server.admin.post(definitions, definition()));
    await until(
      () => server.admin.get(`${definitions}/orders.${group}`),
      ({ body }) => body.status?.conditions?.length > 1,
    );
    const { body } = await find(extension.name);
    expect([body.metadata.labels, body.spec.service.name]).toEqual([undefined, "extension"]);
    const answered = await server.admin.get(`${extension.path}/orders`);
    expect(answered.body).toMatchObject({ path: `${extension.path}/orders` });
    await ok(server.admin.delete(`${definitions}/orders.${group}`));
    await ok(server.admin.delete(`${apiServices}/${extension.name}`));
    await extension.close();
  });
});

test("a start updates those of built-in kinds and removes those of versions no longer served", async () => {
  const store = createMemoryStore({ clock: systemClock });
  const first = await TestServer.start({ storage: store });
  const path = (name: string) => `${apiServices}/${name}`;
  await until(
    () => first.admin.get(path("v1.apps")),
    ({ status }) => status === 200,
  );
  await ok(
    first.admin.post(
      apiServices,
      apiService("old.example.com", "v1", {}, { labels: { [label]: "onstart" } }),
    ),
  );
  await ok(first.admin.post(apiServices, apiService("own.example.com", "v1", {})));
  await ok(first.admin.patch(path("v1.apps"), { spec: { versionPriority: 3 } }));
  await first.close();
  const second = await TestServer.start({ storage: store });
  await until(
    () => second.admin.get(path("v1.apps")),
    ({ body }) => body.spec.versionPriority === 15,
  );
  await until(
    () => second.admin.get(path("v1.old.example.com")),
    ({ status }) => status === 404,
  );
  expect((await second.admin.get(path("v1.own.example.com"))).status).toBe(200);
  await second.close();
  await store.close();
});
