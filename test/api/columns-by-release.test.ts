import { describe, expect, test } from "vitest";
import type { Release } from "../../src/base/releases.ts";
import { TestServer } from "../support/api.ts";
import { definition, definitions } from "./custom-resources/support.ts";
import { configMap, ok } from "./support.ts";

const pods = "/api/v1/namespaces/default/pods";
const ingresses = "/apis/networking.platform.io/v1/namespaces/default/ingresses";
const cronJobs = "/apis/batch/v1/namespaces/default/cronjobs";
const tables = "application/json;as=Table;v=v1;g=meta.platform.io";

async function inRelease(release: Release, run: (server: TestServer) => Promise<void>): Promise<void> {
  const server = await TestServer.start({ release, enabledControllers: ["serviceaccount"] });
  try {
    await run(server);
  } finally {
    await server.close();
  }
}

const pod = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { serviceAccountName: "default", containers: [{ name: "c", image: "i" }], ...spec },
});
const whole = (columns: { name: string; priority: number }[]) =>
  columns.map(({ name, priority }) => (priority === 0 ? name : `(${name})`));

describe("the columns of tables", () => {
  const path = "/api/v1/namespaces/default/resourcequotas";
  test.each<[Release, string[]]>([
    ["1.32", ["Name", "Age", "Request", "Limit"]],
    ["1.33", ["Name", "Request", "Limit", "Age"]],
  ])("of ResourceQuotas, release %s", (release, expected) =>
    inRelease(release, async ({ admin }) => {
      expect(whole((await admin.get(path, { accept: tables })).body.columnDefinitions)).toEqual(expected);
    }),
  );

  const later = [
    "Name",
    "Scope",
    "Versions",
    "Created At",
    "(Group)",
    "(Kind)",
    "(ShortNames)",
    "(Established)",
  ];
  test.each<[Release, string[], unknown[]]>([
    ["1.36", ["Name", "Created At"], []],
    ["1.37", later, ["Namespaced", "v1(storage)", "shop.example.com", "Order", "or,ord"]],
  ])("of definitions, release %s", (release, expected, cells) =>
    inRelease(release, async ({ admin }) => {
      const names = { plural: "orders", kind: "Order", shortNames: ["or", "ord"] };
      await ok(admin.post(definitions, definition({ names })));
      const { body } = await admin.get(definitions, { accept: tables });
      expect(whole(body.columnDefinitions)).toEqual(expected);
      const row = body.rows[0].cells as unknown[];
      expect(row[0]).toBe("orders.shop.example.com");
      if (cells.length > 0) expect([...row.slice(1, 3), ...row.slice(4, 7)]).toEqual(cells);
    }),
  );
});

describe("pods", () => {
  test.each<[Release, number]>([
    ["1.27", 400],
    ["1.28", 200],
  ])("are selectable by spec.hostNetwork from 1.28 on, release %s", (release, expected) =>
    inRelease(release, async ({ admin }) => {
      await ok(admin.post(pods, pod("host", { hostNetwork: true })));
      await ok(admin.post(pods, pod("own")));
      for (const [value, name] of [
        ["true", "host"],
        ["false", "own"],
      ]) {
        const { status, body } = await admin.get(`${pods}?fieldSelector=spec.hostNetwork%3D${value}`);
        expect(status).toBe(expected);
        if (status === 200)
          expect(body.items.map((one: { metadata: object }) => one.metadata)).toMatchObject([{ name }]);
      }
    }),
  );

  test("keep their generation and get the labels of the binding when they are bound to a node", () =>
    inRelease("1.37", async ({ admin }) => {
      await ok(admin.post(pods, pod("a")));
      const binding = {
        metadata: { name: "a", labels: { a: "b", "not valid": "c" } },
        target: { kind: "Node", name: "n" },
      };
      await ok(admin.post(`${pods}/a/binding`, binding));
      const { spec, metadata } = (await admin.get(`${pods}/a`)).body;
      expect([spec.nodeName, metadata.generation, metadata.labels]).toEqual(["n", 1, { a: "b" }]);
    }));
});

test.each<[Release, boolean]>([
  ["1.33", false],
  ["1.34", true],
])("a token request has the uid of its service account from 1.34 on, release %s", (release, expected) =>
  inRelease(release, async ({ admin }) => {
    const account = "/api/v1/namespaces/default/serviceaccounts/default";
    const { uid } = (await ok(admin.get(account))).body.metadata;
    const { body } = await ok(admin.post(`${account}/token`, { spec: {} }));
    expect(body.metadata.uid).toBe(expected ? uid : undefined);
  }),
);

test("a PUT of an absent object with a uid is 409", () =>
  inRelease("1.37", async ({ admin }) => {
    const path = "/api/v1/namespaces/default/configmaps";
    const absent = (name: string, metadata: object) => ({
      ...configMap(name),
      metadata: { name, ...metadata },
    });
    expect((await admin.put(`${path}/a`, absent("a", {}))).status).toBe(404);
    const { status, body } = await admin.put(`${path}/a`, absent("a", { uid: "u" }));
    expect([status, body.reason]).toEqual([409, "Conflict"]);
    const service = { metadata: { name: "s", uid: "u" }, spec: { ports: [{ port: 1 }] } };
    expect((await admin.put("/api/v1/namespaces/default/services/s", service)).status).toBe(409);
  }));

test.each<[Release, number]>([
  ["1.30", 200],
  ["1.31", 409],
])("the port of an Ingress's service is applied as a whole from 1.31 on, release %s", (release, expected) =>
  inRelease(release, async ({ admin }) => {
    const apply = (manager: string, port: object, force = "") =>
      admin.ask("PATCH", `${ingresses}/i?fieldManager=${manager}${force}`, {
        body: {
          apiVersion: "networking.platform.io/v1",
          kind: "Ingress",
          metadata: { name: "i" },
          spec: { defaultBackend: { service: { name: "s", port } } },
        },
        contentType: "application/apply-patch+yaml",
      });
    expect((await apply("one", { number: 80 })).status).toBe(201);
    const other = await apply("two", { number: 80 });
    expect(other.status).toBe(200);
    const renamed = await apply("two", { name: "http" });
    // Before 1.31 both a number and a name remain, which is invalid.
    expect(renamed.status).toBe(expected === 409 ? 409 : 422);
    if (expected === 409) {
      const forced = await apply("two", { name: "http" }, "&force=true");
      expect(forced.body.spec.defaultBackend.service.port).toEqual({ name: "http" });
    }
  }),
);

test.each<[Release, number]>([
  ["1.28", 201],
  ["1.29", 422],
])("a schedule that names a time zone is refused from 1.29 on, release %s", (release, expected) =>
  inRelease(release, async ({ admin }) => {
    const template = { spec: { restartPolicy: "Never", containers: [{ name: "c", image: "i" }] } };
    const job = (name: string, schedule: string) => ({
      metadata: { name },
      spec: { schedule, jobTemplate: { spec: { template } } },
    });
    for (const zone of ["TZ=UTC", "CRON_TZ=UTC"]) {
      const name = zone.toLowerCase().replaceAll(/[^a-z]/g, "");
      expect((await admin.post(cronJobs, job(name, `${zone} 0 * * * *`))).status).toBe(expected);
    }
    await ok(admin.post(cronJobs, job("plain", "0 * * * *")));
    const patch = { spec: { schedule: "TZ=UTC 0 * * * *" } };
    expect((await admin.patch(`${cronJobs}/plain`, patch)).status).toBe(expected === 201 ? 200 : 422);
  }),
);
