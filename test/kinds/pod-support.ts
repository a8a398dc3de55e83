import { platform } from "../../src/vocabulary/platform.ts";
import type { Kind } from "../../src/schema/kind.ts";

/** A part of an object in JSON. */
export type Part = Readonly<Record<string, unknown>>;

/** A minimal container. */
export const container = { name: "main", image: "example/app:1.0" };

/** Returns a minimal Pod with the fields of `spec`. */
export function podWith(spec: Part): Part {
  return { spec: { containers: [container], ...spec } };
}

/** Returns a minimal Pod with the fields of `part` in its only container. */
export function containerWith(part: Part, spec: Part = {}): Part {
  return podWith({ containers: [{ ...container, ...part }], ...spec });
}

/** Returns a minimal Pod with one volume. */
export function volumeWith(source: Part): Part {
  return podWith({ volumes: [{ name: "data", ...source }] });
}

/** A minimal pod template. */
export const template = { metadata: { labels: { app: "web" } }, spec: { containers: [container] } };

/** The minimal container with default values. */
export const filledContainer = {
  name: "main",
  image: "example/app:1.0",
  resources: {},
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
  imagePullPolicy: "IfNotPresent",
};

/** The minimal pod spec of a template with default values. */
export const filledSpec = {
  containers: [filledContainer],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  securityContext: {},
  schedulerName: "default-scheduler",
};

/** The minimal pod template with default values. */
export const filledTemplate = {
  metadata: { creationTimestamp: null, labels: { app: "web" } },
  spec: filledSpec,
};

/** Returns one table cell of an object. */
export function cellOf(kind: Kind, object: object, column: string, now = 0): unknown {
  const found = kind.columns?.find(({ name }) => name === column);
  if (found === undefined) throw new Error(`${kind.name} has no column ${column}`);
  return found.cell(object as never, now, platform);
}
