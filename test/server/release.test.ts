import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { effort } from "../support/effort.ts";
import { createServer } from "../../src/index.ts";
import { isLater, releases, type Release } from "../../src/base/releases.ts";
import { TestServer } from "../support/api.ts";

/** The first release that serves a version, and the first one that doesn't any more. */
interface Served {
  readonly from: string;
  readonly before?: string;
}

const flowVersions: Readonly<Record<string, Served>> = {
  v1: { from: "1.29" },
  v1beta3: { from: "1.26", before: "1.32" },
  v1beta2: { from: "1.23", before: "1.29" },
};

function isServed({ from, before }: Served, release: string): boolean {
  return !isLater(from, release) && (before === undefined || isLater(before, release));
}

/** The first and the last release, and those from which on the behaviour of these tests differs; all in the long form. */
const changing: readonly Release[] = ["1.26", "1.27", "1.29", "1.32", releases.at(-1)!];
const releasesToTry: readonly Release[] = effort(changing, releases);

describe.each(releasesToTry)("a server of release %s", (release) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ release, vocabulary: "kubernetes" });
  });
  afterAll(() => server.close());

  it("reports the release", async () => {
    const [major, minor] = release.split(".");
    const { body } = await server.admin.get("/version");
    expect(body).toMatchObject({ major, minor, gitVersion: `v${release}.0+plinth` });
    expect((await server.admin.get("/openapi/v2")).body["info"].version).toBe(`v${release}.0+plinth`);
    const { text } = await server.admin.get("/metrics");
    expect(text).toContain(
      `kubernetes_build_info{major="${major}",minor="${minor}",git_version="v${release}.0+plinth"`,
    );
  });

  it("has the singular names of built-in kinds in discovery from 1.27 on", async () => {
    const { body } = await server.admin.get("/apis/apps/v1");
    const names = (body["resources"] as { name: string; singularName: string }[]).map(
      ({ name, singularName }) => [name, singularName],
    );
    expect(names).toContainEqual(["deployments", isLater(release, "1.26") ? "deployment" : ""]);
    expect(names).toContainEqual(["deployments/scale", ""]);
  });

  it("serves flow control in the versions of the release, with the default objects", async () => {
    const group = "/apis/flowcontrol.apiserver.k8s.io";
    const { body } = await server.admin.get(group);
    const versions = (body["versions"] as { version: string }[]).map(({ version }) => version);
    const served = ["v1", "v1beta3", "v1beta2"].filter((version) =>
      isServed(flowVersions[version]!, release),
    );
    expect(versions.toSorted()).toEqual(served.toSorted());
    for (const version of served) {
      const { items } = (await server.admin.get(`${group}/${version}/flowschemas`)).body;
      expect(items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)).toContain(
        "catch-all",
      );
      const level = await server.admin.get(`${group}/${version}/prioritylevelconfigurations/workload-low`);
      const shares = version === "v1beta2" ? "assuredConcurrencyShares" : "nominalConcurrencyShares";
      expect(level.body["spec"].limited).toMatchObject({ [shares]: 100 });
    }
  });

  it("admits pods by the policy and the quota of their namespace", async () => {
    const labels = { "pod-security.kubernetes.io/enforce": "restricted" };
    await server.admin.post("/api/v1/namespaces", { metadata: { name: "guarded", labels } });
    const pod = { metadata: { name: "a" }, spec: { containers: [{ name: "a", image: "a" }] } };
    const violating = await server.admin.post("/api/v1/namespaces/guarded/pods", pod);
    expect(violating.status).toBe(403);
    expect(violating.body["message"]).toContain("violates PodSecurity");
    const quota = { metadata: { name: "a" }, spec: { hard: { pods: 0, services: 0 } } };
    await server.admin.post("/api/v1/namespaces/default/resourcequotas", quota);
    const service = { metadata: { name: "a" }, spec: { ports: [{ port: 80 }] } };
    for (const [path, body] of [
      ["pods", pod],
      ["services", service],
    ] as const) {
      const { status, body: answer } = await server.admin.post(`/api/v1/namespaces/default/${path}`, body);
      expect(status, path).toBe(403);
      expect(answer["message"]).toContain("exceeded quota");
    }
  });

  it("answers who the caller is from release 1.28 on", async () => {
    const review = { kind: "SelfSubjectReview", apiVersion: "authentication.k8s.io/v1" };
    const { status, body } = await server.admin.post(
      "/apis/authentication.k8s.io/v1/selfsubjectreviews",
      review,
    );
    expect(status).toBe(isLater("1.28", release) ? 404 : 201);
    if (status === 201) expect(body["status"].userInfo.groups).toContain("system:masters");
  });

  it("serves aggregated discovery in the versions of the release", async () => {
    const answer = async (...versions: string[]) => {
      const types = versions.map(
        (v) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`,
      );
      const accept = [...types, "application/json"].join(",");
      const { body } = await server.admin.get("/apis", { accept });
      return body["apiVersion"];
    };
    const has = {
      v2: !isLater("1.30", release),
      v2beta1: isServed({ from: "1.27", before: "1.33" }, release),
    };
    expect(await answer("v2")).toBe(has.v2 ? "apidiscovery.k8s.io/v2" : "v1");
    expect(await answer("v2beta1")).toBe(has.v2beta1 ? "apidiscovery.k8s.io/v2beta1" : "v1");
    expect(await answer("v2", "v2beta1")).toBe(
      has.v2 ? "apidiscovery.k8s.io/v2" : has.v2beta1 ? "apidiscovery.k8s.io/v2beta1" : "v1",
    );
  });
});

test("an unknown release is refused with the known ones", async () => {
  await expect(createServer({ release: "1.25" as "1.26" })).rejects.toThrow(/release.*1\.25.*1\.26.*1\.37/s);
});
