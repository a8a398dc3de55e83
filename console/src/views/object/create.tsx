import type { ResourceType } from "../../model/resource-types.ts";
export function CreateView({ type }: { readonly type: ResourceType; readonly place: object }) {
  return <p>{type.name}</p>;
}
