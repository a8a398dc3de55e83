import type { ApiObject, ViewSubresource } from "../../../schema/kind.ts";
import { Scale } from "../../autoscaling/scale.ts";

/** An object with a number of replicas. */
interface Scalable extends ApiObject {
  spec?: { replicas?: number | undefined } | undefined;
  status?: { replicas?: number | undefined } | undefined;
}

/**
 * Returns the subresource `scale` of a workload.
 *
 * @param selectorOf returns the selector of its pods as text.
 */
export function scaleOf<O extends Scalable>(selectorOf: (object: O) => string): ViewSubresource<O> {
  return {
    shape: "view",
    verbs: ["get", "patch", "update"],
    kind: () => Scale,
    fields: [{ view: ["spec", "replicas"], object: ["spec", "replicas"] }],
    read(object) {
      const replicas = object.spec?.replicas ?? 0;
      const selector = selectorOf(object);
      return {
        spec: replicas === 0 ? {} : { replicas },
        status: { replicas: object.status?.replicas ?? 0, ...(selector === "" ? {} : { selector }) },
      };
    },
    write(copy, view) {
      const replicas = (view as Scalable).spec?.replicas ?? 0;
      if (copy.spec !== undefined) copy.spec.replicas = replicas;
    },
  };
}
