import { platform } from "../../src/vocabulary/platform.ts";
import type { Kind } from "../../src/schema/kind.ts";

/** A part of an object, as a client writes it. */
export type Part = Readonly<Record<string, unknown>>;

/** The smallest container. */
export const container = { name: "main", image: "example/app:1.0" };

/** The smallest pod, with more in its spec. */
export function podWith(spec: Part): Part {
  return { spec: { containers: [container], ...spec } };
}

/** The smallest pod, with more in its only container. */
export function containerWith(part: Part, spec: Part = {}): Part {
  return podWith({ containers: [{ ...container, ...part }], ...spec });
}

/** The smallest pod, with one volume. */
export function volumeWith(source: Part): Part {
  return podWith({ volumes: [{ name: "data", ...source }] });
}

/** The smallest template. */
export const template = { metadata: { labels: { app: "web" } }, spec: { containers: [container] } };

/** What the server makes of the smallest container. */
export const filledContainer = {
  name: "main",
  image: "example/app:1.0",
  resources: {},
  terminationMessagePath: "/dev/termination-log",
  terminationMessagePolicy: "File",
  imagePullPolicy: "IfNotPresent",
};

/** What the server makes of the smallest spec in a template. */
export const filledSpec = {
  containers: [filledContainer],
  restartPolicy: "Always",
  terminationGracePeriodSeconds: 30,
  dnsPolicy: "ClusterFirst",
  securityContext: {},
  schedulerName: "default-scheduler",
};

/** What the server makes of the smallest template. */
export const filledTemplate = {
  metadata: { creationTimestamp: null, labels: { app: "web" } },
  spec: filledSpec,
};

/** A cell of an object's row. */
export function cellOf(kind: Kind, object: object, column: string, now = 0): unknown {
  const found = kind.columns?.find(({ name }) => name === column);
  if (found === undefined) throw new Error(`${kind.name} has no column ${column}`);
  return found.cell(object as never, now, platform);
}
