import type { ResourceType } from "../../model/resource-types.ts";
import type { ObjectRoute } from "../../model/routes.ts";
export function ObjectView({ place }: { readonly type: ResourceType; readonly place: ObjectRoute }) {
  return <p>{place.name}</p>;
}
