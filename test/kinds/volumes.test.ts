import { describe, expect, it } from "vitest";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { podWith, volumeWith, type Part } from "./pod-support.ts";
import { judgeNew } from "./support.ts";

type Case = readonly [title: string, source: Part, faults: readonly string[]];

/** Field paths in `faults` are relative to `spec.volumes[0]`. */
function check(cases: readonly Case[]): void {
  it.each(cases)("%s", (_title, source, faults) => {
    const found = judgeNew(Pod, volumeWith(source)).faults;
    expect(found.map((fault) => fault.replace("spec.volumes[0]", "").replace("FieldValue", ""))).toEqual(
      faults,
    );
  });
}

describe("Pod volumes", () => {
  check([
    ["a malformed name is rejected", { name: "A", emptyDir: {} }, [".name: Invalid"]],
    ["an empty name is rejected", { name: "", emptyDir: {} }, [".name: Required"]],
    [
      "several volume sources are rejected",
      { emptyDir: {}, hostPath: { path: "/a" }, secret: { secretName: "s" } },
      [".hostPath: Forbidden", ".secret: Forbidden"],
    ],
  ]);

  it("a duplicate volume name is rejected", () => {
    const { faults } = judgeNew(Pod, podWith({ volumes: [{ name: "a" }, { name: "a" }] }));
    expect(faults).toEqual(["spec.volumes[1].name: FieldValueDuplicate"]);
  });
});

const file = { path: "a", fieldRef: { fieldPath: "metadata.labels" } };

describe("Pod volumes: emptyDir, hostPath, gitRepo, secret, configMap, downwardAPI and claims", () => {
  check([
    ["an emptyDir in memory is valid", { emptyDir: { medium: "Memory", sizeLimit: "1Gi" } }, []],
    [
      "a negative emptyDir.sizeLimit is rejected",
      { emptyDir: { sizeLimit: "-1" } },
      [".emptyDir.sizeLimit: Forbidden"],
    ],
    ["a hostPath is valid", { hostPath: { path: "/a", type: "Directory" } }, []],
    ["a hostPath without path is rejected", { hostPath: {} }, [".hostPath.path: Required"]],
    ["a hostPath with .. is rejected", { hostPath: { path: "/a/../b" } }, [".hostPath.path: Invalid"]],
    [
      "an unknown hostPath.type is rejected",
      { hostPath: { path: "/a", type: "Pipe" } },
      [".hostPath.type: NotSupported"],
    ],
    ["a gitRepo is valid", { gitRepo: { repository: "r", directory: "a/b" } }, []],
    ["a gitRepo without repository is rejected", { gitRepo: {} }, [".gitRepo.repository: Required"]],
    [
      "a gitRepo with an absolute directory is rejected",
      { gitRepo: { repository: "r", directory: "/a" } },
      [".gitRepo.directory: Invalid"],
    ],
    ["a secret with items is valid", { secret: { secretName: "s", items: [{ key: "k", path: "p" }] } }, []],
    ["a secret without secretName is rejected", { secret: {} }, [".secret.secretName: Required"]],
    ["a configMap without name is rejected", { configMap: {} }, [".configMap.name: Required"]],
    [
      "a configMap.defaultMode above 0777 is rejected",
      { configMap: { name: "c", defaultMode: 0o1000 } },
      [".configMap.defaultMode: Invalid"],
    ],
    [
      "an item without key and path is rejected",
      { configMap: { name: "c", items: [{}] } },
      [".configMap.items[0].key: Required", ".configMap.items[0].path: Required"],
    ],
    [
      "an item path with .. is rejected",
      { secret: { secretName: "s", items: [{ key: "k", path: "../p" }] } },
      [".secret.items[0].path: Invalid"],
    ],
    [
      "an item path that begins with .. is rejected",
      { secret: { secretName: "s", items: [{ key: "k", path: "..data" }] } },
      [".secret.items[0].path: Invalid"],
    ],
    [
      "a negative item mode is rejected",
      { secret: { secretName: "s", items: [{ key: "k", path: "p", mode: -1 }] } },
      [".secret.items[0].mode: Invalid"],
    ],
    ["a downwardAPI item with fieldRef is valid", { downwardAPI: { items: [file] } }, []],
    [
      "a downwardAPI item without fieldRef and resourceFieldRef is rejected",
      { downwardAPI: { items: [{ path: "a" }] } },
      [".downwardAPI.items[0]: Required"],
    ],
    [
      "a downwardAPI item with spec.nodeName is rejected",
      { downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "spec.nodeName" } }] } },
      [".downwardAPI.items[0].fieldRef.fieldPath: NotSupported"],
    ],
    [
      "a resourceFieldRef without containerName is rejected",
      { downwardAPI: { items: [{ path: "a", resourceFieldRef: { resource: "limits.cpu" } }] } },
      [".downwardAPI.items[0].resourceFieldRef.containerName: Required"],
    ],
    [
      "a downwardAPI item with both fieldRef and resourceFieldRef is rejected",
      {
        downwardAPI: {
          items: [{ ...file, resourceFieldRef: { containerName: "a", resource: "limits.cpu" } }],
        },
      },
      [".downwardAPI.items[0]: Invalid"],
    ],
    ["a persistentVolumeClaim is valid", { persistentVolumeClaim: { claimName: "c" } }, []],
    [
      "a persistentVolumeClaim without claimName is rejected",
      { persistentVolumeClaim: {} },
      [".persistentVolumeClaim.claimName: Required"],
    ],
    [
      "an ephemeral volume without volumeClaimTemplate is rejected",
      { ephemeral: {} },
      [".ephemeral.volumeClaimTemplate: Required"],
    ],
    [
      "a volumeClaimTemplate with a name is rejected",
      {
        ephemeral: {
          volumeClaimTemplate: {
            metadata: { name: "x", labels: { a: "b" } },
            spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
          },
        },
      },
      [".ephemeral.volumeClaimTemplate.metadata.name: Forbidden"],
    ],
  ]);

  it("an ephemeral volume's claim can't be used as a persistentVolumeClaim volume", () => {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const volumes = [
      { name: "a", ephemeral: { volumeClaimTemplate: { spec } } },
      { name: "b", persistentVolumeClaim: { claimName: "one-a" } },
    ];
    expect(judgeNew(Pod, podWith({ volumes })).faults).toEqual([
      "spec.volumes[1].persistentVolumeClaim.claimName: FieldValueInvalid",
    ]);
  });

  it("an ephemeral volume is rejected when the name of its claim is too long", () => {
    const spec = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };
    const volumes = [{ name: "a", ephemeral: { volumeClaimTemplate: { spec } } }];
    const pod = { metadata: { name: "p".repeat(252) }, ...podWith({ volumes }) };
    expect(judgeNew(Pod, pod).faults).toEqual(["spec.volumes[0].name: FieldValueInvalid"]);
  });
});

describe("Pod volumes: projected", () => {
  const token = { serviceAccountToken: { path: "token" } };
  check([
    [
      "a secret and a downwardAPI source are valid",
      { projected: { sources: [{ secret: { name: "s" } }, { downwardAPI: { items: [file] } }] } },
      [],
    ],
    [
      "a serviceAccountToken source without serviceAccountName is rejected",
      { projected: { sources: [token] } },
      [".projected.sources[0].serviceAccountToken: Forbidden"],
    ],
    [
      "a source with both secret and configMap is rejected",
      { projected: { sources: [{ secret: { name: "s" }, configMap: { name: "c" } }] } },
      [".projected.sources[0].configMap: Forbidden"],
    ],
    [
      "a secret and a configMap source without name are rejected",
      { projected: { sources: [{ secret: {} }, { configMap: {} }] } },
      [".projected.sources[0].secret.name: Required", ".projected.sources[1].configMap.name: Required"],
    ],
    [
      "two items with the same path are rejected",
      {
        projected: {
          sources: [
            { secret: { name: "s", items: [{ key: "k", path: "a" }] } },
            { downwardAPI: { items: [file] } },
          ],
        },
      },
      [".projected: Invalid"],
    ],
    [
      "a defaultMode above 0777 is rejected",
      { projected: { sources: [{ secret: { name: "s" } }], defaultMode: 9999 } },
      [".projected.defaultMode: Invalid"],
    ],
  ]);

  it.each([
    [599, ["FieldValueInvalid"]],
    [600, []],
    [2 ** 32, []],
    [2 ** 32 + 1, ["FieldValueInvalid"]],
  ])("validates a serviceAccountToken with expirationSeconds %i", (expirationSeconds, reasons) => {
    const sources = [{ serviceAccountToken: { path: "t", expirationSeconds } }];
    const pod = podWith({ serviceAccountName: "a", volumes: [{ name: "v", projected: { sources } }] });
    const place = "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds";
    expect(judgeNew(Pod, pod).faults).toEqual(reasons.map((reason) => `${place}: ${reason}`));
  });
});

describe("Pod volumes: disks, network storage and drivers", () => {
  const disk = { diskName: "d", diskURI: "https://a.blob.core.windows.net/b/c.vhd" };
  const iscsi = { targetPortal: "192.0.2.1:3260", iqn: "iqn.2001-04.com.example:storage", lun: 0 };
  check([
    ["a gcePersistentDisk is valid", { gcePersistentDisk: { pdName: "p" } }, []],
    [
      "a gcePersistentDisk without pdName and with a partition above 255 is rejected",
      { gcePersistentDisk: { partition: 256 } },
      [".gcePersistentDisk.pdName: Required", ".gcePersistentDisk.partition: Invalid"],
    ],
    [
      "an awsElasticBlockStore without volumeID and with a negative partition is rejected",
      { awsElasticBlockStore: { partition: -1 } },
      [".awsElasticBlockStore.volumeID: Required", ".awsElasticBlockStore.partition: Invalid"],
    ],
    ["an azureDisk is valid", { azureDisk: disk }, []],
    [
      "an azureDisk without diskName and diskURI is rejected",
      { azureDisk: {} },
      [".azureDisk.diskName: Required", ".azureDisk.diskURI: Required"],
    ],
    [
      "an azureDisk of kind Managed with a blob URI is rejected",
      { azureDisk: { ...disk, kind: "Managed" } },
      [".azureDisk.diskURI: NotSupported"],
    ],
    [
      "an unknown azureDisk.cachingMode is rejected",
      { azureDisk: { ...disk, cachingMode: "Some" } },
      [".azureDisk.cachingMode: NotSupported"],
    ],
    [
      "an empty azureFile is rejected",
      { azureFile: {} },
      [".azureFile.secretName: Required", ".azureFile.shareName: Required"],
    ],
    ["an empty vsphereVolume is rejected", { vsphereVolume: {} }, [".vsphereVolume.volumePath: Required"]],
    [
      "an empty photonPersistentDisk is rejected",
      { photonPersistentDisk: {} },
      [".photonPersistentDisk.pdID: Required"],
    ],
    [
      "a cinder volume without volumeID and secret name is rejected",
      { cinder: { secretRef: {} } },
      [".cinder.volumeID: Required", ".cinder.secretRef.name: Required"],
    ],
    ["an nfs volume is valid", { nfs: { server: "s", path: "/a" } }, []],
    [
      "an nfs volume without server and with a relative path is rejected",
      { nfs: { path: "a" } },
      [".nfs.server: Required", ".nfs.path: Invalid"],
    ],
    ["an iscsi volume is valid", { iscsi }, []],
    [
      "a malformed iscsi.iqn and a lun above 255 are rejected",
      { iscsi: { ...iscsi, iqn: "x", lun: 256 } },
      [".iscsi.iqn: Invalid", ".iscsi.lun: Invalid"],
    ],
    [
      "iscsi.chapAuthSession without secretRef is rejected",
      { iscsi: { ...iscsi, chapAuthSession: true } },
      [".iscsi.secretRef: Required"],
    ],
    [
      "a malformed iscsi.initiatorName is rejected",
      { iscsi: { ...iscsi, initiatorName: "x" } },
      [".iscsi.initiatorname: Invalid"],
    ],
    [
      "an empty glusterfs is rejected",
      { glusterfs: {} },
      [".glusterfs.endpoints: Required", ".glusterfs.path: Required"],
    ],
    ["an empty rbd is rejected", { rbd: {} }, [".rbd.monitors: Required", ".rbd.image: Required"]],
    [
      "a cephfs volume without monitors is rejected",
      { cephfs: { monitors: [] } },
      [".cephfs.monitors: Required"],
    ],
    ["an fc volume is valid", { fc: { targetWWNs: ["a"], lun: 1 } }, []],
    ["an fc volume without targetWWNs and wwids is rejected", { fc: {} }, [".fc.targetWWNs: Required"]],
    [
      "an fc volume with targetWWNs and no lun is rejected",
      { fc: { targetWWNs: ["a"] } },
      [".fc.lun: Required"],
    ],
    [
      "an fc volume with both targetWWNs and wwids is rejected",
      { fc: { targetWWNs: ["a"], wwids: ["b"], lun: 1 } },
      [".fc.targetWWNs: Invalid"],
    ],
    [
      "a flexVolume with options is valid",
      { flexVolume: { driver: "a/b", options: { "example.com/a": "b" } } },
      [],
    ],
    [
      "a flexVolume option with a reserved domain is rejected",
      { flexVolume: { driver: "a/b", options: { "x.platform.io/a": "b" } } },
      [".flexVolume.options[x.platform.io/a]: Invalid"],
    ],
    ["a flexVolume without driver is rejected", { flexVolume: {} }, [".flexVolume.driver: Required"]],
    ["a flocker volume is valid", { flocker: { datasetName: "a" } }, []],
    ["an empty flocker is rejected", { flocker: {} }, [".flocker: Required"]],
    [
      "a flocker volume with both datasetName and datasetUUID is rejected",
      { flocker: { datasetName: "a/b", datasetUUID: "c" } },
      [".flocker: Invalid", ".flocker.datasetName: Invalid"],
    ],
    ["an empty portworxVolume is rejected", { portworxVolume: {} }, [".portworxVolume.volumeID: Required"]],
    ["a quobyte volume is valid", { quobyte: { registry: "a:1,b:2", volume: "v" } }, []],
    [
      "a quobyte volume with a malformed registry, no volume and a tenant above 64 characters is rejected",
      { quobyte: { registry: "a", tenant: "t".repeat(65) } },
      [".quobyte.registry: Invalid", ".quobyte.volume: Required", ".quobyte.tenant: Required"],
    ],
    [
      "an empty scaleIO is rejected",
      { scaleIO: {} },
      [".scaleIO.gateway: Required", ".scaleIO.system: Required", ".scaleIO.volumeName: Required"],
    ],
    ["an empty storageos is rejected", { storageos: {} }, [".storageos.volumeName: Required"]],
    [
      "malformed storageos names are rejected",
      { storageos: { volumeName: "A", volumeNamespace: "B" } },
      [".storageos.volumeName: Invalid", ".storageos.volumeNamespace: Invalid"],
    ],
    ["a csi volume is valid", { csi: { driver: "disk.example.com" } }, []],
    ["a csi volume without driver is rejected", { csi: {} }, [".csi.driver: Required"]],
    ["a malformed csi.driver is rejected", { csi: { driver: "a_b" } }, [".csi.driver: Invalid"]],
    [
      "a csi nodePublishSecretRef without name is rejected",
      { csi: { driver: "a", nodePublishSecretRef: {} } },
      [".csi.nodePublishSecretRef.name: Required"],
    ],
  ]);
});
