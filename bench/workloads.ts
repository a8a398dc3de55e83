/** Pods and deployments as programs make them: each about 3 KB of stored JSON. */
import type { NewObject } from "../src/index.ts";
import type { Subject } from "./subject.ts";

export function podsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/pods`;
}

export function deploymentsPath(namespace: string): string {
  return `/apis/apps/v1/namespaces/${namespace}/deployments`;
}

/** Creates the service account of the pods, without which they are refused. */
export async function makePodsAccount({ api, namespace }: Pick<Subject, "api" | "namespace">): Promise<void> {
  await api.ask("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "shop" },
  });
}

/** A pod with two containers, on a node. */
export function pod(namespace: string, name: string): NewObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace, labels: { app: "shop", tier: "front" }, annotations: { checksum: hash } },
    spec: { ...podSpec, nodeName: "node-17" },
  };
}

/** A deployment of such pods. */
export function deployment(namespace: string, name: string): NewObject {
  const labels = { app: "shop", tier: "front" };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace, labels, annotations: { checksum: hash } },
    spec: {
      replicas: 3,
      selector: { matchLabels: labels },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: "25%", maxUnavailable: 1 } },
      template: { metadata: { labels, annotations: { checksum: hash } }, spec: podSpec },
    },
  };
}

const hash = "4c1bc59e0d1ab7a1d1c2b7e6e0f3a4958d7c6b5a";

function probe(path: string): object {
  return { httpGet: { path, port: "http", scheme: "HTTP" }, initialDelaySeconds: 5, periodSeconds: 10 };
}

const podSpec = {
  serviceAccountName: "shop",
  // No node lets them go: a namespace with such pods can be removed all the same.
  terminationGracePeriodSeconds: 0,
  securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
  nodeSelector: { "disk-type": "fast" },
  containers: [
    {
      name: "app",
      image: "registry.example.com/shop/front:1.42.0",
      args: ["--listen=:8080", "--log-level=info", "--config=/etc/shop/config.yaml"],
      ports: [
        { name: "http", containerPort: 8080, protocol: "TCP" },
        { name: "metrics", containerPort: 9090, protocol: "TCP" },
      ],
      env: [
        { name: "SHOP_REGION", value: "eu-central" },
        { name: "SHOP_DATABASE", valueFrom: { secretKeyRef: { name: "database", key: "url" } } },
        { name: "POD_NAME", valueFrom: { fieldRef: { apiVersion: "v1", fieldPath: "metadata.name" } } },
      ],
      resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { cpu: "500m", memory: "256Mi" } },
      livenessProbe: probe("/healthz"),
      readinessProbe: probe("/readyz"),
      volumeMounts: [
        { name: "config", mountPath: "/etc/shop", readOnly: true },
        { name: "cache", mountPath: "/var/cache/shop" },
      ],
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } },
    },
    {
      name: "proxy",
      image: "registry.example.com/mesh/proxy:2.7.1",
      ports: [{ name: "mesh", containerPort: 15001, protocol: "TCP" }],
      resources: { requests: { cpu: "50m", memory: "64Mi" } },
      readinessProbe: probe("/mesh/ready"),
      volumeMounts: [{ name: "config", mountPath: "/etc/mesh", readOnly: true }],
    },
  ],
  volumes: [
    { name: "config", configMap: { name: "shop-config", defaultMode: 420 } },
    { name: "cache", emptyDir: { sizeLimit: "1Gi" } },
  ],
  tolerations: [{ key: "dedicated", operator: "Equal", value: "shop", effect: "NoSchedule" }],
};
