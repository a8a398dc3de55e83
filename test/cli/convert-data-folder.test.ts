import path from "node:path";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createServer } from "../../src/index.ts";
import { plinth } from "../support/process.ts";
import { useTemporaryFolders } from "../support/temporary-folders.ts";
import { plinthHere } from "../support/program-here.ts";

const folder = useTemporaryFolders();

type Name = "platform" | "kubernetes";
/** The product names that the objects of the tests contain. */
const names = {
  platform: {
    group: "platform.io",
    domain: "platform.io",
    system: "platform-system",
    scheduler: "system:scheduler",
  },
  kubernetes: {
    group: "k8s.io",
    domain: "kubernetes.io",
    system: "kube-system",
    scheduler: "system:kube-scheduler",
  },
} as const;

const open = (dir: string, vocabulary: Name) =>
  createServer({
    vocabulary,
    port: false,
    controllers: [],
    storage: { engine: "embedded", dir: path.join(dir, "store") },
  });
type Server = Awaited<ReturnType<typeof open>>;
const convert = (dir: string, vocabulary: Name, ...words: readonly string[]) =>
  plinthHere("convert", `--data-dir=${dir}`, `--vocabulary=${vocabulary}`, ...words);

/** Objects with names of the vocabulary in all places that the server reads. */
function objects(vocabulary: Name) {
  const { group, domain, system, scheduler } = names[vocabulary];
  const rbac = `rbac.authorization.${group}/v1`;
  const apiGroup = `rbac.authorization.${group}`;
  const metadata = (name: string, more: object = {}) => ({ name, namespace: "shop", ...more });
  const subjects = [
    { kind: "User", apiGroup, name: scheduler },
    { kind: "ServiceAccount", name: "robot", namespace: system },
    { kind: "Group", apiGroup, name: `system:serviceaccounts:${system}` },
  ];
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: metadata("robot") },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: metadata("settings", { labels: { [`app.${domain}/name`]: "web", plain: "x" } }),
      data: {
        text: `domain=platform.io/x kubernetes.io/y ${scheduler}`.replace(scheduler, "system:scheduler"),
      },
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "own", namespace: system }, data: { a: "b" } },
    {
      apiVersion: `coordination.${group}/v1`,
      kind: "Lease",
      metadata: { name: "own-controller", namespace: system },
      spec: { holderIdentity: "own", leaseDurationSeconds: 15 },
    },
    {
      apiVersion: rbac,
      kind: "Role",
      metadata: metadata("editor"),
      rules: [{ apiGroups: ["", "apps", `networking.${group}`], resources: ["*"], verbs: ["get"] }],
    },
    {
      apiVersion: rbac,
      kind: "RoleBinding",
      metadata: metadata("editors"),
      roleRef: { apiGroup, kind: "Role", name: "editor" },
      subjects,
    },
    {
      apiVersion: `networking.${group}/v1`,
      kind: "NetworkPolicy",
      metadata: metadata("closed"),
      spec: {
        podSelector: {},
        ingress: [
          { from: [{ namespaceSelector: { matchLabels: { [`${domain}/metadata.name`]: "shop" } } }] },
        ],
      },
    },
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: metadata("web", { finalizers: [`example.${domain}/wait`] }),
      spec: {
        selector: { matchLabels: { app: "web" } },
        template: {
          metadata: { labels: { app: "web" } },
          spec: {
            containers: [{ name: "web", image: "web", args: [`--label=${domain}/x`] }],
            tolerations: [{ key: `node.${domain}/unreachable`, operator: "Exists" }],
          },
        },
      },
    },
    {
      apiVersion: `apiextensions.${group}/v1`,
      kind: "CustomResourceDefinition",
      metadata: { name: "orders.shop.example.com" },
      spec: {
        group: "shop.example.com",
        names: { plural: "orders", kind: "Order" },
        scope: "Namespaced",
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: "object",
                [`x-${vocabulary}-preserve-unknown-fields`]: true,
              },
            },
          },
        ],
      },
    },
  ] as const;
}

/** Fills a folder with the objects, a custom object, and a changed default. */
async function fill(server: Server, vocabulary: Name): Promise<void> {
  for (const object of objects(vocabulary)) await server.client.create(structuredClone(object) as never);
  await expect
    .poll(() =>
      server.client
        .create({
          apiVersion: "shop.example.com/v1",
          kind: "Order",
          metadata: { name: "first", namespace: "shop" },
          spec: { count: 3 },
        } as never)
        .then(
          () => true,
          () => false,
        ),
    )
    .toBe(true);
  const { group } = names[vocabulary];
  await server.client.patch(
    {
      apiVersion: `rbac.authorization.${group}/v1`,
      kind: "ClusterRoleBinding",
      name: "cluster-admin",
    } as never,
    { subjects: [{ kind: "User", apiGroup: `rbac.authorization.${group}`, name: "mara" }] },
  );
}

/** An object of the tests, of any kind. */
interface TestObject {
  kind: string;
  metadata: { uid: string; creationTimestamp: string; resourceVersion?: string };
  spec: { template: { spec: { tolerations: { key: string }[] } } };
  subjects: unknown[];
}

const read = async (server: Server, reference: never): Promise<TestObject> =>
  structuredClone(await server.client.get(reference)) as unknown as TestObject;

/** Reads the objects, without what each write changes. */
async function stored(server: Server, vocabulary: Name) {
  const result: TestObject[] = [];
  for (const { apiVersion, kind, metadata } of objects(vocabulary)) {
    const object = await read(server, { ...metadata, apiVersion, kind } as never);
    delete object.metadata.resourceVersion;
    result.push(object);
  }
  return result;
}

describe.each<[Name, Name]>([
  ["platform", "kubernetes"],
  ["kubernetes", "platform"],
])("plinth convert --data-dir from %s to %s", (source, target) => {
  it("translates the names of all objects, and back to the same objects", async () => {
    const dir = folder();
    const first = await open(dir, source);
    await fill(first, source);
    const before = await stored(first, source);
    await first.close();

    const { code, stdout, stderr } = await convert(dir, target);
    expect(code).toBe(0);
    // The texts of users stay as they are, and are reported.
    expect(stderr.trimEnd().split("\n").toSorted()).toEqual([
      `ConfigMap shop/settings: data.text has a name of the ${source} vocabulary`,
      `Deployment shop/web: spec.template.spec.containers[0].args[0] has a name of the ${source} vocabulary`,
    ]);
    expect(stdout).toContain(`serve --data-dir=${dir} --vocabulary=${target}`);
    const second = await open(dir, target);
    const after = await stored(second, target);
    const expected = objects(target);
    for (const [index, object] of after.entries()) {
      if (object.kind !== "Deployment")
        expect(object).toMatchObject(JSON.parse(JSON.stringify(expected[index])));
      else
        expect(object.spec.template.spec.tolerations[0]!.key).toBe(
          `node.${names[target].domain}/unreachable`,
        );
      expect(object.metadata.uid).toBe(before[index]!.metadata.uid);
      expect(object.metadata.creationTimestamp).toBe(before[index]!.metadata.creationTimestamp);
    }
    const text = JSON.stringify(after.filter(({ kind }) => kind !== "ConfigMap" && kind !== "Deployment"));
    expect(text).not.toContain(names[source].domain);
    expect(text).not.toContain(names[source].group);
    const order = await read(second, {
      apiVersion: "shop.example.com/v1",
      kind: "Order",
      name: "first",
      namespace: "shop",
    } as never);
    expect(order.spec).toEqual({ count: 3 });
    const admins = await read(second, {
      apiVersion: `rbac.authorization.${names[target].group}/v1`,
      kind: "ClusterRoleBinding",
      name: "cluster-admin",
    } as never);
    expect(admins.subjects).toContainEqual(expect.objectContaining({ kind: "User", name: "mara" }));
    expect(await second.as("mara").list({ apiVersion: "v1", kind: "Secret" })).toBeDefined();
    const namespaces = await second.client.list({ apiVersion: "v1", kind: "Namespace" });
    const spaces = namespaces.items.map(({ metadata }) => metadata.name);
    expect(spaces).toContain(names[target].system);
    expect(spaces).not.toContain(names[source].system);
    await second.close();

    expect((await convert(dir, source)).code).toBe(0);
    const third = await open(dir, source);
    expect(await stored(third, source)).toEqual(before);
    await third.close();
  });
});

describe("plinth convert --data-dir", () => {
  it("continues the resource versions", async () => {
    const dir = folder();
    const first = await open(dir, "platform");
    await first.client.create({
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a", namespace: "default" },
    });
    const { resourceVersion } = await first.client.list({ apiVersion: "v1", kind: "ConfigMap" });
    await first.close();
    expect((await convert(dir, "kubernetes")).code).toBe(0);
    const second = await open(dir, "kubernetes");
    const list = await second.client.list({ apiVersion: "v1", kind: "ConfigMap" });
    expect(Number(list.resourceVersion)).toBeGreaterThan(Number(resourceVersion));
    await second.close();
  });

  it("changes nothing with --dry-run", async () => {
    const dir = folder();
    await (await open(dir, "platform")).close();
    const file = path.join(dir, "store/data.mdb");
    const before = readFileSync(file);
    const { code, stdout } = await convert(dir, "kubernetes", "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toMatch(/can be converted to the kubernetes vocabulary: \d+ objects/);
    expect(readFileSync(file).equals(before)).toBe(true);
    await (await open(dir, "platform")).close();
  });

  it("changes nothing if an object can't be converted, and names it", async () => {
    const dir = folder();
    const first = await open(dir, "platform");
    await fill(first, "platform");
    await first.client.create({
      apiVersion: "shop.example.com/v1",
      kind: "Order",
      metadata: { name: "labeled", namespace: "shop", labels: { "app.platform.io/name": "x" } },
    } as never);
    await first.client.create({ apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-public" } });
    await first.close();
    const { code, stdout, stderr } = await convert(dir, "kubernetes");
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(
      "/shop.example.com/orders/shop/labeled: the metadata of this custom object has names",
    );
    expect(stderr).toContain(
      "Namespace platform-public: there is an object with its name in the other vocabulary",
    );
    expect(stderr).toContain("is unchanged: 3 objects can't be converted");
    const again = await open(dir, "platform");
    expect(
      await again.client.find({ apiVersion: "v1", kind: "ConfigMap", name: "settings", namespace: "shop" }),
    ).toBeDefined();
    await again.close();
  });

  it("refuses a folder that a server uses", async () => {
    const dir = folder();
    const server = await open(dir, "platform");
    const words = ["convert", `--data-dir=${dir}`, "--vocabulary=kubernetes"];
    const { code, stderr } = plinth(...words);
    await server.close();
    expect(code).toBe(1);
    expect(stderr).toMatch(/process \d+/);
  });

  it.each([
    [["--data-dir=x"], 2, "--data-dir needs --vocabulary"],
    [["--data-dir=x", "--vocabulary=platform", "-f", "a"], 2, "--filename and --data-dir exclude each other"],
    [["--data-dir=/nonexistent", "--vocabulary=platform"], 1, "there is no store in it"],
  ])("%j fails with %i: %s", async (words, code, message) => {
    const result = await plinthHere("convert", ...words);
    expect(result.code).toBe(code);
    expect(result.stderr).toContain(message);
  });

  it("is named by the error of a server with the other vocabulary", async () => {
    const dir = folder();
    await (await open(dir, "platform")).close();
    await expect(open(dir, "kubernetes")).rejects.toThrow("convert it with plinth convert");
    expect((await convert(dir, "platform")).stdout).toContain("has the platform vocabulary already");
  });
});

describe("a data folder with kept history", () => {
  it("is converted without the history, whose objects have names of the other vocabulary", async () => {
    const dir = folder();
    const storage = { engine: "embedded", dir: path.join(dir, "store") } as const;
    const first = await createServer({ port: false, controllers: [], storage, keptHistory: ["*=1d"] });
    const settings = {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "settings", namespace: "default" },
    };
    await first.client.create({ ...settings, data: { a: "1" } });
    await first.client.patch({ ...settings, ...settings.metadata }, { data: { a: "2" } });
    await first.close();
    const { code, stderr } = await convert(dir, "kubernetes");
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    const second = await open(dir, "kubernetes");
    expect(await second.client.get({ ...settings, ...settings.metadata })).toMatchObject({
      data: { a: "2" },
    });
    await second.close();
  });
});
