/** An object with fields that came after the reference release. */
export interface KeptCase {
  readonly name: string;
  readonly collection: string;
  /** Returns one of several objects. */
  readonly object: (index: number) => { readonly metadata: { readonly name: string } };
  /** Written to the status subresource. */
  readonly status?: object;
  /** A part of the object as release 1.37 shows it, with the later fields. */
  readonly expected: object;
  /** Names of members that a release doesn't show, by release. */
  readonly hidden: Readonly<Record<string, readonly string[]>>;
  /** The release that serves the resource, if that isn't 1.26. */
  readonly since?: string;
}

const core = "/api/v1/namespaces/default";
const container = { name: "c", image: "i" };

/** Returns objects with numbered names. */
const numbered = (object: object) => (index: number) => ({ ...object, metadata: { name: `o${index}` } });

const podSpec = {
  restartPolicy: "Never",
  containers: [
    {
      ...container,
      resizePolicy: [{ resourceName: "cpu", restartPolicy: "NotRequired" }],
      lifecycle: { postStart: { exec: { command: ["a"] } }, preStop: { sleep: { seconds: 3 } } },
      volumeMounts: [{ name: "v", mountPath: "/v", readOnly: true, recursiveReadOnly: "Enabled" }],
    },
  ],
  initContainers: [{ name: "s", image: "i", restartPolicy: "Always" }],
  resources: { requests: { cpu: "1" } },
  securityContext: {
    appArmorProfile: { type: "RuntimeDefault" },
    supplementalGroupsPolicy: "Strict",
    seLinuxChangePolicy: "Recursive",
  },
  volumes: [{ name: "v", projected: { sources: [{ secret: { name: "x" } }] } }],
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } }, matchLabelKeys: ["c"] },
      ],
    },
  },
};
const podNames = [
  "resizePolicy",
  "sleep",
  "recursiveReadOnly",
  "appArmorProfile",
  "supplementalGroupsPolicy",
  "seLinuxChangePolicy",
];
const shownSpec = {
  containers: [
    {
      resizePolicy: [{ resourceName: "cpu" }],
      lifecycle: { preStop: { sleep: { seconds: 3 } } },
    },
  ],
  initContainers: [{ restartPolicy: "Always" }],
  securityContext: { appArmorProfile: { type: "RuntimeDefault" }, supplementalGroupsPolicy: "Strict" },
};

const labels = { a: "b" };
const selector = { matchLabels: labels };
const template = { metadata: { labels }, spec: { ...podSpec, restartPolicy: "Always" } };
const batchTemplate = { spec: podSpec };
const condition = [{ name: "c", expression: "true" }];
const webhook = {
  name: "w.example.com",
  clientConfig: { url: "https://example.com/w" },
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  matchConditions: condition,
};

function workload(kind: string, resource: string, spec: object, apiVersion = "apps/v1"): KeptCase {
  return {
    name: kind,
    collection: `/apis/${apiVersion}/namespaces/default/${resource}`,
    object: numbered({ apiVersion, kind, spec }),
    expected: { spec: "template" in spec ? { template: { spec: shownSpec } } : {} },
    hidden: { "1.26": podNames },
  };
}

/** Objects of each kind that has later fields. */
export const keptCases: readonly KeptCase[] = [
  {
    name: "Pod",
    collection: `${core}/pods`,
    object: numbered({ apiVersion: "v1", kind: "Pod", spec: podSpec }),
    status: {
      hostIP: "10.0.0.1",
      hostIPs: [{ ip: "10.0.0.1" }],
      observedGeneration: 1,
      containerStatuses: [
        {
          name: "c",
          ready: true,
          restartCount: 0,
          image: "i",
          imageID: "",
          allocatedResources: { cpu: "1" },
        },
      ],
    },
    expected: { spec: shownSpec, status: { hostIPs: [{ ip: "10.0.0.1" }], observedGeneration: 1 } },
    hidden: { "1.26": [...podNames, "hostIPs", "allocatedResources"] },
  },
  {
    name: "PodTemplate",
    collection: `${core}/podtemplates`,
    object: numbered({ apiVersion: "v1", kind: "PodTemplate", template }),
    expected: { template: { spec: shownSpec } },
    hidden: { "1.26": podNames },
  },
  {
    name: "Service",
    collection: `${core}/services`,
    object: numbered({
      apiVersion: "v1",
      kind: "Service",
      spec: { type: "LoadBalancer", ports: [{ port: 80 }], trafficDistribution: "PreferClose" },
    }),
    status: { loadBalancer: { ingress: [{ ip: "1.2.3.4", ipMode: "VIP" }] } },
    expected: {
      spec: { trafficDistribution: "PreferClose" },
      status: { loadBalancer: { ingress: [{ ip: "1.2.3.4", ipMode: "VIP" }] } },
    },
    hidden: { "1.26": ["trafficDistribution", "ipMode"] },
  },
  {
    name: "PersistentVolumeClaim",
    collection: `${core}/persistentvolumeclaims`,
    object: numbered({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      spec: {
        accessModes: ["ReadWriteOnce"],
        resources: { requests: { storage: "1Gi" } },
        volumeAttributesClassName: "fast",
      },
    }),
    status: { phase: "Pending", currentVolumeAttributesClassName: "slow" },
    expected: {
      spec: { volumeAttributesClassName: "fast" },
      status: { currentVolumeAttributesClassName: "slow" },
    },
    hidden: { "1.26": ["volumeAttributesClassName", "currentVolumeAttributesClassName"] },
  },
  {
    name: "PersistentVolume",
    collection: "/api/v1/persistentvolumes",
    object: numbered({
      apiVersion: "v1",
      kind: "PersistentVolume",
      spec: {
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "1Gi" },
        csi: { driver: "d.example.com", volumeHandle: "h" },
        volumeAttributesClassName: "fast",
      },
    }),
    expected: { spec: { volumeAttributesClassName: "fast" } },
    hidden: { "1.26": ["volumeAttributesClassName", "lastPhaseTransitionTime"] },
  },
  workload("Deployment", "deployments", { selector, template }),
  workload("ReplicaSet", "replicasets", { selector, template }),
  workload("DaemonSet", "daemonsets", { selector, template }),
  workload("StatefulSet", "statefulsets", { selector, template, serviceName: "s" }),
  {
    ...workload("ReplicationController", "replicationcontrollers", { selector: labels, template }, "v1"),
    collection: `${core}/replicationcontrollers`,
  },
  {
    ...workload(
      "Job",
      "jobs",
      {
        // The reference release refuses updates of Jobs with a selector that a later one generated.
        manualSelector: true,
        selector,
        template: { metadata: { labels }, ...batchTemplate },
        completions: 3,
        completionMode: "Indexed",
        backoffLimitPerIndex: 1,
        maxFailedIndexes: 2,
        successPolicy: { rules: [{ succeededIndexes: "0-1" }] },
        managedBy: "example.com/m",
        podReplacementPolicy: "Failed",
      },
      "batch/v1",
    ),
    expected: {
      spec: {
        backoffLimitPerIndex: 1,
        successPolicy: { rules: [{ succeededIndexes: "0-1" }] },
        managedBy: "example.com/m",
        template: { spec: shownSpec },
      },
    },
    hidden: {
      "1.26": [...podNames, "successPolicy", "managedBy", "podReplacementPolicy", "maxFailedIndexes"],
    },
  },
  {
    ...workload("CronJob", "cronjobs", {}, "batch/v1"),
    object: numbered({
      apiVersion: "batch/v1",
      kind: "CronJob",
      spec: {
        schedule: "* * * * *",
        jobTemplate: { spec: { template: batchTemplate, podReplacementPolicy: "Failed" } },
      },
    }),
    expected: {
      spec: { jobTemplate: { spec: { template: { spec: shownSpec }, podReplacementPolicy: "Failed" } } },
    },
    hidden: { "1.26": [...podNames, "podReplacementPolicy"] },
  },
  ...(["Mutating", "Validating"] as const).map((what): KeptCase => {
    const apiVersion = "admissionregistration.k8s.io/v1";
    const kind = `${what}WebhookConfiguration`;
    return {
      name: kind,
      collection: `/apis/${apiVersion}/${kind.toLowerCase()}s`,
      object: numbered({ apiVersion, kind, webhooks: [webhook] }),
      expected: { webhooks: [{ matchConditions: condition }] },
      hidden: { "1.26": ["matchConditions"] },
    };
  }),
  {
    name: "CustomResourceDefinition",
    collection: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    object: (index) => ({
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: `things.e${index}.example.com` },
      spec: {
        group: `e${index}.example.com`,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [
          {
            name: "v1",
            served: true,
            storage: true,
            selectableFields: [{ jsonPath: ".spec.color" }],
            schema: {
              openAPIV3Schema: {
                type: "object",
                properties: {
                  spec: {
                    type: "object",
                    properties: { color: { type: "string" } },
                    "x-kubernetes-validations": [
                      {
                        rule: "true",
                        messageExpression: "'m'",
                        reason: "FieldValueForbidden",
                        fieldPath: ".color",
                      },
                    ],
                  },
                },
              },
            },
          },
        ],
      },
    }),
    expected: { spec: { versions: [{ selectableFields: [{ jsonPath: ".spec.color" }] }] } },
    hidden: { "1.26": ["selectableFields", "messageExpression", "fieldPath"] },
  },
  {
    name: "HorizontalPodAutoscaler",
    collection: "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers",
    object: numbered({
      apiVersion: "autoscaling/v2",
      kind: "HorizontalPodAutoscaler",
      spec: {
        maxReplicas: 3,
        scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" },
        behavior: { scaleUp: { tolerance: "500m" } },
      },
    }),
    expected: { spec: { behavior: { scaleUp: { tolerance: "500m" } } } },
    hidden: { "1.26": ["tolerance"] },
  },
  {
    name: "EndpointSlice",
    collection: "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices",
    object: numbered({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], hints: { forNodes: [{ name: "n" }] } }],
    }),
    expected: { endpoints: [{ hints: { forNodes: [{ name: "n" }] } }] },
    hidden: { "1.26": ["forNodes"] },
  },
  {
    name: "PriorityLevelConfiguration",
    since: "1.29",
    collection: "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    object: numbered({
      apiVersion: "flowcontrol.apiserver.k8s.io/v1",
      kind: "PriorityLevelConfiguration",
      spec: { type: "Limited", limited: { nominalConcurrencyShares: 5, limitResponse: { type: "Reject" } } },
    }),
    expected: { spec: { limited: { nominalConcurrencyShares: 5 } } },
    hidden: {},
  },
  {
    name: "CSIDriver",
    collection: "/apis/storage.k8s.io/v1/csidrivers",
    object: numbered({
      apiVersion: "storage.k8s.io/v1",
      kind: "CSIDriver",
      spec: { nodeAllocatableUpdatePeriodSeconds: 60 },
    }),
    expected: { spec: { nodeAllocatableUpdatePeriodSeconds: 60 } },
    hidden: { "1.26": ["nodeAllocatableUpdatePeriodSeconds"] },
  },
];
