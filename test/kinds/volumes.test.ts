import { describe, expect, it } from "vitest";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { podWith, volumeWith, type Part } from "./pod-support.ts";
import { judgeNew } from "./support.ts";

type Case = readonly [title: string, source: Part, faults: readonly string[]];

/** Places below the only volume. */
function check(cases: readonly Case[]): void {
  it.each(cases)("%s", (_title, source, faults) => {
    const found = judgeNew(Pod, volumeWith(source)).faults;
    expect(found.map((fault) => fault.replace("spec.volumes[0]", "").replace("FieldValue", ""))).toEqual(
      faults,
    );
  });
}

describe("volumes", () => {
  check([
    ["name", { name: "A", emptyDir: {} }, [".name: Invalid"]],
    ["no name", { name: "", emptyDir: {} }, [".name: Required"]],
    [
      "two sources",
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

describe("volumes of files", () => {
  check([
    ["directory", { emptyDir: { medium: "Memory", sizeLimit: "1Gi" } }, []],
    ["negative size", { emptyDir: { sizeLimit: "-1" } }, [".emptyDir.sizeLimit: Forbidden"]],
    ["path of the node", { hostPath: { path: "/a", type: "Directory" } }, []],
    ["no path of the node", { hostPath: {} }, [".hostPath.path: Required"]],
    ["path of the node with steps back", { hostPath: { path: "/a/../b" } }, [".hostPath.path: Invalid"]],
    ["what is there", { hostPath: { path: "/a", type: "Pipe" } }, [".hostPath.type: NotSupported"]],
    ["repository", { gitRepo: { repository: "r", directory: "a/b" } }, []],
    ["no repository", { gitRepo: {} }, [".gitRepo.repository: Required"]],
    [
      "repository outside",
      { gitRepo: { repository: "r", directory: "/a" } },
      [".gitRepo.directory: Invalid"],
    ],
    ["secret", { secret: { secretName: "s", items: [{ key: "k", path: "p" }] } }, []],
    ["no secret", { secret: {} }, [".secret.secretName: Required"]],
    ["no config map", { configMap: {} }, [".configMap.name: Required"]],
    ["mode", { configMap: { name: "c", defaultMode: 0o1000 } }, [".configMap.defaultMode: Invalid"]],
    [
      "item without key and path",
      { configMap: { name: "c", items: [{}] } },
      [".configMap.items[0].key: Required", ".configMap.items[0].path: Required"],
    ],
    [
      "item outside",
      { secret: { secretName: "s", items: [{ key: "k", path: "../p" }] } },
      [".secret.items[0].path: Invalid"],
    ],
    [
      "item among the writer's names",
      { secret: { secretName: "s", items: [{ key: "k", path: "..data" }] } },
      [".secret.items[0].path: Invalid"],
    ],
    [
      "item's mode",
      { secret: { secretName: "s", items: [{ key: "k", path: "p", mode: -1 }] } },
      [".secret.items[0].mode: Invalid"],
    ],
    ["facts", { downwardAPI: { items: [file] } }, []],
    ["fact of no kind", { downwardAPI: { items: [{ path: "a" }] } }, [".downwardAPI.items[0]: Required"]],
    [
      "fact of the node",
      { downwardAPI: { items: [{ path: "a", fieldRef: { fieldPath: "spec.nodeName" } }] } },
      [".downwardAPI.items[0].fieldRef.fieldPath: NotSupported"],
    ],
    [
      "resource of no container",
      { downwardAPI: { items: [{ path: "a", resourceFieldRef: { resource: "limits.cpu" } }] } },
      [".downwardAPI.items[0].resourceFieldRef.containerName: Required"],
    ],
    [
      "two facts",
      {
        downwardAPI: {
          items: [{ ...file, resourceFieldRef: { containerName: "a", resource: "limits.cpu" } }],
        },
      },
      [".downwardAPI.items[0]: Invalid"],
    ],
    ["claim", { persistentVolumeClaim: { claimName: "c" } }, []],
    ["no claim", { persistentVolumeClaim: {} }, [".persistentVolumeClaim.claimName: Required"]],
    ["no template of a claim", { ephemeral: {} }, [".ephemeral.volumeClaimTemplate: Required"]],
    [
      "named template of a claim",
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

describe("volumes of several sources", () => {
  const token = { serviceAccountToken: { path: "token" } };
  check([
    [
      "all well",
      { projected: { sources: [{ secret: { name: "s" } }, { downwardAPI: { items: [file] } }] } },
      [],
    ],
    [
      "token without account",
      { projected: { sources: [token] } },
      [".projected.sources[0].serviceAccountToken: Forbidden"],
    ],
    [
      "two kinds at once",
      { projected: { sources: [{ secret: { name: "s" }, configMap: { name: "c" } }] } },
      [".projected.sources[0].configMap: Forbidden"],
    ],
    [
      "no names",
      { projected: { sources: [{ secret: {} }, { configMap: {} }] } },
      [".projected.sources[0].secret.name: Required", ".projected.sources[1].configMap.name: Required"],
    ],
    [
      "file twice",
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
      "mode",
      { projected: { sources: [{ secret: { name: "s" } }], defaultMode: 9999 } },
      [".projected.defaultMode: Invalid"],
    ],
  ]);

  it.each([
    [599, ["FieldValueInvalid"]],
    [600, []],
    [2 ** 32, []],
    [2 ** 32 + 1, ["FieldValueInvalid"]],
  ])("token of %i seconds", (expirationSeconds, reasons) => {
    const sources = [{ serviceAccountToken: { path: "t", expirationSeconds } }];
    const pod = podWith({ serviceAccountName: "a", volumes: [{ name: "v", projected: { sources } }] });
    const place = "spec.volumes[0].projected.sources[0].serviceAccountToken.expirationSeconds";
    expect(judgeNew(Pod, pod).faults).toEqual(reasons.map((reason) => `${place}: ${reason}`));
  });
});

describe("volumes of disks and servers", () => {
  const disk = { diskName: "d", diskURI: "https://a.blob.core.windows.net/b/c.vhd" };
  const iscsi = { targetPortal: "192.0.2.1:3260", iqn: "iqn.2001-04.com.example:storage", lun: 0 };
  check([
    ["GCE", { gcePersistentDisk: { pdName: "p" } }, []],
    [
      "GCE without name, with a great partition",
      { gcePersistentDisk: { partition: 256 } },
      [".gcePersistentDisk.pdName: Required", ".gcePersistentDisk.partition: Invalid"],
    ],
    [
      "AWS",
      { awsElasticBlockStore: { partition: -1 } },
      [".awsElasticBlockStore.volumeID: Required", ".awsElasticBlockStore.partition: Invalid"],
    ],
    ["Azure", { azureDisk: disk }, []],
    [
      "Azure without both names",
      { azureDisk: {} },
      [".azureDisk.diskName: Required", ".azureDisk.diskURI: Required"],
    ],
    [
      "Azure's address of a managed disk",
      { azureDisk: { ...disk, kind: "Managed" } },
      [".azureDisk.diskURI: NotSupported"],
    ],
    [
      "Azure's caching",
      { azureDisk: { ...disk, cachingMode: "Some" } },
      [".azureDisk.cachingMode: NotSupported"],
    ],
    ["Azure share", { azureFile: {} }, [".azureFile.secretName: Required", ".azureFile.shareName: Required"]],
    ["vSphere", { vsphereVolume: {} }, [".vsphereVolume.volumePath: Required"]],
    ["Photon", { photonPersistentDisk: {} }, [".photonPersistentDisk.pdID: Required"]],
    [
      "Cinder",
      { cinder: { secretRef: {} } },
      [".cinder.volumeID: Required", ".cinder.secretRef.name: Required"],
    ],
    ["NFS", { nfs: { server: "s", path: "/a" } }, []],
    ["NFS without server", { nfs: { path: "a" } }, [".nfs.server: Required", ".nfs.path: Invalid"]],
    ["iSCSI", { iscsi }, []],
    [
      "iSCSI target",
      { iscsi: { ...iscsi, iqn: "x", lun: 256 } },
      [".iscsi.iqn: Invalid", ".iscsi.lun: Invalid"],
    ],
    ["iSCSI login", { iscsi: { ...iscsi, chapAuthSession: true } }, [".iscsi.secretRef: Required"]],
    ["iSCSI initiator", { iscsi: { ...iscsi, initiatorName: "x" } }, [".iscsi.initiatorname: Invalid"]],
    ["Glusterfs", { glusterfs: {} }, [".glusterfs.endpoints: Required", ".glusterfs.path: Required"]],
    ["RBD", { rbd: {} }, [".rbd.monitors: Required", ".rbd.image: Required"]],
    ["CephFS", { cephfs: { monitors: [] } }, [".cephfs.monitors: Required"]],
    ["Fibre Channel", { fc: { targetWWNs: ["a"], lun: 1 } }, []],
    ["Fibre Channel without targets", { fc: {} }, [".fc.targetWWNs: Required"]],
    ["Fibre Channel without unit", { fc: { targetWWNs: ["a"] } }, [".fc.lun: Required"]],
    [
      "Fibre Channel in both ways",
      { fc: { targetWWNs: ["a"], wwids: ["b"], lun: 1 } },
      [".fc.targetWWNs: Invalid"],
    ],
    ["plugin", { flexVolume: { driver: "a/b", options: { "example.com/a": "b" } } }, []],
    [
      "plugin's reserved option",
      { flexVolume: { driver: "a/b", options: { "x.platform.io/a": "b" } } },
      [".flexVolume.options[x.platform.io/a]: Invalid"],
    ],
    ["no plugin", { flexVolume: {} }, [".flexVolume.driver: Required"]],
    ["Flocker", { flocker: { datasetName: "a" } }, []],
    ["no Flocker dataset", { flocker: {} }, [".flocker: Required"]],
    [
      "two Flocker datasets",
      { flocker: { datasetName: "a/b", datasetUUID: "c" } },
      [".flocker: Invalid", ".flocker.datasetName: Invalid"],
    ],
    ["Portworx", { portworxVolume: {} }, [".portworxVolume.volumeID: Required"]],
    ["Quobyte", { quobyte: { registry: "a:1,b:2", volume: "v" } }, []],
    [
      "Quobyte without volume",
      { quobyte: { registry: "a", tenant: "t".repeat(65) } },
      [".quobyte.registry: Invalid", ".quobyte.volume: Required", ".quobyte.tenant: Required"],
    ],
    [
      "ScaleIO",
      { scaleIO: {} },
      [".scaleIO.gateway: Required", ".scaleIO.system: Required", ".scaleIO.volumeName: Required"],
    ],
    ["StorageOS", { storageos: {} }, [".storageos.volumeName: Required"]],
    [
      "StorageOS names",
      { storageos: { volumeName: "A", volumeNamespace: "B" } },
      [".storageos.volumeName: Invalid", ".storageos.volumeNamespace: Invalid"],
    ],
    ["driver", { csi: { driver: "disk.example.com" } }, []],
    ["no driver", { csi: {} }, [".csi.driver: Required"]],
    ["driver's name", { csi: { driver: "a_b" } }, [".csi.driver: Invalid"]],
    [
      "driver's secret",
      { csi: { driver: "a", nodePublishSecretRef: {} } },
      [".csi.nodePublishSecretRef.name: Required"],
    ],
  ]);
});
