import { field, type StructType } from "../../schema/types.ts";

/**
 * Returns the fields of a metric besides its type, one for each type. Spec and status have the same fields, with their
 * own structs, both in v2 and in the annotations of v1.
 */
export function metricMembers<
  O extends StructType,
  P extends StructType,
  R extends StructType,
  E extends StructType,
  C extends StructType,
>(structs: {
  readonly object: O;
  readonly pods: P;
  readonly resource: R;
  readonly external: E;
  readonly containerResource: C;
}) {
  return {
    object: field(2, structs.object, "A metric of one object.").nullable(),
    pods: field(3, structs.pods, "Average of a metric over the pods.").nullable(),
    resource: field(4, structs.resource, "Resource usage of the pods.").nullable(),
    external: field(5, structs.external, "A metric from outside the cluster.").nullable(),
    containerResource: field(
      7,
      structs.containerResource,
      "Resource usage of one container of the pods.",
    ).nullable(),
  };
}
