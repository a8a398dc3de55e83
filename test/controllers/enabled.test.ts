import { describe, expect, it, test } from "vitest";
import { builtInControllers } from "../../src/controllers/all.ts";
import { enabledControllers } from "../../src/controllers/enabled.ts";
import { createServer } from "../../src/index.ts";

const onDemand = new Set(["bootstrapsigner", "tokencleaner"]);
const all = builtInControllers.map(({ name }) => name);
const usual = all.filter((name) => !onDemand.has(name));
const names = (...wanted: string[]) => enabledControllers(wanted, builtInControllers).map(({ name }) => name);

describe("--controllers", () => {
  it("* enables all controllers except those that must be named", () => expect(names("*")).toEqual(usual));

  it("C-5.4-02 a name enables its controller", () => {
    expect(names("*", "tokencleaner")).toEqual([...usual, "tokencleaner"]);
    expect(names("tokencleaner")).toEqual(["tokencleaner"]);
  });

  it("C-5.4-03 the order of * and names does not matter", () =>
    expect(names("bootstrapsigner", "tokencleaner", "*")).toEqual(all));

  it("a name after a minus disables its controller", () => {
    expect(names("*", "-namespace")).toEqual(usual.filter((name) => name !== "namespace"));
    expect(names("-namespace")).toEqual([]);
  });

  it("the first entry for a controller wins", () => {
    expect(names("-namespace", "namespace")).toEqual([]);
    expect(names("namespace", "-namespace")).toEqual(["namespace"]);
  });

  it("an empty list enables no controller", () => expect(names()).toEqual([]));
});

test("the server does not start when enabledControllers contains an unknown controller", async () => {
  const starting = createServer({ port: false, enabledControllers: ["*", "-cronjobs"] });
  await expect(starting).rejects.toThrow(
    'enabledControllers: there is no controller "cronjobs"; there are bootstrapsigner, clusterrole-aggregation, ',
  );
});

test("a disabled controller changes nothing", async () => {
  const server = await createServer({ port: false, enabledControllers: ["*", "-clusterrole-aggregation"] });
  const selectors = [{ matchLabels: { part: "yes" } }];
  const role = (name: string, more: object) =>
    server.client.create({
      apiVersion: "rbac.authorization.platform.io/v1",
      kind: "ClusterRole",
      metadata: { name, labels: { part: "yes" } },
      ...more,
    });
  await role("sum", { aggregationRule: { clusterRoleSelectors: selectors }, rules: [] });
  await role("part", { rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get"] }] });
  await new Promise((resolve) => setTimeout(resolve, 100));
  const sum = await server.client.get({
    apiVersion: "rbac.authorization.platform.io/v1",
    kind: "ClusterRole",
    name: "sum",
  });
  expect((sum as { rules?: unknown[] }).rules ?? []).toEqual([]);
  await server.close();
});
