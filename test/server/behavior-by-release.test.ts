import { describe, expect, test } from "vitest";
import type { Release } from "../../src/base/releases.ts";
import { ok } from "../api/support.ts";
import type { Answer } from "../support/api.ts";
import { useServer } from "../support/use-server.ts";

const core = "/api/v1/namespaces/default";
const autoscalers = "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers";
const drivers = "/apis/storage.platform.io/v1/csidrivers";

const reasons = ({ body }: Answer): string[] =>
  body["details"].causes.map(({ reason, field }: Record<string, string>) => `${field}: ${reason}`);

const autoscaler = {
  metadata: { name: "web", generation: 7 },
  spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } },
};
const driver = { metadata: { name: "d.example.com" }, spec: { tokenRequests: [{ audience: "vault" }] } };

describe.each<Release>(["1.26", "1.29", "1.31", "1.34", "1.36", "1.37"])("a server of %s", (release) => {
  const server = useServer({ release });
  const isAtLeast = (since: Release): boolean => Number(release.slice(2)) >= Number(since.slice(2));

  test("names the owner with missing members from 1.37 on", async () => {
    const answer = await server.admin.post(`${core}/configmaps`, {
      metadata: { name: "owned", ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "", uid: "u" }] },
    });
    expect(answer.status).toBe(422);
    expect(reasons(answer)).toEqual([
      isAtLeast("1.37")
        ? "metadata.ownerReferences[0].name: FieldValueRequired"
        : "metadata.ownerReferences.name: FieldValueInvalid",
    ]);
  });

  test("refuses a version match of a watch, and from 1.27 on values that a watch doesn't have", async () => {
    const watch = `${core}/configmaps?watch=true&resourceVersion=1&resourceVersionMatch=Exact`;
    const answer = await server.admin.refusal("GET", watch);
    expect(answer.status).toBe(422);
    const forbidden = "resourceVersionMatch: FieldValueForbidden";
    expect(reasons(answer)).toEqual(
      isAtLeast("1.27") ? [forbidden, "resourceVersionMatch: FieldValueNotSupported"] : [forbidden],
    );
  });

  test("counts generations of autoscalers from 1.37 on", async () => {
    const created = await ok(server.admin.post(autoscalers, autoscaler));
    const generation = async (change: object): Promise<unknown> =>
      (await ok(server.admin.patch(`${autoscalers}/web`, change))).body["metadata"].generation;
    expect(created.body["metadata"].generation).toBe(isAtLeast("1.37") ? 1 : 7);
    expect(await generation({ spec: { maxReplicas: 4 } })).toBe(isAtLeast("1.37") ? 2 : 7);
    expect(await generation({ metadata: { labels: { a: "b" } } })).toBe(isAtLeast("1.37") ? 2 : 7);
    await ok(server.admin.delete(`${autoscalers}/web`));
  });

  test("names the resources of an autoscaler's metrics in tables from 1.30 on", async () => {
    await ok(server.admin.post(autoscalers, autoscaler));
    const { body } = await server.admin.get(autoscalers, {
      accept:
        "application/json;as=Table;v=v1;g=meta.k8s.io, application/json;as=Table;v=v1;g=meta.platform.io",
    });
    const at = body["columnDefinitions"].findIndex(({ name }: { name: string }) => name === "Targets");
    expect(body["rows"][0].cells[at]).toBe(isAtLeast("1.30") ? "cpu: <unknown>/80%" : "<unknown>/80%");
    await ok(server.admin.delete(`${autoscalers}/web`));
  });

  test("keeps the quality class of a pod whose status is written without it from 1.32 on", async () => {
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    await ok(server.admin.post(`${core}/pods`, pod));
    const live = (await ok(server.admin.get(`${core}/pods/p`))).body;
    const written = await ok(
      server.admin.put(`${core}/pods/p/status`, { ...live, status: { phase: "Running" } }),
    );
    expect(written.body["status"].qosClass).toBe(isAtLeast("1.32") ? live["status"].qosClass : undefined);
    await ok(server.admin.delete(`${core}/pods/p?gracePeriodSeconds=0`));
  });

  test("warns of drivers that don't say where tokens are from 1.35 on", async () => {
    const created = await ok(server.admin.post(drivers, driver));
    expect(created.warnings).toHaveLength(isAtLeast("1.35") ? 1 : 0);
    const { warnings } = await ok(
      server.admin.patch(`${drivers}/d.example.com`, { spec: { requiresRepublish: true } }),
    );
    expect(warnings).toEqual([]);
    await ok(server.admin.delete(`${drivers}/d.example.com`));
  });

  test("counts each change of a driver from 1.30 on", async () => {
    await ok(server.admin.post(drivers, driver));
    const { body } = await ok(
      server.admin.patch(`${drivers}/d.example.com`, { spec: { storageCapacity: true } }),
    );
    expect(body["metadata"].generation).toBe(isAtLeast("1.30") ? 1 : undefined);
    await ok(server.admin.delete(`${drivers}/d.example.com`));
  });

  test("notes when the phase of a volume changed, from 1.28 on by its gate, on by default from 1.29 on", async () => {
    const volumes = "/api/v1/persistentvolumes";
    const spec = { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/a" } };
    const created = (await ok(server.admin.post(volumes, { metadata: { name: "v" }, spec }))).body;
    const time = created["status"].lastPhaseTransitionTime;
    expect(time).toEqual(isAtLeast("1.29") ? expect.stringMatching(/^\d{4}-.*:\d\dZ$/) : undefined);
    const write = async (status: object): Promise<Record<string, unknown>> =>
      (await ok(server.admin.patch(`${volumes}/v/status`, { status }))).body["status"];
    expect(
      (await write({ phase: "Pending", lastPhaseTransitionTime: null }))["lastPhaseTransitionTime"],
    ).toBe(time);
    const set = await write({ phase: "Available", lastPhaseTransitionTime: "2020-01-01T00:00:00Z" });
    expect(set["lastPhaseTransitionTime"]).toBe(isAtLeast("1.29") ? "2020-01-01T00:00:00Z" : undefined);
    const { lastPhaseTransitionTime: last } = await write({ phase: "Bound" });
    expect(last === undefined || String(last) >= String(time)).toBe(true);
    expect(last !== undefined).toBe(isAtLeast("1.29"));
    await ok(server.admin.delete(`${volumes}/v`));
  });

  test("sets the mode of a balancer's addresses from 1.29 on where the gate is on", async () => {
    const spec = { type: "LoadBalancer", ports: [{ port: 80 }] };
    const created = (await ok(server.admin.post(`${core}/services`, { metadata: { name: "s" }, spec }))).body;
    const status = { loadBalancer: { ingress: [{ ip: "192.0.2.1" }, { hostname: "a.example.com" }] } };
    const { body } = await ok(server.admin.put(`${core}/services/s/status`, { ...created, status }));
    const modes = body["status"].loadBalancer.ingress.map(({ ipMode }: { ipMode?: string }) => ipMode);
    expect(modes).toEqual([isAtLeast("1.30") ? "VIP" : undefined, undefined]);
    await ok(server.admin.delete(`${core}/services/s`));
  });

  test("answers which rules there are without a time of creation from 1.34 on", async () => {
    const path = "/apis/authorization.platform.io/v1/selfsubjectrulesreviews";
    const { body } = await ok(server.admin.post(path, { spec: { namespace: "default" } }));
    expect(body["metadata"]).toEqual(isAtLeast("1.34") ? {} : { creationTimestamp: null });
  });

  test("has a status of the storage of nodes from 1.37 on", async () => {
    const nodes = "/apis/storage.platform.io/v1/csinodes";
    await ok(server.admin.post(nodes, { metadata: { name: "n" }, spec: { drivers: [] } }));
    expect((await server.admin.get(`${nodes}/n/status`)).status).toBe(isAtLeast("1.37") ? 200 : 404);
    await ok(server.admin.delete(`${nodes}/n`));
  });
});
