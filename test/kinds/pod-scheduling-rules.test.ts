import { describe } from "vitest";
import { containerWith, podWith, type Part } from "./pod-support.ts";
import { check, c } from "./pod-rules-support.ts";

describe("Pod names, network and deadlines", () => {
  check([
    [
      "rejects activeDeadlineSeconds 0",
      podWith({ activeDeadlineSeconds: 0 }),
      ["spec.activeDeadlineSeconds: Invalid"],
    ],
    [
      "rejects an unknown restartPolicy",
      podWith({ restartPolicy: "Sometimes" }),
      ["spec.restartPolicy: NotSupported"],
    ],
    ["rejects a malformed nodeName", podWith({ nodeName: "A_b" }), ["spec.nodeName: Invalid"]],
    [
      "rejects a malformed nodeSelector",
      podWith({ nodeSelector: { "a b": "c" } }),
      ["spec.nodeSelector: Invalid"],
    ],
    [
      "rejects a malformed serviceAccountName",
      podWith({ serviceAccountName: "A" }),
      ["spec.serviceAccountName: Invalid"],
    ],
    ["rejects a hostname with a dot", podWith({ hostname: "a.b" }), ["spec.hostname: Invalid"]],
    ["rejects a subdomain with a dot", podWith({ subdomain: "a.b" }), ["spec.subdomain: Invalid"]],
    [
      "rejects a malformed priorityClassName",
      podWith({ priorityClassName: "A" }),
      ["spec.priorityClassName: Invalid"],
    ],
    [
      "rejects a malformed runtimeClassName",
      podWith({ runtimeClassName: "A" }),
      ["spec.runtimeClassName: Invalid"],
    ],
    [
      "rejects an unknown preemptionPolicy",
      podWith({ preemptionPolicy: "Maybe" }),
      ["spec.preemptionPolicy: NotSupported"],
    ],
    ["rejects an unknown dnsPolicy", podWith({ dnsPolicy: "Mine" }), ["spec.dnsPolicy: NotSupported"]],
    [
      "rejects dnsPolicy None without dnsConfig",
      podWith({ dnsPolicy: "None" }),
      ["spec.dnsConfig: Required"],
    ],
    [
      "rejects dnsPolicy None without nameservers",
      podWith({ dnsPolicy: "None", dnsConfig: {} }),
      ["spec.dnsConfig.nameservers: Required"],
    ],
    [
      "rejects a malformed nameserver",
      podWith({ dnsConfig: { nameservers: ["192.0.2.1", "x"] } }),
      ["spec.dnsConfig.nameservers[1]: Invalid"],
    ],
    [
      "rejects more than 3 nameservers",
      podWith({ dnsConfig: { nameservers: ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"] } }),
      ["spec.dnsConfig.nameservers: Invalid"],
    ],
    [
      "rejects a malformed search domain",
      podWith({ dnsConfig: { searches: ["a.example.", "A"] } }),
      ["spec.dnsConfig.searches[1]: Invalid"],
    ],
    [
      "rejects more than 32 search domains",
      podWith({ dnsConfig: { searches: Array.from({ length: 33 }, () => "a") } }),
      ["spec.dnsConfig.searches: Invalid"],
    ],
    [
      "rejects a DNS option without a name",
      podWith({ dnsConfig: { options: [{ value: "1" }] } }),
      ["spec.dnsConfig.options[0]: Required"],
    ],
    [
      "rejects malformed hostAliases",
      podWith({ hostAliases: [{ ip: "x", hostnames: ["A"] }] }),
      ["spec.hostAliases.ip: Invalid", "spec.hostAliases.hostnames: Invalid"],
    ],
    [
      "rejects a malformed readinessGate",
      podWith({ readinessGates: [{ conditionType: "a b" }] }),
      ["spec.readinessGates[0].conditionType: Invalid"],
    ],
    [
      "rejects the mirror annotation without a nodeName",
      { metadata: { annotations: { "platform.io/config.mirror": "x" } }, ...podWith({}) },
      ["metadata.annotations[platform.io/config.mirror]: Invalid"],
    ],
    [
      "rejects an AppArmor annotation for an unknown container",
      {
        metadata: { annotations: { "container.apparmor.security.beta.platform.io/x": "unconfined" } },
        ...podWith({}),
      },
      ["metadata.annotations[container.apparmor.security.beta.platform.io/x]: Invalid"],
    ],
  ]);
});

describe("Pod affinity, tolerations, topology spread and scheduling gates", () => {
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
      "accepts node affinity expressions",
      node({
        matchExpressions: [
          { key: "a", operator: "In", values: ["b"] },
          { key: "c", operator: "Gt", values: ["1"] },
        ],
      }),
      [],
    ],
    [
      "rejects node affinity without terms",
      podWith({
        affinity: {
          nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
        },
      }),
      [`${n}: Required`],
    ],
    [
      "rejects operator In without values",
      node({ matchExpressions: [{ key: "a", operator: "In" }] }),
      [`${n}[0].matchExpressions[0].values: Required`],
    ],
    [
      "rejects operator Exists with values",
      node({ matchExpressions: [{ key: "a", operator: "Exists", values: ["b"] }] }),
      [`${n}[0].matchExpressions[0].values: Forbidden`],
    ],
    [
      "rejects operator Lt with two values",
      node({ matchExpressions: [{ key: "a", operator: "Lt", values: ["1", "2"] }] }),
      [`${n}[0].matchExpressions[0].values: Required`],
    ],
    [
      "rejects an unknown operator in a node selector",
      node({ matchExpressions: [{ key: "a", operator: "Like" }] }),
      [`${n}[0].matchExpressions[0].operator: Invalid`],
    ],
    [
      "rejects a malformed key in a node selector",
      node({ matchExpressions: [{ key: "a b", operator: "Exists" }] }),
      [`${n}[0].matchExpressions[0].key: Invalid`],
    ],
    [
      "accepts matchFields on metadata.name",
      node({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n"] }] }),
      [],
    ],
    [
      "rejects matchFields on an unsupported field",
      node({ matchFields: [{ key: "metadata.uid", operator: "In", values: ["n"] }] }),
      [`${n}[0].matchFields[0].key: Invalid`],
    ],
    [
      "rejects matchFields with two names",
      node({ matchFields: [{ key: "metadata.name", operator: "In", values: ["n", "m"] }] }),
      [`${n}[0].matchFields[0].values: Required`],
    ],
    [
      "rejects a node affinity weight above 100",
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
      "accepts pod affinity with selector and namespaces",
      near({ topologyKey: "zone", labelSelector: { matchLabels: { a: "b" } }, namespaces: ["x"] }),
      [],
    ],
    [
      "rejects pod affinity without topologyKey",
      near({}),
      [`${a}.topologyKey: Required`, `${a}.topologyKey: Invalid`, `${a}.topologyKey: Invalid`],
    ],
    [
      "rejects pod affinity with a malformed namespace",
      near({ topologyKey: "zone", namespaces: ["A"] }),
      [`${a}.namespace: Invalid`],
    ],
    [
      "rejects pod affinity with a malformed labelSelector",
      near({ topologyKey: "zone", labelSelector: { matchExpressions: [{ key: "a", operator: "In" }] } }),
      [`${a}.labelSelector.matchExpressions[0].values: Required`],
    ],
    [
      "rejects pod anti-affinity without weight",
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
      "accepts two tolerations",
      tolerate({ operator: "Exists" }, { key: "a", value: "b", effect: "NoExecute", tolerationSeconds: 5 }),
      [],
    ],
    ["rejects operator Equal without a key", tolerate({ value: "b" }), [`${t}.operator: Invalid`]],
    [
      "rejects a malformed toleration key",
      tolerate({ key: "a b", operator: "Exists" }),
      [`${t}.key: Invalid`],
    ],
    [
      "rejects operator Exists with a value",
      tolerate({ key: "a", operator: "Exists", value: "b" }),
      [`${t}.operator: Invalid`],
    ],
    [
      "rejects a malformed toleration value",
      tolerate({ key: "a", value: "b c" }),
      [`${t}.operator: Invalid`],
    ],
    [
      "rejects an unknown toleration operator",
      tolerate({ key: "a", operator: "Like" }),
      [`${t}.operator: NotSupported`],
    ],
    [
      "rejects tolerationSeconds without effect NoExecute",
      tolerate({ key: "a", tolerationSeconds: 5 }),
      [`${t}.effect: Invalid`],
    ],
    [
      "rejects an unknown toleration effect",
      tolerate({ key: "a", effect: "Nothing" }),
      [`${t}.effect: NotSupported`],
    ],
    [
      "accepts two topologySpreadConstraints",
      spread(zone, { ...zone, whenUnsatisfiable: "ScheduleAnyway" }),
      [],
    ],
    [
      "rejects duplicate topologySpreadConstraints",
      spread(zone, zone),
      [`${u}.{topologyKey, whenUnsatisfiable}: Duplicate`],
    ],
    ["rejects maxSkew 0", spread({ ...zone, maxSkew: 0 }), [`${u}.maxSkew: Invalid`]],
    ["rejects an empty topologyKey", spread({ ...zone, topologyKey: "" }), [`${u}.topologyKey: Required`]],
    [
      "rejects an unknown whenUnsatisfiable",
      spread({ ...zone, whenUnsatisfiable: "Cry" }),
      [`${u}.whenUnsatisfiable: NotSupported`],
    ],
    [
      "rejects an unknown nodeTaintsPolicy",
      spread({ ...zone, nodeTaintsPolicy: "Maybe" }),
      [`${u}.nodeTaintsPolicy: NotSupported`],
    ],
    ["rejects minDomains 0", spread({ ...zone, minDomains: 0 }), [`${u}.minDomains: Invalid`]],
    [
      "rejects minDomains with ScheduleAnyway",
      spread({ ...zone, whenUnsatisfiable: "ScheduleAnyway", minDomains: 2 }),
      [`${u}.minDomains: Invalid`],
    ],
    [
      "accepts matchLabelKeys",
      spread({ ...zone, matchLabelKeys: ["a"], labelSelector: { matchLabels: { b: "c" } } }),
      [],
    ],
    [
      "rejects matchLabelKeys without labelSelector",
      spread({ ...zone, matchLabelKeys: ["a"] }),
      [`${u}.matchLabelKeys: Forbidden`],
    ],
    [
      "rejects matchLabelKeys that repeat a key of labelSelector",
      spread({ ...zone, matchLabelKeys: ["a"], labelSelector: { matchLabels: { a: "c" } } }),
      [`${u}.matchLabelKeys[0]: Invalid`],
    ],
    [
      "rejects malformed and duplicate schedulingGates",
      podWith({ schedulingGates: [{ name: "a b" }, { name: "c" }, { name: "c" }] }),
      ["spec.schedulingGates[0]: Invalid", "spec.schedulingGates[2]: Duplicate"],
    ],
  ]);
});

describe("Pod resource claims and user namespaces", () => {
  const claims = (resourceClaims: Part[], used: Part[]) =>
    containerWith({ resources: { claims: used } }, { resourceClaims });
  const one = { name: "gpu", source: { resourceClaimName: "x" } };
  check([
    ["accepts a claim that a container uses", claims([one], [{ name: "gpu" }]), []],
    [
      "rejects a claim that a container uses twice",
      claims([one], [{ name: "gpu" }, { name: "gpu" }]),
      [`${c}.resources.claims[1]: Duplicate`],
    ],
    [
      "rejects a use of an undeclared claim",
      claims([one], [{ name: "fpga" }]),
      [`${c}.resources.claims[0]: NotFound`],
    ],
    ["rejects a use of a claim without a name", claims([one], [{}]), [`${c}.resources.claims[0]: Required`]],
    [
      "rejects a claim without a source",
      claims([{ name: "gpu" }], []),
      ["spec.resourceClaims[0].source: Invalid"],
    ],
    ["rejects a duplicate claim name", claims([one, one], []), ["spec.resourceClaims[1].name: Duplicate"]],
    [
      "accepts hostUsers false with an emptyDir",
      podWith({ hostUsers: false, volumes: [{ name: "a", emptyDir: {} }] }),
      [],
    ],
    [
      "rejects hostUsers false with hostNetwork",
      podWith({ hostUsers: false, hostNetwork: true }),
      ["spec.hostNetwork: Forbidden"],
    ],
    [
      "rejects hostUsers false with a hostPath volume",
      podWith({ hostUsers: false, volumes: [{ name: "a", hostPath: { path: "/a" } }] }),
      ["spec.volumes[0]: Forbidden"],
    ],
  ]);
});
