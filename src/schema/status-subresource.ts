import { deepClone, type JsonValue } from "../base/json/value.ts";
import type { ApiObject } from "./api-object.ts";
import type { KindMembers, PartSubresource, StatusSpec } from "./kind.ts";

/** Adds the `status` subresource and its strategy functions to the members of a kind. */
export function withStatus<
  M extends Pick<KindMembers<ApiObject>, "prepareCreate" | "prepareUpdate" | "subresources">,
>(members: M, status: StatusSpec): M {
  const { initial, keepsMetadata, unowned, write } = status;
  const { prepareCreate, prepareUpdate, subresources } = members;
  const part: PartSubresource = {
    verbs: ["get", "patch", "update"],
    ...(keepsMetadata && { keepsMetadata }),
    ...(unowned && { unowned }),
    merge(copy, written, context) {
      copy["status"] = write === undefined ? written["status"] : write(written, copy, context);
    },
  };
  return {
    ...members,
    prepareCreate(copy, context) {
      if (initial !== undefined) copy["status"] = initial(copy, context);
      prepareCreate?.(copy, context);
    },
    prepareUpdate(copy, live, context) {
      // A copy, because admission gets both objects and may modify the new one.
      copy["status"] = deepClone(live["status"] as JsonValue);
      prepareUpdate?.(copy, live, context);
    },
    subresources: { ...subresources, status: part },
  };
}
