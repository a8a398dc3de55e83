import { describe, expect, test } from "vitest";
import { type Answer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";
import { namespace, ok } from "./support.ts";

const server = useServer({ enabledControllers: [], disabledAdmissionPlugins: ["ServiceAccount"] });

const template = {
  metadata: { labels: { app: "a" } },
  spec: { containers: [{ name: "main", image: "i" }] },
};
const workload = { selector: { matchLabels: { app: "a" } }, template };
const owner = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid: name });
const sent = {
  labels: { sent: "yes" },
  annotations: { sent: "yes" },
  finalizers: ["example.com/sent"],
  ownerReferences: [owner("sent")],
};

/** Metadata of a response that clients set. */
function metadataIn({ body }: Answer): object {
  const { labels, annotations, finalizers, ownerReferences } = body.metadata;
  return { labels, annotations, finalizers, ownerReferences };
}

describe("metadata in a write of a subresource", () => {
  test("status: replaces the object's metadata, and leaves the spec and the generation", async () => {
    const sets = "/apis/apps/v1/namespaces/default/replicasets";
    const { body } = await ok(
      server.admin.post(sets, { metadata: { name: "one", labels: { old: "yes" } }, spec: workload }),
    );
    const written = await ok(
      server.admin.put(`${sets}/one/status`, {
        ...body,
        metadata: { ...body.metadata, ...sent },
        spec: { ...body.spec, replicas: 7 },
        status: { replicas: 1 },
      }),
    );
    expect(metadataIn(written)).toEqual(sent);
    expect([written.body.spec.replicas, written.body.status.replicas]).toEqual([1, 1]);
    expect(written.body.metadata.generation).toBe(1);
  });

  test("status of a deployment: labels stay, and a new annotation doesn't change the generation", async () => {
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    await ok(
      server.admin.post(deployments, { metadata: { name: "one", labels: { old: "yes" } }, spec: workload }),
    );
    const written = await ok(server.admin.patch(`${deployments}/one/status`, { metadata: sent }));
    expect(metadataIn(written)).toEqual({ ...sent, labels: { old: "yes" } });
    expect(written.body.metadata.generation).toBe(1);
  });

  test("status of a pod: owner references stay", async () => {
    const pods = "/api/v1/namespaces/default/pods";
    const metadata = { name: "one", ownerReferences: [owner("old")] };
    await ok(server.admin.post(pods, { metadata, spec: template.spec }));
    const { body } = await server.admin.get(`${pods}/one`);
    const changed = { ...body, metadata: { ...body.metadata, ...sent } };
    const written = await ok(server.admin.put(`${pods}/one/status`, changed));
    expect(metadataIn(written)).toEqual({ ...sent, ownerReferences: [owner("old")] });
  });

  test("finalize of a namespace: the annotations are written", async () => {
    const { body } = await ok(server.admin.post("/api/v1/namespaces", namespace("fin")));
    const written = await ok(
      server.admin.put("/api/v1/namespaces/fin/finalize", {
        ...body,
        metadata: { ...body.metadata, annotations: { sent: "yes" } },
      }),
    );
    expect(written.body.metadata.annotations).toEqual({ sent: "yes" });
    expect(written.body.spec).toEqual(body.spec);
  });

  test("apply: is owned through the subresource, and removed when it is no longer applied", async () => {
    const claims = "/api/v1/namespaces/default/persistentvolumeclaims";
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    await ok(server.admin.post(claims, { metadata: { name: "one" }, spec }));
    const apply = (metadata: object) =>
      ok(
        server.admin.ask("PATCH", `${claims}/one/status?fieldManager=m`, {
          body: { apiVersion: "v1", kind: "PersistentVolumeClaim", metadata, status: { phase: "Lost" } },
          contentType: "application/apply-patch+yaml",
        }),
      );
    const applied = await apply({ name: "one", labels: { a: "b" } });
    expect(applied.body.metadata.labels).toEqual({ a: "b" });
    const entry = applied.body.metadata.managedFields.find((one: { manager: string }) => one.manager === "m");
    expect(entry).toMatchObject({
      subresource: "status",
      fieldsV1: { "f:metadata": { "f:labels": { "f:a": {} } }, "f:status": { "f:phase": {} } },
    });
    expect((await apply({ name: "one" })).body.metadata).not.toHaveProperty("labels");
  });

  test("metadata that a subresource doesn't write gets no owner", async () => {
    const deployments = "/apis/apps/v1/namespaces/default/deployments";
    await ok(server.admin.post(deployments, { metadata: { name: "two" }, spec: workload }));
    const body = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "two", labels: { a: "b" }, annotations: { a: "b" } },
    };
    const applied = await ok(
      server.admin.ask("PATCH", `${deployments}/two/status?fieldManager=m`, {
        body,
        contentType: "application/apply-patch+yaml",
      }),
    );
    expect(applied.body.metadata).not.toHaveProperty("labels");
    const entry = applied.body.metadata.managedFields.find((one: { manager: string }) => one.manager === "m");
    expect(entry.fieldsV1).toEqual({ "f:metadata": { "f:annotations": { "f:a": {} } } });
  });
});
