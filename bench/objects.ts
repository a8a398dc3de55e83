/** The objects of the scenarios: ConfigMaps with about 1 KB of stored JSON. */
import type { NewObject } from "../src/index.ts";
import { objectMark } from "./load/plan.ts";

/** Bytes of a config map's JSON beside its data, as the server gives it back. */
const frameBytes = 260;

export function configMap(namespace: string, name: string, bytes = 1024, mark = ""): NewObject {
  const text = mark + "x".repeat(Math.max(0, bytes - frameBytes - mark.length));
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace, labels: { app: "bench" } },
    data: { text },
  };
}

/** The name of an object by its number; {@link objectMark} in its place names the one that is next. */
export function objectName(index: number | "next"): string {
  return `object-${index === "next" ? objectMark : String(index).padStart(objectMark.length, "0")}`;
}

export function configMapsPath(namespace: string): string {
  return `/api/v1/namespaces/${namespace}/configmaps`;
}
