import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";
import { faultsIn, ok } from "./device-support.ts";

const group = "/apis/coordination.platform.io";
const candidates = `${group}/v1beta1/namespaces/default/leasecandidates`;
const server = useServer({
  release: "1.33",
  runtimeConfig: "api/all=true",
  featureGates: "CoordinatedLeaderElection=true",
});

let count = 0;
const valid = {
  leaseName: "l",
  binaryVersion: "1.31.0",
  emulationVersion: "1.30.0",
  strategy: "OldestEmulationVersion",
};

describe("a candidate for a lease", () => {
  test.each<[string, object, string[]]>([
    ["with both versions", {}, []],
    ["with a strategy of another domain", { strategy: "example.com/x", emulationVersion: undefined }, []],
    [
      "without values",
      { leaseName: "", binaryVersion: "", strategy: "" },
      ["spec.binaryVersion Required", "spec.leaseName Required", "spec.strategy Required"],
    ],
    [
      "with a short version",
      { binaryVersion: "1.31" },
      ["spec.binaryVersion Invalid", "spec.binaryVersion Invalid"],
    ],
    ["that emulates a later version", { emulationVersion: "1.32.0" }, ["spec.binaryVersion Invalid"]],
    ["without emulated version", { emulationVersion: undefined }, ["spec.emulationVersion Required"]],
    ["with an unknown strategy", { strategy: "X" }, ["spec.strategy.strategy NotSupported"]],
  ])("%s", async (_title, changes, expected) => {
    const object = { metadata: { name: `c${count++}` }, spec: { ...valid, ...changes } };
    const { status, body } = await server.admin.post(candidates, object);
    expect(status === 201 ? [] : faultsIn(body)).toEqual(expected);
  });

  test("keeps its lease, and is the same in v1alpha2", async () => {
    await ok(server.admin.post(candidates, { metadata: { name: "kept" }, spec: valid }));
    const { body } = await server.admin.patch(`${candidates}/kept`, { spec: { leaseName: "m" } });
    expect(faultsIn(body)).toEqual(["spec.leaseName Invalid"]);
    const { spec } = await ok(server.admin.get(`${candidates.replace("v1beta1", "v1alpha2")}/kept`));
    expect(spec).toEqual(valid);
  });
});

test("the preferred holder of a lease needs a strategy", async () => {
  const write = (name: string, spec: object) =>
    server.admin.post(`${group}/v1/namespaces/default/leases`, { metadata: { name }, spec });
  expect(faultsIn((await write("a", { preferredHolder: "h" })).body)).toEqual([
    "spec.preferredHolder Forbidden",
  ]);
  expect(faultsIn((await write("a", { strategy: "X" })).body)).toEqual([
    "spec.strategy.strategy NotSupported",
  ]);
  await ok(write("a", { preferredHolder: "h", strategy: valid.strategy }));
});
