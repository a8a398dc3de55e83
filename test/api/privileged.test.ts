import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestServer, type Answer } from "../support/api.ts";

const core = "/api/v1/namespaces/default";
const apps = "/apis/apps/v1/namespaces/default";
const container = (privileged: boolean, name = "c") => ({
  name,
  image: "image",
  securityContext: { privileged },
});
const pod = (name: string, privileged: boolean) => ({
  metadata: { name },
  spec: { containers: [container(false, "a"), container(privileged)] },
});
const labels = { app: "a" };
const deployment = (name: string, privileged: boolean) => ({
  metadata: { name },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [container(privileged)] } },
  },
});
const causesOf = ({ body }: Answer) =>
  body.details?.causes?.map(({ reason, field, message }: Record<string, string>) => ({
    reason,
    field,
    message,
  }));
const refusal = (field: string) => [
  { reason: "FieldValueForbidden", field, message: "Forbidden: disallowed by cluster policy" },
];

describe("privileged containers", () => {
  const dir = mkdtempSync(path.join(tmpdir(), "plinth-privileged-"));
  const storage = { engine: "embedded", dir } as const;
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ storage, allowPrivileged: true });
    expect((await server.admin.post(`${core}/pods`, pod("old", true))).status).toBe(201);
    expect((await server.admin.post(`${apps}/deployments`, deployment("old", true))).status).toBe(201);
    await server.close();
    server = await TestServer.start({ storage });
  });
  afterAll(async () => {
    await server.close();
    rmSync(dir, { recursive: true });
  });

  test.each([
    ["a pod", `${core}/pods`, pod("new", true), "spec.containers[1].securityContext.privileged"],
    [
      "an init container",
      `${core}/pods`,
      {
        metadata: { name: "new" },
        spec: { initContainers: [container(true, "i")], containers: [container(false)] },
      },
      "spec.initContainers[0].securityContext.privileged",
    ],
    [
      "a template of a workload",
      `${apps}/deployments`,
      deployment("new", true),
      "spec.template.spec.containers[0].securityContext.privileged",
    ],
    [
      "a template of a template",
      "/apis/batch/v1/namespaces/default/cronjobs",
      {
        metadata: { name: "new" },
        spec: {
          schedule: "* * * * *",
          jobTemplate: {
            spec: { template: { spec: { restartPolicy: "Never", containers: [container(true)] } } },
          },
        },
      },
      "spec.jobTemplate.spec.template.spec.containers[0].securityContext.privileged",
    ],
  ])("are refused in %s", async (_what, at, object, field) => {
    const answer = await server.admin.post(at, object);
    expect([answer.status, causesOf(answer)]).toEqual([422, refusal(field)]);
    expect((await server.admin.get(`${at}/new`)).status).toBe(404);
  });

  test("an unprivileged container is accepted, and can't become privileged", async () => {
    expect((await server.admin.post(`${apps}/deployments`, deployment("small", false))).status).toBe(201);
    const grown = await server.admin.put(`${apps}/deployments/small`, deployment("small", true));
    expect([grown.status, causesOf(grown)]).toEqual([
      422,
      refusal("spec.template.spec.containers[0].securityContext.privileged"),
    ]);
  });

  test("a privileged ephemeral container is refused", async () => {
    expect((await server.admin.post(`${core}/pods`, pod("host", false))).status).toBe(201);
    const answer = await server.admin.patch(
      `${core}/pods/host/ephemeralcontainers`,
      { spec: { ephemeralContainers: [container(true, "debug")] } },
      "strategic",
    );
    expect([answer.status, causesOf(answer)]).toEqual([
      422,
      refusal("spec.ephemeralContainers[0].securityContext.privileged"),
    ]);
  });

  test("existing privileged containers remain: their status can be written, and they can be deleted", async () => {
    const { body } = await server.admin.get(`${core}/pods/old`);
    expect(body.spec.containers[1].securityContext).toEqual({ privileged: true });
    const status = await server.admin.patch(`${core}/pods/old/status`, { status: { phase: "Running" } });
    expect([status.status, status.body.status.phase]).toEqual([200, "Running"]);
    const labelled = await server.admin.patch(`${apps}/deployments/old`, { metadata: { labels } });
    expect(labelled.status).toBe(422);
    expect((await server.admin.delete(`${core}/pods/old?gracePeriodSeconds=0`)).status).toBe(200);
  });
});
