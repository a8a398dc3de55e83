import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { collections, faultsIn, faultsOf, named, ok, repeated } from "./device-support.ts";

const server = useServer({ release: "1.37", runtimeConfig: "api/all=true" });

const opaque = { driver: "driver.example.com", parameters: { a: 1 } };
const selectors = (...expressions: readonly string[]) => ({
  selectors: expressions.map((expression) => ({ cel: { expression } })),
});
const nested =
  "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a + b == c + d))))";
const expressionFault = ["spec.selectors[0].cel.expression Invalid"];

describe("a device class", () => {
  test.each<[string, object, string[]]>([
    ["without selectors", {}, []],
    ["that selects by attributes", selectors(`device.attributes["d.example.com"].model == "a"`), []],
    ["that selects by capacities", selectors(`device.capacity["d"].mem.isGreaterThan(quantity("1Gi"))`), []],
    ["with a bound name", selectors(`cel.bind(d, device.attributes["d"], d.a && d.b)`), []],
    ["whose selector is an attribute", selectors(`device.attributes["d"].a`), []],
    ["with an extended resource", { extendedResourceName: "example.com/gpu" }, []],
    ["without expression", { selectors: [{}] }, ["spec.selectors[0].cel Required"]],
    ["with an empty expression", selectors(""), expressionFault],
    ["with a syntax error", selectors("1 +"), expressionFault],
    ["whose selector isn't a condition", selectors("1"), expressionFault],
    ["with an unknown field", selectors("device.x == 1"), expressionFault],
    [
      "with a long expression",
      selectors(`"${"a".repeat(10_300)}" == ""`),
      ["spec.selectors[0].cel.expression TooLong"],
    ],
    ["with an expensive expression", selectors(nested), ["spec.selectors[0].cel.expression Forbidden"]],
    ["with 33 selectors", selectors(...Array<string>(33).fill("true")), ["spec.selectors TooMany"]],
    ["with 33 configurations", { config: repeated(33, { opaque }) }, ["spec.config TooMany"]],
    ["with an empty configuration", { config: [{}] }, ["spec.config[0].opaque Required"]],
    [
      "with parameters that are no object",
      { config: [{ opaque: { ...opaque, parameters: [1] } }] },
      ["spec.config[0].opaque.parameters Invalid"],
    ],
    [
      "with long parameters",
      { config: [{ opaque: { ...opaque, parameters: { a: "x".repeat(10_300) } } }] },
      ["spec.config[0].opaque.parameters TooLong"],
    ],
    [
      "without driver",
      { config: [{ opaque: { ...opaque, driver: "" } }] },
      ["spec.config[0].opaque.driver Required"],
    ],
    ["with a native resource", { extendedResourceName: "cpu" }, ["spec.extendedResourceName Invalid"]],
  ])("%s", async (_, spec, expected) => {
    expect(await faultsOf(server, "class", spec)).toEqual(expected);
  });

  test("has a generation that changes with its spec", async () => {
    const created = await ok(server.admin.post(collections.class, named({})));
    const path = `${collections.class}/${created["metadata"].name}`;
    const changed = await ok(server.admin.patch(path, { spec: selectors("true") }, "merge"));
    expect([created["metadata"].generation, changed["metadata"].generation]).toEqual([1, 2]);
  });
});

const exact = (more: object = {}) => ({ name: "r", exactly: { deviceClassName: "c", ...more } });
const request = "spec.devices.requests[0]";
const constrained = (constraint: object) => ({ devices: { requests: [exact()], constraints: [constraint] } });
const alternatives = (...names: readonly string[]) => ({
  name: "r",
  firstAvailable: names.map((name) => ({ name, deviceClassName: "c" })),
});

const claims: readonly (readonly [string, object, string[]])[] = [
  ["without requests", {}, []],
  ["with an exact request", { devices: { requests: [exact()] } }, []],
  ["with alternatives", { devices: { requests: [alternatives("a", "b")] } }, []],
  ["with a constraint", constrained({ requests: ["r"], matchAttribute: "d.example.com/numa" }), []],
  ["with an empty request", { devices: { requests: [{ name: "r" }] } }, [`${request} Required`]],
  [
    "with an exact request and alternatives",
    { devices: { requests: [{ ...exact(), ...alternatives("a") }] } },
    [`${request} Invalid`],
  ],
  ["with a bad name", { devices: { requests: [{ ...exact(), name: "A" }] } }, [`${request}.name Invalid`]],
  [
    "without class",
    { devices: { requests: [exact({ deviceClassName: "" })] } },
    [`${request}.exactly.deviceClassName Required`],
  ],
  [
    "with two equal names",
    { devices: { requests: [exact(), exact()] } },
    ["spec.devices.requests[1] Duplicate"],
  ],
  [
    "with 33 requests",
    { devices: { requests: Array.from({ length: 33 }, (_, index) => ({ ...exact(), name: `r${index}` })) } },
    ["spec.devices.requests TooMany"],
  ],
  [
    "with nine alternatives",
    { devices: { requests: [alternatives(..."abcdefghi")] } },
    [`${request}.firstAvailable TooMany`],
  ],
  [
    "with a negative count",
    { devices: { requests: [exact({ count: -1 })] } },
    [`${request}.exactly.count Invalid`],
  ],
  [
    "with all devices and a count",
    { devices: { requests: [exact({ allocationMode: "All", count: 1 })] } },
    [`${request}.exactly.count Invalid`],
  ],
  [
    "with an unknown mode",
    { devices: { requests: [exact({ allocationMode: "Some" })] } },
    [`${request}.exactly.allocationMode NotSupported`],
  ],
  [
    "with a bad selector",
    { devices: { requests: [exact(selectors("1"))] } },
    [`${request}.exactly.selectors[0].cel.expression Invalid`],
  ],
  [
    "with a bad toleration",
    { devices: { requests: [exact({ tolerations: [{ key: "a b", operator: "X", effect: "Y" }] })] } },
    ["effect NotSupported", "key Invalid", "operator NotSupported"].map(
      (fault) => `${request}.exactly.tolerations[0].${fault}`,
    ),
  ],
  ["with an empty constraint", constrained({}), ["spec.devices.constraints[0] Required"]],
  [
    "with an attribute without domain",
    constrained({ matchAttribute: "numa" }),
    ["spec.devices.constraints[0].matchAttribute Invalid"],
  ],
  [
    "with a constraint for a missing request",
    constrained({ requests: ["q"], matchAttribute: "d/a" }),
    ["spec.devices.constraints[0].requests[0] Invalid"],
  ],
  [
    "with configuration for a missing request",
    { devices: { requests: [exact()], config: [{ requests: ["r/q"], opaque }] } },
    ["spec.devices.config[0].requests[0] Invalid"],
  ],
];

describe("a claim", () => {
  test.each(claims)("%s", async (_, spec, expected) => {
    expect(await faultsOf(server, "claim", spec)).toEqual(expected);
  });

  test.each(claims)("of a template %s", async (_, spec, expected) => {
    const prefixed = expected.map((fault) => `spec.${fault}`);
    expect(await faultsOf(server, "template", { spec })).toEqual(prefixed);
  });

  test("has the default mode and count", async () => {
    const { spec } = await ok(
      server.admin.post(collections.claim, named({ devices: { requests: [exact()] } })),
    );
    expect(spec.devices.requests[0].exactly).toMatchObject({ allocationMode: "ExactCount", count: 1 });
  });

  test("can't be changed", async () => {
    const { metadata } = await ok(server.admin.post(collections.claim, named({})));
    const path = `${collections.claim}/${metadata.name}`;
    const changed = { spec: { devices: { requests: [exact()] } } };
    expect((await server.admin.patch(path, changed, "merge")).status).toBe(422);
    await ok(server.admin.patch(path, { metadata: { labels: { a: "b" } } }, "merge"));
  });

  test("has the fields of an exact request beside its name in v1beta1", async () => {
    const { metadata } = await ok(
      server.admin.post(collections.claim, named({ devices: { requests: [exact({ count: 2 })] } })),
    );
    const path = `${collections.claim.replace("/v1/", "/v1beta1/")}/${metadata.name}`;
    const { spec } = await ok(server.admin.get(path));
    expect(spec.devices.requests).toEqual([
      { name: "r", deviceClassName: "c", allocationMode: "ExactCount", count: 2 },
    ]);
    const old = await ok(
      server.admin.post(
        collections.claim.replace("/v1/", "/v1beta1/"),
        named({ devices: { requests: [{ name: "r", deviceClassName: "c", count: 3 }] } }),
      ),
    );
    const stored = await ok(server.admin.get(`${collections.claim}/${old["metadata"].name}`));
    expect(stored["spec"].devices.requests[0].exactly).toMatchObject({ deviceClassName: "c", count: 3 });
  });

  test("needs a label of the namespace for administrative access", async () => {
    const spec = { devices: { requests: [exact({ adminAccess: true })] } };
    expect(await faultsOf(server, "claim", spec)).toEqual([`${request}.adminAccess Forbidden`]);
    expect(await faultsOf(server, "template", { spec })).toEqual([`${request}.adminAccess Forbidden`]);
    const labels = { "resource.platform.io/admin-access": "true" };
    await ok(server.admin.patch("/api/v1/namespaces/default", { metadata: { labels } }, "merge"));
    expect(await faultsOf(server, "claim", spec)).toEqual([]);
    await ok(
      server.admin.patch(
        "/api/v1/namespaces/default",
        { metadata: { labels: { "resource.platform.io/admin-access": null } } },
        "merge",
      ),
    );
  });
});

describe("the status of a claim", () => {
  const result = { request: "r", driver: "driver.example.com", pool: "p", device: "dev-0" };
  const allocated = (...results: readonly object[]) => ({ allocation: { devices: { results } } });
  const consumer = { resource: "pods", name: "p", uid: "u" };
  const { request: _, ...device } = result;

  async function newClaim(): Promise<string> {
    const created = await ok(
      server.admin.post(collections.claim, named({ devices: { requests: [exact()] } })),
    );
    return `${collections.claim}/${created["metadata"].name}/status`;
  }
  const write = (path: string, status: object) => server.admin.patch(path, { status }, "merge");

  test.each<[string, object, string[]]>([
    ["consumers without allocation", { reservedFor: [consumer] }, ["reservedFor Forbidden"]],
    [
      "the allocation for a missing request",
      allocated({ ...result, request: "q" }),
      ["allocation.devices.results[0].request Invalid"],
    ],
    [
      "a device without names",
      allocated({ ...result, driver: "", pool: "", device: "" }),
      ["device Invalid", "driver Required", "pool Required"].map(
        (fault) => `allocation.devices.results[0].${fault}`,
      ),
    ],
    [
      "only one sort of binding conditions",
      allocated({ ...result, bindingConditions: ["a"] }),
      ["allocation.devices.results[0].bindingFailureConditions Invalid"],
    ],
    ["33 devices", allocated(...repeated(33, result)), ["allocation.devices.results TooMany"]],
    ["the state of a device that isn't allocated", { devices: [device] }, ["devices[0] Invalid"]],
    [
      "an address without prefix length",
      { ...allocated(result), devices: [{ ...device, networkData: { ips: ["10.0.0.1"] } }] },
      ["devices[0].networkData.ips[0] Invalid"],
    ],
    [
      "257 consumers",
      {
        ...allocated(result),
        reservedFor: Array.from({ length: 257 }, (_one, index) => ({ ...consumer, uid: `${index}` })),
      },
      ["reservedFor TooMany"],
    ],
  ])("can't have %s", async (_title, status, expected) => {
    const { status: code, body } = await write(await newClaim(), status);
    expect(code, JSON.stringify(body)).toBe(422);
    expect(faultsIn(body)).toEqual(expected.map((fault) => `status.${fault}`));
  });

  test("has an allocation that can't be changed, and loses the state of devices with it", async () => {
    const path = await newClaim();
    await ok(write(path, { ...allocated(result), reservedFor: [consumer], devices: [device] }));
    const moved = await write(path, allocated({ ...result, device: "dev-1" }));
    expect(moved.body["details"].causes[0].field).toBe("status.allocation");
    const { status } = await ok(write(path, { allocation: null, reservedFor: null }));
    expect(status).toEqual({});
  });
});

describe.each([
  ["1.31", []],
  ["1.32", ["v1beta1"]],
  ["1.33", ["v1beta1", "v1alpha3", "v1beta2"]],
  ["1.34", ["v1", "v1alpha3", "v1beta1", "v1beta2"]],
] as const)("release %s", (release, versions) => {
  const released = useServer({ release, runtimeConfig: "api/all=true" });

  test(`serves devices in ${versions.join(", ") || "no version"}`, async () => {
    const { status, body } = await released.admin.get("/apis/resource.platform.io");
    const served = status === 404 ? [] : body["versions"].map(({ version }: { version: string }) => version);
    expect(served.toSorted()).toEqual(versions.toSorted());
  });

  test("compiles selectors, and requires an attribute in constraints", async () => {
    const version = versions[0];
    if (version === undefined) return;
    const path = `/apis/resource.platform.io/${version}`;
    const expression = `device.attributes["d"].a == "b"`;
    await ok(released.admin.post(`${path}/deviceclasses`, named(selectors(expression))));
    const claim = named({ devices: { requests: [], constraints: [{}] } });
    const answer = await released.admin.post(`${path}/namespaces/default/resourceclaims`, claim);
    expect(answer.status).toBe(422);
  });

  test("compiles selectors of taint rules, which have no status, and rejects the effect None", async () => {
    if (!versions.some((version) => version === "v1alpha3")) return;
    const rules = "/apis/resource.platform.io/v1alpha3/devicetaintrules";
    const write = (expression: string) => {
      const deviceSelector = { deviceClassName: "c", ...selectors(expression) };
      return released.admin.post(`${rules}?fieldValidation=Strict`, named({ deviceSelector, taint }));
    };
    const { metadata, spec } = (await ok(write(`device.driver == "d"`))) as unknown as Rule;
    expect(Object.keys(spec.deviceSelector)).toEqual(["deviceClassName", "selectors"]);
    expect(faultsIn((await write("1")).body)).toEqual([
      "spec.deviceSelector.selectors[0].cel.expression Invalid",
    ]);
    expect((await released.admin.get(`${rules}/${metadata.name}/status`)).status).toBe(404);
    const none = named({ deviceSelector: { driver: "d" }, taint: { key: "a", effect: "None" } });
    expect(faultsIn((await released.admin.post(rules, none)).body)).toEqual([
      "spec.taint.effect NotSupported",
    ]);
  });
});

interface Rule {
  readonly metadata: { readonly name: string; readonly generation: number; readonly resourceVersion: string };
  readonly spec: { readonly deviceSelector: object; readonly taint: { readonly timeAdded: string } };
}

const taint = { key: "a", effect: "NoSchedule" };

describe("a taint rule", () => {
  const rules = `/apis/resource.platform.io/v1/devicetaintrules`;

  test("has no selectors by class or expression in release 1.37", async () => {
    const deviceSelector = { deviceClassName: "c", ...selectors("true") };
    const answer = await server.admin.post(
      `${rules}?fieldValidation=Strict`,
      named({ deviceSelector, taint }),
    );
    expect(answer.status).toBe(400);
    expect(answer.body.message).toMatch(/deviceClassName.*selectors/);
  });

  test("gets the time of the write, and again when the effect changes", async () => {
    const early = "2020-01-01T00:00:00Z";
    const { metadata, spec } = (await ok(server.admin.post(rules, named({ taint })))) as unknown as Rule;
    expect(Date.now() - Date.parse(spec.taint.timeAdded)).toBeLessThan(60_000);
    const change = async (change: object) => {
      const path = `${rules}/${metadata.name}`;
      return (await ok(server.admin.patch(path, { spec: { taint: change } }))) as unknown as Rule;
    };
    expect((await change({ timeAdded: early })).spec.taint.timeAdded).toBe(early);
    expect((await change({ value: "b" })).spec.taint.timeAdded).toBe(early);
    const changed = await change({ effect: "NoExecute" });
    expect(Date.now() - Date.parse(changed.spec.taint.timeAdded)).toBeLessThan(60_000);
    expect(changed.metadata.generation).toBe(4);
    expect((await change({ effect: "None", timeAdded: early })).spec.taint.timeAdded).toBe(early);
  });
});
