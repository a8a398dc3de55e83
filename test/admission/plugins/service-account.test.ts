import { describe, expect, test } from "vitest";
import type { AdmissionPlugin } from "../../../src/index.ts";
import { namespace, ok } from "../../api/support.ts";
import { TestServer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { pod, PODS, rejected } from "./support.ts";

const ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts";
const place = "/var/run/secrets/platform.io/serviceaccount";

const server = useServer();

let count = 0;
/** An account of its own. */
async function account(fields: object = {}, annotations: object = {}): Promise<string> {
  const name = `account-${++count}`;
  await ok(server.admin.post(ACCOUNTS, { metadata: { name, annotations }, ...fields }));
  return name;
}

const made = async (name: string, spec: object = {}) =>
  (await ok(server.admin.post(PODS, pod(name, spec)))).body;

interface ShownVolume {
  readonly name: string;
}

describe("ServiceAccount of a Pod", () => {
  test("C-4.13-111 C-4.13-112 a pod without an account gets the default one, with its token mounted in every container", async () => {
    const { spec, metadata } = await made("plain", {
      containers: [
        { name: "a", image: "i" },
        { name: "b", image: "i" },
      ],
      initContainers: [{ name: "c", image: "i" }],
    });
    expect(spec).toMatchObject({ serviceAccountName: "default", serviceAccount: "default" });
    expect(spec.volumes).toEqual([
      {
        name: expect.stringMatching(/^api-access-[a-z0-9]{5}$/),
        projected: {
          sources: [
            { serviceAccountToken: { expirationSeconds: 3607, path: "token" } },
            { configMap: { name: "root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
            {
              downwardAPI: {
                items: [
                  { path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } },
                ],
              },
            },
          ],
          defaultMode: 420,
        },
      },
    ]);
    const mount = { name: spec.volumes[0].name, readOnly: true, mountPath: place };
    for (const { volumeMounts } of [...spec.containers, ...spec.initContainers]) {
      expect(volumeMounts).toEqual([mount]);
    }
    const owned = JSON.stringify(metadata.managedFields);
    expect(owned).not.toMatch(/volume|serviceAccount/);
  });

  test("with the vocabulary kubernetes, the names are those of Kubernetes", async () => {
    const other = await TestServer.start({ vocabulary: "kubernetes" });
    try {
      const { spec } = (await ok(other.admin.post(PODS, pod("plain")))).body;
      expect(spec.volumes[0].name).toMatch(/^kube-api-access-[a-z0-9]{5}$/);
      expect(spec.volumes[0].projected.sources[1].configMap.name).toBe("kube-root-ca.crt");
      expect(spec.containers[0].volumeMounts[0].mountPath).toBe(
        "/var/run/secrets/kubernetes.io/serviceaccount",
      );
    } finally {
      await other.close();
    }
  });

  test("a pod with a missing account is rejected, and accepted once the account exists", async () => {
    const spec = { serviceAccountName: "later" };
    await rejected(
      server.admin.post(PODS, pod("early", spec)),
      'error looking up service account default/later: serviceaccount "later" not found',
    );
    await ok(server.admin.post(ACCOUNTS, { metadata: { name: "later" } }));
    expect((await made("early", spec)).spec.serviceAccountName).toBe("later");
    await ok(server.admin.delete(`${ACCOUNTS}/later`));
    await rejected(server.admin.post(PODS, pod("late", spec)), 'serviceaccount "later" not found');
  });

  test("a pod created right after its namespace waits for the default account", async () => {
    await ok(server.admin.post("/api/v1/namespaces", namespace("brand-new")));
    const { body } = await ok(server.admin.post("/api/v1/namespaces/brand-new/pods", pod("first")));
    expect(body.spec.serviceAccountName).toBe("default");
  });

  test("the pod is rejected after the wait when the controller is disabled", async () => {
    const alone = await TestServer.start({ enabledControllers: ["*", "-serviceaccount"] });
    try {
      const why = 'error looking up service account default/default: serviceaccount "default" not found';
      await rejected(alone.admin.post(PODS, pod("waits")), why);
      const waiting = ok(alone.admin.post(PODS, pod("waits")));
      await ok(alone.admin.post(ACCOUNTS, { metadata: { name: "default" } }));
      await waiting;
    } finally {
      await alone.close();
    }
  });

  test("a pod without required fields returns 422", async () => {
    for (const spec of [undefined, {}, { volumes: [{}], initContainers: [{}] }]) {
      const { status, body } = await server.admin.post(PODS, { metadata: { name: "empty" }, spec });
      expect([status, body.reason]).toEqual([422, "Invalid"]);
    }
  });

  test("an account set by a later plugin must exist and its secret restrictions apply", async () => {
    let chosen = "missing";
    const chooses: AdmissionPlugin = {
      name: "Chooses",
      concerns: (operation, { resource }) => operation === "CREATE" && resource.name === "pods",
      mutate: ({ object }) => void Object.assign(object!["spec"] as object, { serviceAccountName: chosen }),
    };
    const other = await TestServer.start({ admissionPlugins: [chooses] });
    try {
      await rejected(other.admin.post(PODS, pod("moved")), 'serviceaccount "missing" not found');
      chosen = "strict";
      const annotations = { "platform.io/enforce-mountable-secrets": "true" };
      await ok(other.admin.post(ACCOUNTS, { metadata: { name: "strict", annotations } }));
      const volumes = [{ name: "v", secret: { secretName: "s" } }];
      await rejected(other.admin.post(PODS, pod("moved", { volumes })), "service account strict does not");
    } finally {
      await other.close();
    }
  });

  test("can be turned off", async () => {
    const off = await TestServer.start({ disabledAdmissionPlugins: ["ServiceAccount"] });
    try {
      const { body } = await ok(off.admin.post(PODS, pod("plain", { serviceAccountName: "missing" })));
      expect(body.spec.volumes).toBeUndefined();
    } finally {
      await off.close();
    }
  });
});

describe("whether the token is mounted", () => {
  test.each([
    [undefined, undefined, true],
    [undefined, false, false],
    [true, false, true],
    [false, undefined, false],
    [false, true, false],
  ])(
    "automountServiceAccountToken %s in the pod and %s in the account results in %s",
    async (ofPod, ofAccount, mounted) => {
      const serviceAccountName = await account(
        ofAccount === undefined ? {} : { automountServiceAccountToken: ofAccount },
      );
      const spec = ofPod === undefined ? {} : { automountServiceAccountToken: ofPod };
      const { volumes = [], containers } = (await made(`mounts-${count}`, { ...spec, serviceAccountName }))
        .spec;
      expect(volumes).toHaveLength(mounted ? 1 : 0);
      expect(containers[0].volumeMounts ?? []).toHaveLength(mounted ? 1 : 0);
    },
  );

  test("a container keeps its own mount at the token path, and other containers get the token mount", async () => {
    const own = { name: "own", mountPath: place };
    const { volumes, containers } = (
      await made("own-mount", {
        volumes: [{ name: "own", emptyDir: {} }],
        containers: [
          { name: "a", image: "i", volumeMounts: [own] },
          { name: "b", image: "i", volumeMounts: [{ name: "own", mountPath: "/elsewhere" }] },
        ],
      })
    ).spec;
    expect(volumes.map(({ name }: ShownVolume) => name)).toEqual([
      "own",
      expect.stringMatching(/^api-access-/),
    ]);
    expect(containers[0].volumeMounts).toEqual([own]);
    expect(containers[1].volumeMounts.map((one: { mountPath: string }) => one.mountPath)).toEqual([
      "/elsewhere",
      place,
    ]);
  });

  test("no volume is added when every container has its own mount at the token path", async () => {
    const containers = [{ name: "a", image: "i", volumeMounts: [{ name: "own", mountPath: place }] }];
    const { volumes } = (await made("all-own", { volumes: [{ name: "own", emptyDir: {} }], containers }))
      .spec;
    expect(volumes.map(({ name }: ShownVolume) => name)).toEqual(["own"]);
  });

  test("an existing volume with a token volume name is used", async () => {
    const { volumes, containers } = (
      await made("named-alike", { volumes: [{ name: "api-access-mine", emptyDir: {} }] })
    ).spec;
    expect(volumes.map(({ name }: ShownVolume) => name)).toEqual(["api-access-mine"]);
    expect(containers[0].volumeMounts[0].name).toBe("api-access-mine");
  });
});

test("a pod without image pull secrets gets those of its account", async () => {
  const serviceAccountName = await account({ imagePullSecrets: [{ name: "one" }, { name: "two" }] });
  const pulls = async (name: string, spec: object) => (await made(name, spec)).spec.imagePullSecrets;
  expect(await pulls("pulls", { serviceAccountName })).toEqual([{ name: "one" }, { name: "two" }]);
  const own = [{ name: "own" }];
  expect(await pulls("pulls-own", { serviceAccountName, imagePullSecrets: own })).toEqual(own);
  expect(await pulls("pulls-none", {})).toBeUndefined();
});

describe("a ServiceAccount with enforce-mountable-secrets", () => {
  const marked = { "platform.io/enforce-mountable-secrets": "true" };
  const naming = { secrets: [{ name: "mine" }], imagePullSecrets: [{ name: "pull" }] };
  const secretVolume = (secretName: string) => ({ volumes: [{ name: "v", secret: { secretName } }] });
  const variable = (name: string) => [{ name: "E", valueFrom: { secretKeyRef: { name, key: "k" } } }];
  const all = (name: string) => [{ secretRef: { name } }];
  const containers = (fields: object) => [{ name: "c", image: "i", ...fields }];
  const cases: [what: string, spec: object, why: string][] = [
    [
      "rejects a volume of another secret",
      secretVolume("other"),
      'volume with secret.secretName="other" is not allowed',
    ],
    [
      "rejects a container variable from another secret",
      { containers: containers({ env: variable("other") }) },
      'container c with envVar E referencing secret.secretName="other" is not allowed',
    ],
    [
      "rejects an init container variable from another secret",
      { initContainers: [{ name: "i", image: "i", env: variable("other") }] },
      'init container i with envVar E referencing secret.secretName="other" is not allowed',
    ],
    [
      "rejects envFrom of another secret",
      { containers: containers({ envFrom: all("other") }) },
      'container c with envFrom referencing secret.secretName="other" is not allowed',
    ],
    [
      "rejects another imagePullSecret",
      { imagePullSecrets: [{ name: "mine" }] },
      'imagePullSecrets[0].name="mine" is not allowed',
    ],
  ];

  test.each(cases)("%s", async (_what, spec, why) => {
    const limited = await account(naming, marked);
    const free = await account(naming, { "platform.io/enforce-mountable-secrets": "false" });
    const name = `secrets-${count}`;
    await rejected(server.admin.post(PODS, pod(name, { ...spec, serviceAccountName: limited })), why);
    await rejected(
      server.admin.post(PODS, pod(name, { ...spec, serviceAccountName: limited })),
      `because service account ${limited} does not reference that`,
    );
    await made(name, { ...spec, serviceAccountName: free });
  });

  test("allows the secrets that it names", async () => {
    await made("uses-named", {
      serviceAccountName: await account(naming, marked),
      ...secretVolume("mine"),
      containers: containers({ env: variable("mine"), envFrom: all("mine") }),
    });
  });

  test("also restricts ephemeral containers", async () => {
    const serviceAccountName = await account(naming, marked);
    await made("looked-into", { serviceAccountName });
    const adding = (name: string, fields: object) =>
      server.admin.patch(
        `${PODS}/looked-into/ephemeralcontainers`,
        { spec: { ephemeralContainers: [{ name, image: "i", ...fields }] } },
        "strategic",
      );
    const why = 'ephemeral container e with envVar E referencing secret.secretName="other" is not allowed';
    await rejected(adding("e", { env: variable("other") }), why);
    await rejected(adding("e", { envFrom: all("other") }), "ephemeral container e with envFrom referencing");
    await ok(adding("e", { env: variable("mine") }));
    await ok(server.admin.delete(`${ACCOUNTS}/${serviceAccountName}`));
    await rejected(adding("f", {}), `serviceaccount "${serviceAccountName}" not found`);
  });
});

describe("mirror pods", () => {
  const mirror = (name: string, spec: object) =>
    pod(name, { nodeName: "n", ...spec }, { annotations: { "platform.io/config.mirror": "x" } });

  test("are not changed", async () => {
    const { body } = await ok(server.admin.post(PODS, mirror("mirror", {})));
    expect(body.spec.serviceAccountName).toBeUndefined();
    expect(body.spec.volumes).toBeUndefined();
  });

  const projected = (source: object) => ({ volumes: [{ name: "v", projected: { sources: [source] } }] });
  test.each([
    [{ serviceAccountName: "default" }, "a mirror pod may not reference service accounts"],
    [{ volumes: [{ name: "v", secret: { secretName: "s" } }] }, "a mirror pod may not reference secrets"],
    [{ imagePullSecrets: [{ name: "s" }] }, "a mirror pod may not reference secrets"],
    [projected({ secret: { name: "s" } }), "a mirror pod may not reference secrets"],
    [
      { containers: [{ name: "c", image: "i", envFrom: [{ secretRef: { name: "s" } }] }] },
      "a mirror pod may not reference secrets",
    ],
    [
      projected({ serviceAccountToken: { path: "token" } }),
      "a mirror pod may not use ServiceAccountToken volume projections",
    ],
  ])("%j is rejected", async (spec, why) => {
    await rejected(server.admin.post(PODS, mirror("refers", spec)), why);
  });
});
