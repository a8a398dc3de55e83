import { describe } from "vitest";
import { containerWith, podWith, type Part } from "./pod-support.ts";
import { check, c } from "./pod-rules-support.ts";

describe("names, network and time", () => {
  check([
    ["deadline", podWith({ activeDeadlineSeconds: 0 }), ["spec.activeDeadlineSeconds: Invalid"]],
    ["restarts", podWith({ restartPolicy: "Sometimes" }), ["spec.restartPolicy: NotSupported"]],
    ["node", podWith({ nodeName: "A_b" }), ["spec.nodeName: Invalid"]],
    ["node's labels", podWith({ nodeSelector: { "a b": "c" } }), ["spec.nodeSelector: Invalid"]],
    ["account", podWith({ serviceAccountName: "A" }), ["spec.serviceAccountName: Invalid"]],
    ["host name", podWith({ hostname: "a.b" }), ["spec.hostname: Invalid"]],
    ["subdomain", podWith({ subdomain: "a.b" }), ["spec.subdomain: Invalid"]],
    ["priority class", podWith({ priorityClassName: "A" }), ["spec.priorityClassName: Invalid"]],
    ["runtime class", podWith({ runtimeClassName: "A" }), ["spec.runtimeClassName: Invalid"]],
    ["preemption", podWith({ preemptionPolicy: "Maybe" }), ["spec.preemptionPolicy: NotSupported"]],
    ["DNS policy", podWith({ dnsPolicy: "Mine" }), ["spec.dnsPolicy: NotSupported"]],
    ["no DNS policy and no settings", podWith({ dnsPolicy: "None" }), ["spec.dnsConfig: Required"]],
    [
      "no DNS policy and no server",
      podWith({ dnsPolicy: "None", dnsConfig: {} }),
      ["spec.dnsConfig.nameservers: Required"],
    ],
    [
      "DNS servers",
      podWith({ dnsConfig: { nameservers: ["192.0.2.1", "x"] } }),
      ["spec.dnsConfig.nameservers[1]: Invalid"],
    ],
    [
      "too many servers",
      podWith({ dnsConfig: { nameservers: ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"] } }),
      ["spec.dnsConfig.nameservers: Invalid"],
    ],
    [
      "DNS domains",
      podWith({ dnsConfig: { searches: ["a.example.", "A"] } }),
      ["spec.dnsConfig.searches[1]: Invalid"],
    ],
    [
      "too many domains",
      podWith({ dnsConfig: { searches: Array.from({ length: 33 }, () => "a") } }),
      ["spec.dnsConfig.searches: Invalid"],
    ],
    [
      "DNS options",
      podWith({ dnsConfig: { options: [{ value: "1" }] } }),
      ["spec.dnsConfig.options[0]: Required"],
    ],
    [
      "host aliases",
      podWith({ hostAliases: [{ ip: "x", hostnames: ["A"] }] }),
      ["spec.hostAliases.ip: Invalid", "spec.hostAliases.hostnames: Invalid"],
    ],
    [
      "readiness gate",
      podWith({ readinessGates: [{ conditionType: "a b" }] }),
      ["spec.readinessGates[0].conditionType: Invalid"],
    ],
    [
      "mirror of nothing",
      { metadata: { annotations: { "platform.io/config.mirror": "x" } }, ...podWith({}) },
      ["metadata.annotations[platform.io/config.mirror]: Invalid"],
    ],
    [
      "profile of another container",
      {
        metadata: { annotations: { "container.apparmor.security.beta.platform.io/x": "unconfined" } },
        ...podWith({}),
      },
      ["metadata.annotations[container.apparmor.security.beta.platform.io/x]: Invalid"],
    ],
  ]);
});

describe("placing", () => {
  const node = (term: Part) =>
    podWith({
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } },
      },
    });
  const n = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms";
  const near = (term: Part) =>
    podWith({ affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } });
  const a = "spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
  const tolerate = (...tolerations: Part[]) => podWith({ tolerations });
  const t = "spec.tolerations[0]";
  const spread = (...list: Part[]) => podWith({ topologySpreadConstraints: list });
  const zone = { maxSkew: 1, topologyKey: "zone", whenUnsatisfiable: "DoNotSchedule" };
  const u = "spec.topologySpreadConstraints[0]";
  check([
    [
      "expressions",
      node({
        matchExpressions: [
          { key: "a", operator: "In", values: ["b"] },
          { key: "c", operator: "Gt", values: ["1"] },
        ],
      }),
      [],
    ],
    [
      "no terms",
      podWith({
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
        },
      }),
      [`${n}: Required`],
    ],
    [
      "no values",
      node({ matchExpressions: [{ key: "a", operator: "In" }] }),
      [`${n}[0].matchExpressions[0].values: Required`],
    ],
    [
      "values too many",
      node({ matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] }),
      [`${n}[0].matchExpressions[0].values: Forbidden`],
    ],
    [
      "two numbers",
      node({ matchExpressions: [{ key: "a", operator: "Lt", values: ["1", "2"] }] }),
      [`${n}[0].matchExpressions[0].values: Required`],
    ],
    [
      "operator",
      node({ matchExpressions: [{ key: "a", operator: "Like" }] }),
      [`${n}[0].matchExpressions[0].operator: Invalid`],
    ],
    [
      "key",
      node({ matchExpressions: [{ key: "a b", operator: "Exists" }] }),
      [`${n}[0].matchExpressions[0].key: Invalid`],
    ],
    ["field", node({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] }), []],
    [
      "other field",
      node({ matchFields: [{ key: "metadata.uid", operator: "In", values: ["n"] }] }),
      [`${n}[0].matchFields[0].key: Invalid`],
    ],
    [
      "two names",
      node({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n", "m"] }] }),
      [`${n}[0].matchFields[0].values: Required`],
    ],
    [
      "weight",
      podWith({
        affinity: {
          nodeAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 101, preference: {} }],
          },
        },
      }),
      ["spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid"],
    ],
    [
      "near pods",
      near({ topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } }, namespaces: ["x"] }),
      [],
    ],
    [
      "near pods nowhere",
      near({}),
      [`${a}.topologyKey: Required`, `${a}.topologyKey: Invalid`, `${a}.topologyKey: Invalid`],
    ],
    ["namespace of pods", near({ topologyKey: "zone", namespaces: ["A"] }), [`${a}.namespace: Invalid`]],
    [
      "selector of pods",
      near({ topologyKey: "zone", labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
      [`${a}.labelSelector.matchExpressions[0].values: Required`],
    ],
    [
      "weight of pods",
      podWith({
        affinity: {
          podAntiAffinity: {
            preferredDuringSchedulingIgnoredDuringExecution: [{ podAffinityTerm: { topologyKey: "a" } }],
          },
        },
      }),
      ["spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid"],
    ],
    [
      "tolerations",
      tolerate({ operator: "Exists" }, { key: "a", value: "b", effect: "NoExecute", tolerationSeconds: 5 }),
      [],
    ],
    ["no key", tolerate({ value: "b" }), [`${t}.operator: Invalid`]],
    ["taint's key", tolerate({ key: "a b", operator: "Exists" }), [`${t}.key: Invalid`]],
    ["value and Exists", tolerate({ key: "a", operator: "Exists", value: "b" }), [`${t}.operator: Invalid`]],
    ["taint's value", tolerate({ key: "a", value: "b c" }), [`${t}.operator: Invalid`]],
    ["unknown operator", tolerate({ key: "a", operator: "Like" }), [`${t}.operator: NotSupported`]],
    ["seconds without end", tolerate({ key: "a", tolerationSeconds: 5 }), [`${t}.effect: Invalid`]],
    ["effect", tolerate({ key: "a", effect: "Nothing" }), [`${t}.effect: NotSupported`]],
    ["spread", spread(zone, { ...zone, whenUnsatisfiable: "ScheduleAnyway" }), []],
    ["spread twice", spread(zone, zone), [`${u}.{topologyKey, whenUnsatisfiable}: Duplicate`]],
    ["no skew", spread({ ...zone, maxSkew: 0 }), [`${u}.maxSkew: Invalid`]],
    ["no parts", spread({ ...zone, topologyKey: "" }), [`${u}.topologyKey: Required`]],
    ["consequence", spread({ ...zone, whenUnsatisfiable: "Cry" }), [`${u}.whenUnsatisfiable: NotSupported`]],
    ["inclusion", spread({ ...zone, nodeTaintsPolicy: "Maybe" }), [`${u}.nodeTaintsPolicy: NotSupported`]],
    ["least parts", spread({ ...zone, minDomains: 0 }), [`${u}.minDomains: Invalid`]],
    [
      "least parts for a wish",
      spread({ ...zone, whenUnsatisfiable: "ScheduleAnyway", minDomains: 2 }),
      [`${u}.minDomains: Invalid`],
    ],
    [
      "label keys",
      spread({ ...zone, matchLabelKeys: ["a"], labelSelector: { matchLabels: { b: "c" } } }),
      [],
    ],
    [
      "label keys without selector",
      spread({ ...zone, matchLabelKeys: ["a"] }),
      [`${u}.matchLabelKeys: Forbidden`],
    ],
    [
      "label keys of the selector",
      spread({ ...zone, matchLabelKeys: ["a"], labelSelector: { matchLabels: { a: "c" } } }),
      [`${u}.matchLabelKeys[0]: Invalid`],
    ],
    [
      "gates",
      podWith({ schedulingGates: [{ name: "a b" }, { name: "c" }, { name: "c" }] }),
      ["spec.schedulingGates[0]: Invalid", "spec.schedulingGates[2]: Duplicate"],
    ],
  ]);
});

describe("claims and user namespaces", () => {
  const claims = (resourceClaims: Part[], used: Part[]) =>
    containerWith({ resources: { claims: used } }, { resourceClaims });
  const one = { name: "gpu", source: { resourceClaimName: "x" } };
  check([
    ["used", claims([one], [{ name: "gpu" }]), []],
    [
      "used twice",
      claims([one], [{ name: "gpu" }, { name: "gpu" }]),
      [`${c}.resources.claims[1]: Duplicate`],
    ],
    ["unknown", claims([one], [{ name: "fpga" }]), [`${c}.resources.claims[0]: NotFound`]],
    ["unnamed", claims([one], [{}]), [`${c}.resources.claims[0]: Required`]],
    ["no source", claims([{ name: "gpu" }], []), ["spec.resourceClaims[0].source: Invalid"]],
    ["name twice", claims([one, one], []), ["spec.resourceClaims[1].name: Duplicate"]],
    ["own users", podWith({ hostUsers: false, volumes: [{ name: "a", emptyDir: {} }] }), []],
    [
      "own users in the node's network",
      podWith({ hostUsers: false, hostNetwork: true }),
      ["spec.hostNetwork: Forbidden"],
    ],
    [
      "own users and lasting volumes",
      podWith({ hostUsers: false, volumes: [{ name: "a", hostPath: { path: "/a" } }] }),
      ["spec.volumes[0]: Forbidden"],
    ],
  ]);
});
