import type { ApiObject, ViewSubresource } from "../../../schema/kind.ts";
import { Scale } from "../../autoscaling/scale.ts";

/** What has a number of replicas. */
interface Scalable extends ApiObject {
  spec?: { replicas?: number | undefined } | undefined;
  status?: { replicas?: number | undefined } | undefined;
}

/**
 * The subresource `scale` of a workload.
 *
 * @param selectorOf the text of the selector of its pods.
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
      const wanted = (view as Scalable).spec?.replicas ?? 0;
      if (copy.spec !== undefined) copy.spec.replicas = wanted;
    },
  };
}
