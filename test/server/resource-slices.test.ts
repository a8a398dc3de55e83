import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { collections, faultsOf, named, ok } from "./device-support.ts";

const server = useServer({ release: "1.37", runtimeConfig: "api/all=true" });

const pool = { name: "p", generation: 1, resourceSliceCount: 1 };
const slice = { driver: "driver.example.com", pool, allNodes: true };
const { allNodes: _, ...withoutNodes } = slice;
const device = (more: object) => ({ ...slice, devices: [{ name: "d", ...more }] });
const policy = (requestPolicy: object) =>
  device({ allowMultipleAllocations: true, capacity: { mem: { value: "10", requestPolicy } } });

describe("a resource slice", () => {
  test.each<[string, object, string[]]>([
    [
      "with attributes",
      device({ attributes: { a: { string: "x" }, "d.example.com/v": { version: "1.2.3-rc.1+b" } } }),
      [],
    ],
    [
      "with a policy for requests",
      policy({ default: "4", validRange: { min: "2", max: "10", step: "2" } }),
      [],
    ],
    ["without nodes", withoutNodes, ["spec Required"]],
    ["with two choices of nodes", { ...slice, nodeName: "n" }, ["spec Invalid"]],
    ["without driver", { ...slice, driver: "" }, ["spec.driver Required"]],
    [
      "with a bad pool",
      { ...slice, pool: { name: "a//b", generation: -1, resourceSliceCount: 0 } },
      ["spec.pool.generation Invalid", "spec.pool.name Invalid", "spec.pool.resourceSliceCount Invalid"],
    ],
    [
      "with 129 devices",
      { ...slice, devices: Array.from({ length: 129 }, (_one, index) => ({ name: `d${index}` })) },
      ["spec.devices TooMany"],
    ],
    [
      "with equal devices",
      { ...slice, devices: [{ name: "d" }, { name: "d" }] },
      ["spec.devices[1] Duplicate"],
    ],
    ["with an empty attribute", device({ attributes: { a: {} } }), ["spec.devices[0].attributes[a] Invalid"]],
    [
      "with two values of an attribute",
      device({ attributes: { a: { int: 1, bool: true } } }),
      ["spec.devices[0].attributes[a] Invalid"],
    ],
    [
      "with a bad version",
      device({ attributes: { a: { version: "01.2.3" } } }),
      ["spec.devices[0].attributes[a].version Invalid"],
    ],
    [
      "with a bad name",
      device({ attributes: { "a b": { int: 1 } } }),
      ["spec.devices[0].attributes Invalid"],
    ],
    [
      "with too many values",
      device({
        attributes: Object.fromEntries(
          Array.from({ length: 33 }, (_one, index) => [`a${index}`, { int: 1 }]),
        ),
      }),
      ["spec.devices[0] Invalid"],
    ],
    [
      "with a bad taint",
      device({ taints: [{ key: "a", effect: "X" }] }),
      ["spec.devices[0].taints[0].effect NotSupported"],
    ],
    [
      "with counters and devices",
      { ...device({}), sharedCounters: [{ name: "s", counters: { c: { value: "1" } } }] },
      ["spec Invalid"],
    ],
    ["with nodes of a device", device({ nodeName: "n" }), ["spec.devices[0] Invalid"]],
    [
      "with a policy of a device with one allocation",
      device({ capacity: { mem: { value: "10", requestPolicy: { default: "1", validValues: ["1"] } } } }),
      ["spec.devices[0].capacity[mem].requestPolicy Forbidden"],
    ],
    [
      "with a policy without default",
      policy({ validValues: ["1"] }),
      ["spec.devices[0].capacity[mem].requestPolicy.default Required"],
    ],
    [
      "with a range without minimum",
      policy({ default: "4", validRange: {} }),
      ["spec.devices[0].capacity[mem].requestPolicy.validRange.min Required"],
    ],
    [
      "with an amount between the steps",
      policy({ default: "3", validRange: { min: "2", step: "2" } }),
      ["spec.devices[0].capacity[mem].requestPolicy.validRange.step Invalid"],
    ],
  ])("%s", async (_title, spec, expected) => {
    expect(await faultsOf(server, "slice", spec)).toEqual(expected);
  });

  test("keeps driver, pool and node", async () => {
    const { metadata } = await ok(server.admin.post(collections.slice, named(slice)));
    const changed = { spec: { driver: "other", pool: { name: "q" }, allNodes: null, nodeName: "n" } };
    const { body } = await server.admin.patch(`${collections.slice}/${metadata.name}`, changed, "merge");
    const fields = body["details"].causes.map(({ field }: { field: string }) => field);
    expect(fields.toSorted()).toEqual(["spec.driver", "spec.nodeName", "spec.pool.name"]);
  });

  test("is selected by driver, pool and node, and has basic devices in v1beta1", async () => {
    const spec = {
      ...withoutNodes,
      driver: "selected",
      nodeName: "n",
      devices: [{ name: "d", attributes: { a: { int: 1 } } }],
    };
    const { metadata } = await ok(server.admin.post(collections.slice, named(spec)));
    const selector = "spec.driver=selected,spec.pool.name=p,spec.nodeName=n";
    const { items } = await ok(server.admin.get(`${collections.slice}?fieldSelector=${selector}`));
    expect(items.map((one: { metadata: { name: string } }) => one.metadata.name)).toEqual([metadata.name]);
    const old = await ok(
      server.admin.get(`/apis/resource.platform.io/v1beta1/resourceslices/${metadata.name}`),
    );
    expect(old["spec"].devices).toEqual([{ name: "d", basic: { attributes: { a: { int: 1 } } } }]);
  });
});
