import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { faultsIn, ok } from "./device-support.ts";

const group = "/apis/networking.platform.io/v1";
const server = useServer({ release: "1.37" });
const parentRef = { resource: "services", namespace: "default", name: "s" };

async function faultsOf(resource: string, object: object): Promise<string[]> {
  const { status, body } = await server.admin.post(`${group}/${resource}?fieldValidation=Strict`, object);
  if (status === 201) return [];
  expect(status, JSON.stringify(body)).toBe(422);
  return faultsIn(body);
}

describe("an address", () => {
  test.each<[string, object, string[]]>([
    ["10.1.0.5", { parentRef }, []],
    ["2001:db8::1", { parentRef: { ...parentRef, group: "apps" } }, []],
    ["2001:DB8::2", { parentRef }, ["metadata.name Invalid"]],
    ["::ffff:1.2.3.4", { parentRef }, ["metadata.name Invalid"]],
    ["name", { parentRef }, ["metadata.name Invalid"]],
    ["10.1.0.6", {}, ["spec.parentRef Required"]],
    ["10.1.0.6", { parentRef: {} }, ["spec.parentRef.name Required", "spec.parentRef.resource Required"]],
    [
      "10.1.0.6",
      { parentRef: { group: "A_", resource: "a/b", namespace: "..", name: "a%b" } },
      ["group", "name", "namespace", "resource"].map((name) => `spec.parentRef.${name} Invalid`),
    ],
  ])("%s with the spec %j", async (name, spec, expected) => {
    expect(await faultsOf("ipaddresses", { metadata: { name }, spec })).toEqual(expected);
  });

  test("keeps its parent", async () => {
    await ok(
      server.admin.post(`${group}/ipaddresses`, { metadata: { name: "10.9.0.1" }, spec: { parentRef } }),
    );
    const { body } = await server.admin.patch(`${group}/ipaddresses/10.9.0.1`, {
      spec: { parentRef: { name: "t" } },
    });
    expect(faultsIn(body)).toEqual(["spec.parentRef Invalid"]);
  });
});

let count = 0;
const ranges = (...cidrs: readonly string[]) => ({ metadata: { name: `c${count++}` }, spec: { cidrs } });

describe("ranges of services", () => {
  test.each<[readonly string[], string[]]>([
    [["10.3.0.0/24"], []],
    [["2001:db8::/64", "10.4.0.0/24"], []],
    [[], ["spec.cidrs Required"]],
    [["10.5.0.0/24", "10.6.0.0/24"], ["spec.cidrs Invalid"]],
    [["10.1.0.0/24", "2001::/64", "10.2.0.0/24"], ["spec.cidrs Invalid"]],
    [["a", "2001::/64"], ["spec.cidrs[0] Invalid"]],
    [["10.7.0.1/24"], ["spec.cidrs[0] Invalid"]],
    [["10.7.0.0/024"], ["spec.cidrs[0] Invalid"]],
    [["10.7.0.0/33"], ["spec.cidrs[0] Invalid"]],
    [["2001:DB8::/64"], ["spec.cidrs[0] Invalid"]],
    [["::ffff:1.2.3.0/120"], ["spec.cidrs[0] Invalid"]],
  ])("%j", async (cidrs, expected) => {
    expect(await faultsOf("servicecidrs", ranges(...cidrs))).toEqual(expected);
  });

  test("can get a second range only", async () => {
    const { metadata } = await ok(server.admin.post(`${group}/servicecidrs`, ranges("10.8.0.0/24")));
    const change = (...cidrs: readonly string[]) =>
      server.admin.patch(`${group}/servicecidrs/${metadata.name}`, { spec: { cidrs } });
    expect(faultsIn((await change("10.9.0.0/24")).body)).toEqual(["spec.cidrs[0] Invalid"]);
    expect(faultsIn((await change("10.8.0.0/24", "10.9.0.0/24")).body)).toEqual(["spec.cidrs Invalid"]);
    await ok(change("10.8.0.0/24", "2001:db8:1::/64"));
    expect(faultsIn((await change("10.8.0.0/24")).body)).toEqual(["spec.cidrs Invalid"]);
  });

  test("of the server are an object that is ready", async () => {
    const { items } = await ok(
      server.admin.get(`${group}/servicecidrs?fieldSelector=metadata.name=platform`),
    );
    expect(items).toMatchObject([
      { spec: { cidrs: ["10.0.0.0/24"] }, status: { conditions: [{ type: "Ready", status: "True" }] } },
    ]);
  });
});
