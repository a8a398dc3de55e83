import type { Part } from "./pod-support.ts";

export const scaleTargetRef = { apiVersion: "apps/v1", kind: "Deployment", name: "web" };
export const withSpec = (part: Part): Part => ({ spec: { scaleTargetRef, maxReplicas: 5, ...part } });
export const processors = (percent: number) => ({
  type: "Resource",
  resource: { name: "cpu", target: { type: "Utilization", averageUtilization: percent } },
});
export const average = { type: "AverageValue", averageValue: "10" };
export const plain = { type: "Value", value: "10" };
export const metric = { name: "hits" };
