import { describe, expect, it } from "vitest";
import type { Release } from "../../src/base/releases.ts";
import { ValidatingAdmissionPolicy } from "../../src/kinds/admissionregistration/validating-admission-policy.ts";
import { ValidatingAdmissionPolicyBinding } from "../../src/kinds/admissionregistration/validating-admission-policy-binding.ts";
import { StatefulSet } from "../../src/kinds/apps/stateful-set.ts";
import { HorizontalPodAutoscaler } from "../../src/kinds/autoscaling/horizontal-pod-autoscaler.ts";
import { Node } from "../../src/kinds/core/node/node.ts";
import { PersistentVolume } from "../../src/kinds/core/persistent-volume.ts";
import { Pod } from "../../src/kinds/core/pod/pod.ts";
import { Service } from "../../src/kinds/core/service/service.ts";
import { PriorityLevelConfiguration } from "../../src/kinds/flowcontrol/priority-level-configuration.ts";
import { EndpointSlice } from "../../src/kinds/discovery/endpoint-slice.ts";
import { RuntimeClass } from "../../src/kinds/node/runtime-class.ts";
import { CSIDriver } from "../../src/kinds/storage/csi-driver.ts";
import { CSINode } from "../../src/kinds/storage/csi-node.ts";
import { StorageClass } from "../../src/kinds/storage/storage-class.ts";
import { VolumeAttachment } from "../../src/kinds/storage/volume-attachment.ts";
import { kindInRelease } from "../../src/schema/kind-in-release.ts";
import type { Kind } from "../../src/schema/kind.ts";
import { judgeNew, judgeUpdate, type JudgeOptions } from "./support.ts";

interface Rule {
  readonly kind: Kind;
  readonly before?: object;
  readonly now: object;
  readonly gates?: readonly string[];
  /** The first release with the later faults. */
  readonly since: Release;
  readonly earlier: readonly string[];
  readonly later: readonly string[];
}

const scaled = (apiVersion: string, kind = "Deployment"): object => ({
  spec: { maxReplicas: 3, scaleTargetRef: { apiVersion, kind, name: "web" } },
});
const driver = (nodeID: string, count: number): object => ({
  spec: { drivers: [{ name: "d.example.com", nodeID, topologyKeys: [], allocatable: { count } }] },
});

const pod = (spec: object): object => ({ spec: { containers: [{ name: "c", image: "i" }], ...spec } });
const unmasked = (spec: object): object =>
  pod({ containers: [{ name: "c", image: "i", securityContext: { procMount: "Unmasked" } }], ...spec });
const spread = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };

const template = {
  metadata: { labels: { app: "x" } },
  spec: {
    containers: [{ name: "c", image: "i", terminationMessagePolicy: "File", imagePullPolicy: "Always" }],
  },
};
const set = (spec: object): object => ({
  spec: { selector: { matchLabels: { app: "x" } }, template, ...spec },
});

const rules: readonly (readonly [string, Rule])[] = [
  [
    "an unmasked process file system needs a user namespace",
    {
      kind: Pod,
      now: unmasked({}),
      gates: ["ProcMountType"],
      since: "1.30",
      earlier: [],
      later: ["spec.containers[0].securityContext.procMount: FieldValueInvalid"],
    },
  ],
  [
    "the IPv6 addresses of endpoints are canonical",
    {
      kind: EndpointSlice,
      now: { addressType: "IPv6", endpoints: [{ addresses: ["2001:DB8::1"] }], ports: [] },
      since: "1.33",
      earlier: [],
      later: ["endpoints[0].addresses[0]: FieldValueInvalid"],
    },
  ],
  [
    "an autoscaler needs the group of the object that it scales",
    {
      kind: HorizontalPodAutoscaler,
      now: scaled("v1"),
      since: "1.34",
      earlier: [],
      later: ["spec.scaleTargetRef.apiVersion: FieldValueInvalid"],
    },
  ],
  [
    "an autoscaler without a maximum has a required field that is missing",
    {
      kind: HorizontalPodAutoscaler,
      now: { spec: { scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "web" } } },
      since: "1.36",
      earlier: ["spec.maxReplicas: FieldValueInvalid", "spec.maxReplicas: FieldValueInvalid"],
      later: ["spec.maxReplicas: FieldValueRequired", "spec.maxReplicas: FieldValueInvalid"],
    },
  ],
  [
    "a policy without rules lacks audit annotations too",
    {
      kind: ValidatingAdmissionPolicy,
      now: { spec: { matchConstraints: { resourceRules: [ruleOfPolicy()] } } },
      since: "1.27",
      earlier: ["spec.validations: FieldValueRequired"],
      later: ["spec.validations: FieldValueRequired", "spec.auditAnnotations: FieldValueRequired"],
    },
  ],
  [
    "parameters of a policy binding have a name or a selector",
    {
      kind: kindInRelease(ValidatingAdmissionPolicyBinding, "1.37"),
      now: {
        spec: { policyName: "p", validationActions: ["Deny"], paramRef: { parameterNotFoundAction: "" } },
      },
      since: "1.28",
      earlier: ["spec.paramRef.parameterNotFoundAction: FieldValueRequired"],
      later: [
        "spec.paramRef.parameterNotFoundAction: FieldValueRequired",
        "spec.paramRef: FieldValueRequired",
      ],
    },
  ],
  [
    "the provider of a node is an invalid value when it changes",
    {
      kind: Node,
      before: { spec: { providerID: "a" } },
      now: { spec: { providerID: "b" } },
      since: "1.37",
      earlier: ["spec.providerID: FieldValueForbidden"],
      later: ["spec.providerID: FieldValueInvalid"],
    },
  ],
  [
    "limits of a priority level need its type",
    {
      kind: PriorityLevelConfiguration,
      now: { spec: { limited: { limitResponse: { type: "Reject" } } } },
      since: "1.37",
      earlier: ["spec.type: FieldValueNotSupported"],
      later: ["spec.type: FieldValueRequired", "spec.limited: FieldValueForbidden"],
    },
  ],
  [
    "an empty handler of a runtime class is a missing one",
    {
      kind: RuntimeClass,
      now: { handler: "" },
      since: "1.36",
      earlier: ["handler: FieldValueInvalid"],
      later: ["handler: FieldValueRequired"],
    },
  ],
  [
    "the way in which a driver mounts may change",
    {
      kind: CSIDriver,
      before: { spec: { podInfoOnMount: false } },
      now: { spec: { podInfoOnMount: true } },
      since: "1.30",
      earlier: ["spec.podInfoOnMount: FieldValueInvalid"],
      later: [],
    },
  ],
  [
    "an empty name of a node's driver has no fault of its format",
    {
      kind: CSINode,
      now: { spec: { drivers: [{ name: "", nodeID: "n", topologyKeys: [] }] } },
      since: "1.35",
      earlier: ["spec.drivers[0].name: FieldValueRequired", "spec.drivers[0].name: FieldValueInvalid"],
      later: ["spec.drivers[0].name: FieldValueRequired"],
    },
  ],
  [
    "a driver of a node that changes is a fault of the list",
    {
      kind: CSINode,
      before: driver("n", 1),
      now: driver("m", 1),
      since: "1.33",
      earlier: ["CSINodeDriver: FieldValueInvalid"],
      later: ["spec.drivers: FieldValueInvalid"],
    },
  ],
  [
    "the provisioner of a storage class is an invalid value when it changes",
    {
      kind: StorageClass,
      before: { provisioner: "a" },
      now: { provisioner: "b" },
      since: "1.36",
      earlier: ["provisioner: FieldValueForbidden"],
      later: ["provisioner: FieldValueInvalid"],
    },
  ],
  [
    "an empty attacher has no fault of its format",
    {
      kind: VolumeAttachment,
      now: { spec: { attacher: "", nodeName: "n", source: { persistentVolumeName: "v" } } },
      since: "1.36",
      earlier: [
        "spec.attacher: FieldValueRequired",
        "spec.attacher: FieldValueRequired",
        "spec.attacher: FieldValueInvalid",
      ],
      later: ["spec.attacher: FieldValueRequired"],
    },
  ],
  [
    "lines of the hosts file have an index",
    {
      kind: Pod,
      now: pod({ hostAliases: [{ ip: "1", hostnames: ["a b"] }] }),
      since: "1.30",
      earlier: ["spec.hostAliases.ip: FieldValueInvalid", "spec.hostAliases.hostnames: FieldValueInvalid"],
      later: [
        "spec.hostAliases[0].ip: FieldValueInvalid",
        "spec.hostAliases[0].hostnames[0]: FieldValueInvalid",
      ],
    },
  ],
  [
    "selectors of spread constraints are validated",
    {
      kind: Pod,
      now: pod({
        topologySpreadConstraints: [{ ...spread, labelSelector: { matchLabels: { "a b": "c" } } }],
      }),
      since: "1.27",
      earlier: [],
      later: ["spec.topologySpreadConstraints[0].labelSelector.matchLabels: FieldValueInvalid"],
    },
  ],
  [
    "values of node labels are validated",
    {
      kind: PersistentVolume,
      now: {
        spec: {
          accessModes: ["ReadWriteOnce"],
          capacity: { storage: "1Gi" },
          hostPath: { path: "/a" },
          nodeAffinity: {
            required: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "a", operator: "In", values: ["b c"] }] }],
            },
          },
        },
      },
      since: "1.32",
      earlier: [],
      later: [
        "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[0]: FieldValueInvalid",
      ],
    },
  ],
  [
    "two equal ranges of a node are not reported as duplicates",
    {
      kind: Node,
      now: { spec: { podCIDR: "10.0.0.0/24", podCIDRs: ["10.0.0.0/24", "10.0.0.0/24"] } },
      since: "1.33",
      earlier: ["spec.podCIDRs[1]: FieldValueDuplicate", "spec.podCIDRs: FieldValueInvalid"],
      later: ["spec.podCIDRs: FieldValueInvalid"],
    },
  ],
  [
    "ranges of clients of a service have an index",
    {
      kind: Service,
      now: {
        spec: { type: "LoadBalancer", ports: [{ port: 80 }], loadBalancerSourceRanges: ["10.0.0.0/8", "x"] },
      },
      since: "1.30",
      earlier: ["spec.LoadBalancerSourceRanges: FieldValueInvalid"],
      later: ["spec.LoadBalancerSourceRanges[1]: FieldValueInvalid"],
    },
  ],
  [
    "pods of a stateful set are validated",
    {
      kind: StatefulSet,
      now: set({ template: { ...template, spec: { ...template.spec, containers: [] } } }),
      since: "1.34",
      earlier: [],
      later: ["spec.template.spec.containers: FieldValueRequired"],
    },
  ],
  [
    "claims of a stateful set are validated",
    {
      kind: StatefulSet,
      now: set({
        volumeClaimTemplates: [{ metadata: { name: "data" }, spec: { accessModes: ["ReadWriteOnce"] } }],
      }),
      since: "1.34",
      earlier: [],
      later: ["spec.volumeClaimTemplates[0].spec.resources[storage]: FieldValueRequired"],
    },
  ],
  [
    "the service of a stateful set has a valid name",
    {
      kind: StatefulSet,
      now: set({ serviceName: "Not valid" }),
      since: "1.33",
      earlier: [],
      later: ["spec.serviceName: FieldValueInvalid"],
    },
  ],
  [
    "the number of old revisions of a stateful set may change",
    {
      kind: StatefulSet,
      before: set({ revisionHistoryLimit: 1 }),
      now: set({ revisionHistoryLimit: 2 }),
      since: "1.33",
      earlier: ["spec: FieldValueForbidden"],
      later: [],
    },
  ],
  [
    "each member of a stateful set that can't change is named",
    {
      kind: StatefulSet,
      before: set({ podManagementPolicy: "Parallel", serviceName: "a" }),
      now: set({ serviceName: "b" }),
      since: "1.37",
      earlier: ["spec: FieldValueForbidden"],
      later: ["spec.serviceName: FieldValueInvalid", "spec.podManagementPolicy: FieldValueInvalid"],
    },
  ],
];

function ruleOfPolicy(): object {
  return { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] };
}

/** The release before another one. */
const releaseBefore = (release: Release): Release => `1.${Number(release.slice(2)) - 1}` as Release;

describe("rules of later releases", () => {
  it.each(rules)("%s", (_name, { kind, before, now, gates = [], since, earlier, later }) => {
    const faults = (release: Release): readonly string[] => {
      const options: JudgeOptions = { release, gates };
      return (before === undefined ? judgeNew(kind, now, options) : judgeUpdate(kind, before, now, options))
        .faults;
    };
    expect(faults(releaseBefore(since))).toEqual(earlier);
    expect(faults(since)).toEqual(later);
    expect(faults("1.37")).toEqual(later);
  });

  it("the limits of a node's driver may change when the gate MutableCSINodeAllocatableCount is on", () => {
    const faults = (gates: readonly string[]): readonly string[] =>
      judgeUpdate(CSINode, driver("n", 1), driver("n", 2), { release: "1.34", gates }).faults;
    expect(faults([])).toEqual(["spec.drivers: FieldValueInvalid"]);
    expect(faults(["MutableCSINodeAllocatableCount"])).toEqual([]);
  });

  it("variables have any printable name but `=` when the gate RelaxedEnvironmentVariableValidation is on", () => {
    const faults = (name: string, gates: readonly string[]): readonly string[] =>
      judgeNew(Pod, pod({ containers: [{ name: "c", image: "i", env: [{ name, value: "x" }] }] }), { gates })
        .faults;
    const gates = ["RelaxedEnvironmentVariableValidation"];
    expect(faults("1 of {2}", [])).toEqual(["spec.containers[0].env[0].name: FieldValueInvalid"]);
    expect(faults("1 of {2}", gates)).toEqual([]);
    expect(faults("a=b", gates)).toEqual(["spec.containers[0].env[0].name: FieldValueInvalid"]);
    expect(faults("a\u0007", gates)).toEqual(["spec.containers[0].env[0].name: FieldValueInvalid"]);
  });

  it("a handler may pause for 0 seconds when the gate PodLifecycleSleepActionAllowZero is on", () => {
    const lifecycle = { preStop: { sleep: { seconds: 0 } } };
    const containers = [{ name: "c", image: "i", lifecycle }];
    const pausing = pod({ terminationGracePeriodSeconds: 30, containers });
    const kind = kindInRelease(Pod, "1.33");
    const faults = (...gates: string[]) => judgeNew(kind, pausing, { release: "1.33", gates }).faults;
    expect(faults()).toEqual(["spec.containers[0].lifecycle.preStop.sleep: FieldValueInvalid"]);
    expect(faults("PodLifecycleSleepActionAllowZero")).toEqual([]);
  });

  it("an unmasked process file system is accepted in a user namespace", () => {
    const gates = ["ProcMountType", "UserNamespacesSupport", "UserNamespacesStatelessPodsSupport"];
    expect(judgeNew(Pod, unmasked({ hostUsers: false }), { release: "1.37", gates }).faults).toEqual([]);
  });

  it("an autoscaler keeps an invalid version of the object that it scales", () => {
    const changed = { spec: { ...(scaled("v1") as { spec: object }).spec, minReplicas: 2 } };
    expect(judgeUpdate(HorizontalPodAutoscaler, scaled("v1"), changed, { release: "1.37" }).faults).toEqual(
      [],
    );
  });

  it("an autoscaler scales replication controllers, which have no group", () => {
    const replicas = scaled("v1", "ReplicationController");
    expect(judgeNew(HorizontalPodAutoscaler, replicas, { release: "1.37" }).faults).toEqual([]);
  });
});
