import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer } from "../support/api.ts";
import { causeFields, ok } from "./support.ts";

const pods = "/api/v1/namespaces/default/pods";
const controllers = "/api/v1/namespaces/default/replicationcontrollers";
const containers = [{ name: "c", image: "i" }];
const labels = { app: "a", version: "1" };
const selector = () => ({ matchLabels: { app: "a" } });
const term = (more: object) => ({ topologyKey: "zone", labelSelector: selector(), ...more });
const pod = (spec: object, metadata: object = {}) => ({
  metadata: { name: "p", labels, ...metadata },
  spec: { containers, ...spec },
});
const requirement = (key: string, operator: string, value: string) => ({ key, operator, values: [value] });

describe("scheduling of pods in later releases", () => {
  const servers: Record<string, TestServer> = {};
  const releases = ["1.28", "1.31", "1.33", "1.37"] as const;
  beforeAll(async () => {
    for (const release of releases)
      servers[release] = await TestServer.start({ release, vocabulary: "kubernetes" });
  });
  afterAll(async () => {
    for (const server of Object.values(servers)) await server.close();
  });
  const create = (release: string, body: object, url = pods) =>
    servers[release]!.admin.post(`${url}?dryRun=All`, body);
  const created = async (release: string, body: object) => (await ok(create(release, body))).body;

  test("matchLabelKeys and mismatchLabelKeys of affinity terms are merged into the selector (1.31)", async () => {
    const keys = { matchLabelKeys: ["version", "absent"], mismatchLabelKeys: ["app"] };
    const expected = {
      ...selector(),
      matchExpressions: [requirement("version", "In", "1"), requirement("app", "NotIn", "a")],
    };
    const lists = {
      requiredDuringSchedulingIgnoredDuringExecution: [term(keys)],
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 1, podAffinityTerm: term(keys) }],
    };
    const body = pod({ affinity: { podAffinity: lists, podAntiAffinity: lists } });
    const selectorsIn = ({ spec }: { spec: { affinity: Record<string, typeof lists> } }) =>
      Object.values(spec.affinity).flatMap((affinity) => [
        affinity.requiredDuringSchedulingIgnoredDuringExecution[0]!.labelSelector,
        affinity.preferredDuringSchedulingIgnoredDuringExecution[0]!.podAffinityTerm.labelSelector,
      ]);
    for (const release of ["1.31", "1.37"])
      expect(selectorsIn(await created(release, body))).toEqual([expected, expected, expected, expected]);
    // The fields are unknown before.
    expect(selectorsIn(await created("1.28", body))[0]).toEqual(selector());
    const required = (one: object) =>
      pod({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [one] } } });
    const without = required({ topologyKey: "zone", ...keys });
    const path = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
    expect(causeFields(await create("1.37", without))).toEqual([
      `${path}.matchLabelKeys`,
      `${path}.mismatchLabelKeys`,
    ]);
    const both = required(term({ matchLabelKeys: ["version"], mismatchLabelKeys: ["version"] }));
    expect(causeFields(await create("1.37", both))).toContain(`${path}.matchLabelKeys[0]`);
    expect(causeFields(await create("1.37", required(term({ matchLabelKeys: ["app"] }))))).toEqual([
      `${path}[0]`,
    ]);
    expect(causeFields(await create("1.37", required(term({ matchLabelKeys: ["a b"] }))))).toEqual([
      `${path}.matchLabelKeys[0]`,
    ]);
  });

  test("matchLabelKeys of topology spread constraints are merged into the selector (1.34)", async () => {
    const constraint = (more: object) =>
      pod({ topologySpreadConstraints: [term({ maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", ...more })] });
    const selectorIn = ({ spec }: { spec: { topologySpreadConstraints: [{ labelSelector: object }] } }) =>
      spec.topologySpreadConstraints[0].labelSelector;
    const body = constraint({ matchLabelKeys: ["version"] });
    expect(selectorIn(await created("1.33", body))).toEqual(selector());
    expect(selectorIn(await created("1.37", body))).toEqual({
      ...selector(),
      matchExpressions: [requirement("version", "In", "1")],
    });
    const twice = constraint({ matchLabelKeys: ["app"] });
    expect(causeFields(await create("1.33", twice))).toEqual([
      "spec.topologySpreadConstraints[0].matchLabelKeys[0]",
    ]);
    expect(causeFields(await create("1.37", twice))).toEqual(["spec.topologySpreadConstraints[0][0]"]);
    // A template is not merged, and its pods are refused.
    const template = { metadata: { labels }, spec: { ...twice.spec } };
    const controller = { metadata: { name: "c" }, spec: { selector: labels, template } };
    expect((await create("1.33", controller, controllers)).status).toBe(422);
    expect((await create("1.37", controller, controllers)).status).toBe(201);
  });

  test("a pod with merged keys can be updated", async () => {
    const { admin } = servers["1.37"]!;
    const constraint = term({ maxSkew: 1, whenUnsatisfiable: "DoNotSchedule", matchLabelKeys: ["version"] });
    await ok(admin.post(pods, pod({ topologySpreadConstraints: [constraint] })));
    const { body } = await ok(admin.get(`${pods}/p`));
    await ok(admin.put(`${pods}/p`, { ...body, metadata: { ...body.metadata, annotations: { a: "b" } } }));
  });

  test("a mirror pod with a resource claim is refused (1.27)", async () => {
    const mirror = { annotations: { "kubernetes.io/config.mirror": "x" } };
    const claims = [{ name: "c", resourceClaimName: "claim" }];
    const body = (resourceClaims: object[]) =>
      pod({ nodeName: "n", resourceClaims }, { ...mirror, name: "m" });
    expect((await create("1.37", body([]))).status).toBe(201);
    const refused = await create("1.37", body(claims));
    expect([refused.status, causeFields(refused)]).toEqual([422, ["spec.resourceClaims"]]);
    expect(refused.body.message).toContain("static pods do not support resource claims");
    expect((await create("1.37", pod({ nodeName: "n", resourceClaims: claims }, { name: "m" }))).status).toBe(
      201,
    );
  });
});
