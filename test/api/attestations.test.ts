import { expect, test } from "vitest";
import { ok } from "./support.ts";
import { useServer } from "../support/use-server.ts";

const accounts = "/api/v1/namespaces/default/serviceaccounts";
const attestations = { admissionReviewAPIGroups: ["apps"] };
const server = useServer({ release: "1.37", vocabulary: "kubernetes" });
const earlier = useServer({ release: "1.36", vocabulary: "kubernetes" });

test("attestations of a token that isn't bound to a webhook are invalid from release 1.37 on", async () => {
  for (const { admin } of [server, earlier]) await ok(admin.post(accounts, { metadata: { name: "a" } }));
  const refused = await server.admin.post(`${accounts}/a/token`, { spec: { attestations } });
  expect([refused.status, refused.body.message]).toEqual([
    422,
    expect.stringContaining("attestations may only be specified with a webhook bound object reference"),
  ]);
  await ok(server.admin.post(`${accounts}/a/token`, { spec: { attestations: {} } }));
  const unknown = await ok(earlier.admin.post(`${accounts}/a/token`, { spec: { attestations } }));
  expect(unknown.body.spec).not.toHaveProperty("attestations");
});

test("a token for a webhook is a bad request, as the gate APIServerWebhookAuthenticationToken is off", async () => {
  await ok(server.admin.post(accounts, { metadata: { name: "b" } }));
  const boundObjectRef = {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    name: "w",
  };
  const spec = { audiences: ["https://w.default.svc:443"], boundObjectRef, attestations };
  const answer = await server.admin.post(`${accounts}/b/token`, { spec });
  expect([answer.status, answer.body.message]).toEqual([
    400,
    expect.stringContaining("cannot bind token to object of type"),
  ]);
});

test("the document of release 1.37 has the fields of attestations and of the scheduling of jobs", async () => {
  const schemasOf = async (path: string) =>
    (await ok(server.admin.get(path))).body.components.schemas as Record<string, { properties: object }>;
  const core = await schemasOf("/openapi/v3/api/v1");
  expect(core["io.k8s.api.authentication.v1.TokenRequestSpec"]!.properties).toHaveProperty("attestations");
  const batch = await schemasOf("/openapi/v3/apis/batch/v1");
  expect(batch["io.k8s.api.batch.v1.JobSpec"]!.properties).toHaveProperty("scheduling");
  expect(batch).toHaveProperty(["io.k8s.api.scheduling.v1alpha3.WorkloadPodGroupSchedulingPolicy"]);
  expect(batch["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"]!.properties).toHaveProperty(
    "ignoreStoreReadErrorWithClusterBreakingPotential",
  );
});
