import { describe, expect, test } from "vitest";
import type { AdmissionFacts } from "../../../src/admission/followed-objects.ts";
import { persistentVolumeClaimResize } from "../../../src/admission/plugins/storage-classes.ts";
import { PersistentVolumeClaim } from "../../../src/kinds/core/persistent-volume-claim.ts";
import type { AdmissionRequest } from "../../../src/resources/engine/engine.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { ok } from "../../api/support.ts";
import { engineOf, TestServer } from "../../support/api.ts";
import { useServer } from "../../support/use-server.ts";
import { rejected } from "./support.ts";

const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";
const VOLUMES = "/api/v1/persistentvolumes";
const STORAGE_CLASSES = "/apis/storage.platform.io/v1/storageclasses";
const INGRESSES = "/apis/networking.platform.io/v1/namespaces/default/ingresses";
const INGRESS_CLASSES = "/apis/networking.platform.io/v1/ingressclasses";

const claim = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});
const storageClass = (name: string, isDefault: boolean, more: object = {}) => ({
  metadata: { name, annotations: { "storageclass.platform.io/is-default-class": String(isDefault) } },
  provisioner: "example.com/disks",
  ...more,
});
const volume = (name: string, source: object) => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, ...source },
});

const server = useServer({ controllers: [], enabledAdmissionPlugins: ["PersistentVolumeLabel"] });

describe("DefaultStorageClass", () => {
  test("C-4.13-33 does nothing when no default exists", async () => {
    await ok(server.admin.post(STORAGE_CLASSES, storageClass("plain", false)));
    const { body } = await ok(server.admin.post(CLAIMS, claim("early")));
    expect(body.spec.storageClassName).toBeUndefined();
  });

  test("C-4.13-31 C-4.13-32 is on by default and adds the default class to a new claim that has none", async () => {
    await ok(server.admin.post(STORAGE_CLASSES, storageClass("usual", true)));
    const { body } = await ok(server.admin.post(CLAIMS, claim("filled")));
    expect(body.spec.storageClassName).toBe("usual");
    const named = await ok(server.admin.post(CLAIMS, claim("named", { storageClassName: "plain" })));
    expect(named.body.spec.storageClassName).toBe("plain");
    const none = await ok(server.admin.post(CLAIMS, claim("none", { storageClassName: "" })));
    expect(none.body.spec.storageClassName).toBe("");
  });

  test("C-4.13-35 ignores updates", async () => {
    const { body } = await ok(server.admin.patch(`${CLAIMS}/early`, { metadata: { labels: { a: "b" } } }));
    expect(body.spec.storageClassName).toBeUndefined();
  });

  test("C-4.13-34 rejects claims when several classes are marked as default, also by the older mark", async () => {
    const older = storageClass("older", false);
    older.metadata.annotations = { "storageclass.beta.platform.io/is-default-class": "true" } as never;
    await ok(server.admin.post(STORAGE_CLASSES, older));
    const why = "2 default StorageClasses were found";
    await rejected(server.admin.post(CLAIMS, claim("torn")), why);
    await rejected(server.admin.post(CLAIMS, claim("says", { storageClassName: "plain" })), why);
    await ok(server.admin.delete(`${STORAGE_CLASSES}/older`));
    await ok(server.admin.post(CLAIMS, claim("torn")));
  });
});

describe("PersistentVolumeClaimResize", () => {
  const bound = async (name: string, storageClassName: string) => {
    await ok(server.admin.post(CLAIMS, claim(name, { storageClassName })));
    const status = { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" } };
    await ok(server.admin.patch(`${CLAIMS}/${name}/status`, { status }));
  };
  const grow = (name: string) =>
    server.admin.patch(`${CLAIMS}/${name}`, { spec: { resources: { requests: { storage: "2Gi" } } } });

  test("C-4.13-85 C-4.13-86 increasing the request of a claim returns 403 unless its class allows expansion", async () => {
    await bound("stuck", "plain");
    await rejected(grow("stuck"), "the storageclass that provisions the pvc must support resize");
    await ok(server.admin.patch(`${STORAGE_CLASSES}/plain`, { allowVolumeExpansion: true }));
    expect((await ok(grow("stuck"))).body.spec.resources.requests.storage).toBe("2Gi");
    await ok(server.admin.patch(`${STORAGE_CLASSES}/plain`, { allowVolumeExpansion: false }));
    // Other updates are not checked.
    await ok(server.admin.patch(`${CLAIMS}/stuck`, { metadata: { labels: { a: "b" } } }));
  });

  test("an update that increases the request of an unbound claim returns 422", async () => {
    await ok(server.admin.post(STORAGE_CLASSES, storageClass("wide", false, { allowVolumeExpansion: true })));
    await ok(server.admin.post(CLAIMS, claim("unbound", { storageClassName: "wide" })));
    expect(await grow("unbound")).toMatchObject({ status: 422, body: { reason: "Invalid" } });
    await ok(server.admin.patch(`${CLAIMS}/unbound/status`, { status: { phase: "Bound" } }));
    expect((await ok(grow("unbound"))).body.spec.resources.requests.storage).toBe("2Gi");
  });

  test.each([undefined, "Pending", "Lost", "Bound"])(
    "C-4.13-86 the plugin allows an increased request only in phase Bound: %s",
    async (phase) => {
      const wide = { name: "wide", isDefault: false, allowsExpansion: true };
      const facts = { of: () => ({ get: () => wide }) } as unknown as AdmissionFacts;
      const sized = (storage: string) => ({
        ...claim("c", { storageClassName: "wide", resources: { requests: { storage } } }),
        status: { phase },
      });
      const target = { resource: engineOf(server).registry.require(PersistentVolumeClaim), name: "c" };
      const { validate } = persistentVolumeClaimResize(facts, platform);
      const ask = async (storage: string) =>
        validate!({ target, live: sized("1Gi"), object: sized(storage) } as unknown as AdmissionRequest);
      await ask("1Gi");
      if (phase === "Bound") await ask("2Gi");
      else await expect(ask("2Gi")).rejects.toThrow("Only bound persistent volume claims can be expanded");
    },
  );

  test("increasing the request of a claim without a class or with a missing class returns 403", async () => {
    await bound("classless", "");
    await rejected(grow("classless"), "must support resize");
    await bound("orphaned", "gone");
    await rejected(grow("orphaned"), "must support resize");
  });
});

describe("StorageObjectInUseProtection", () => {
  test("C-4.13-113 C-4.13-114 C-4.13-115 is on by default: new claims and volumes have a finalizer", async () => {
    const { body } = await ok(server.admin.post(CLAIMS, claim("held", { storageClassName: "plain" })));
    expect(body.metadata.finalizers).toEqual(["platform.io/pvc-protection"]);
    const made = await ok(server.admin.post(VOLUMES, volume("held", { hostPath: { path: "/x" } })));
    expect(made.body.metadata.finalizers).toEqual(["platform.io/pv-protection"]);
  });

  test("an existing finalizer is not added twice, and a removed one is not added again", async () => {
    const own = { ...claim("twice", { storageClassName: "plain" }) };
    const finalizers = ["platform.io/pvc-protection", "example.com/own"];
    const { body } = await ok(server.admin.post(CLAIMS, { ...own, metadata: { name: "twice", finalizers } }));
    expect(body.metadata.finalizers).toEqual(finalizers);
    const after = await ok(server.admin.patch(`${CLAIMS}/twice`, { metadata: { finalizers: null } }));
    expect(after.body.metadata.finalizers).toBeUndefined();
  });
});

describe("PersistentVolumeLabel", () => {
  const source = (volumeID: string) => ({ awsElasticBlockStore: { volumeID } });

  test("C-4.13-88 adds region and zone labels to volumes", async () => {
    const { body } = await ok(server.admin.post(VOLUMES, volume("cloud", source("aws://eu-west-1a/vol-1"))));
    expect(body.metadata.labels).toEqual({
      "topology.platform.io/zone": "eu-west-1a",
      "topology.platform.io/region": "eu-west-1",
    });
    const plain = await ok(server.admin.post(VOLUMES, volume("unknown", source("vol-1"))));
    expect(plain.body.metadata.labels).toBeUndefined();
  });

  test("C-4.13-87 is off by default", async () => {
    const other = await TestServer.start({ controllers: [] });
    try {
      const { body } = await ok(other.admin.post(VOLUMES, volume("cloud", source("aws://eu-west-1a/vol-1"))));
      expect(body.metadata.labels).toBeUndefined();
    } finally {
      await other.close();
    }
  });
});

describe("DefaultIngressClass", () => {
  const ingress = (name: string, more: object = {}, annotations: object = {}) => ({
    metadata: { name, annotations },
    spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } }, ...more },
  });
  const ingressClass = (name: string, isDefault: boolean) => ({
    metadata: { name, annotations: { "ingressclass.platform.io/is-default-class": String(isDefault) } },
    spec: { controller: "example.com/controller" },
  });

  test("C-4.13-28 does nothing when no default class exists", async () => {
    await ok(server.admin.post(INGRESS_CLASSES, ingressClass("plain", false)));
    const { body } = await ok(server.admin.post(INGRESSES, ingress("early")));
    expect(body.spec.ingressClassName).toBeUndefined();
  });

  test("C-4.13-26 C-4.13-27 is on by default and adds the default class to a new Ingress that has none", async () => {
    await ok(server.admin.post(INGRESS_CLASSES, ingressClass("usual", true)));
    const { body } = await ok(server.admin.post(INGRESSES, ingress("filled")));
    expect(body.spec.ingressClassName).toBe("usual");
    const named = await ok(server.admin.post(INGRESSES, ingress("named", { ingressClassName: "plain" })));
    expect(named.body.spec.ingressClassName).toBe("plain");
    const annotated = ingress("annotated", {}, { "platform.io/ingress.class": "x" });
    expect((await ok(server.admin.post(INGRESSES, annotated))).body.spec.ingressClassName).toBeUndefined();
  });

  test("C-4.13-30 ignores updates", async () => {
    const { body } = await ok(server.admin.patch(`${INGRESSES}/early`, { metadata: { labels: { a: "b" } } }));
    expect(body.spec.ingressClassName).toBeUndefined();
  });

  test("C-4.13-29 rejects all creation of Ingresses when several classes are marked as default", async () => {
    await ok(server.admin.post(INGRESS_CLASSES, ingressClass("second", true)));
    const why = "2 default IngressClasses were found";
    await rejected(server.admin.post(INGRESSES, ingress("torn")), why);
    await rejected(server.admin.post(INGRESSES, ingress("says", { ingressClassName: "plain" })), why);
  });
});

describe("TaintNodesByCondition", () => {
  const NODES = "/api/v1/nodes";

  test("C-4.13-116 C-4.13-117 is on by default: a new Node has the taint not-ready:NoSchedule", async () => {
    const taint = { key: "node.platform.io/not-ready", effect: "NoSchedule" };
    const { body } = await ok(server.admin.post(NODES, { metadata: { name: "n1" } }));
    expect(body.spec.taints).toEqual([taint]);
    const own = { key: "own", effect: "NoExecute" };
    const second = await ok(
      server.admin.post(NODES, { metadata: { name: "n2" }, spec: { taints: [own, taint] } }),
    );
    expect(second.body.spec.taints).toEqual([own, taint]);
    // The same key with another effect is another taint: it doesn't keep pods from being placed there.
    const evicting = { ...taint, effect: "NoExecute" };
    const third = await ok(
      server.admin.post(NODES, { metadata: { name: "n3" }, spec: { taints: [evicting] } }),
    );
    expect(third.body.spec.taints).toEqual([evicting, taint]);
    const freed = await ok(server.admin.patch(`${NODES}/n1`, { spec: { taints: null } }));
    expect(freed.body.spec.taints).toBeUndefined();
  });
});
