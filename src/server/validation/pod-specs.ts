import type { JsonObject } from "../../base/json/value.ts";
import { objectAt, textOf } from "./documents.ts";

/** The spec of a pod or pod template in an object. */
export interface PodPart {
  readonly spec: JsonObject;
  /** Path of the spec in the object. */
  readonly path: string;
  /** Labels of the pod. */
  readonly labels: JsonObject;
}

const templates: Readonly<Record<string, readonly string[]>> = {
  Pod: [],
  PodTemplate: ["template"],
  ReplicationController: ["spec", "template"],
  Deployment: ["spec", "template"],
  ReplicaSet: ["spec", "template"],
  StatefulSet: ["spec", "template"],
  DaemonSet: ["spec", "template"],
  Job: ["spec", "template"],
  CronJob: ["spec", "jobTemplate", "spec", "template"],
};
/** Groups of the kinds with pods, by their bases. */
const groups = new Set(["", "apps", "batch"]);

/** Returns the pod, or pod template, of an object of a built-in kind; undefined if it has none. */
export function podSpecOf(object: JsonObject): PodPart | undefined {
  const apiVersion = textOf(object["apiVersion"]);
  const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
  const kind = textOf(object["kind"]);
  if (!groups.has(group) || !Object.hasOwn(templates, kind)) return undefined;
  const path = templates[kind]!;
  const pod = objectAt(object, ...path);
  const spec = objectAt(pod, "spec");
  if (spec === undefined) return undefined;
  return { spec, path: [...path, "spec"].join("."), labels: objectAt(pod, "metadata", "labels") ?? {} };
}
