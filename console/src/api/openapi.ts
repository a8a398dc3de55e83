import { pathOf, type ResourceType } from "../model/resource-types.ts";
import { kindSchema, type KindSchema } from "../model/schema.ts";
import { getJson } from "./client.ts";

/** Reads the schema of a kind from the OpenAPI document of its group version; undefined if it has none. @throws as `send` */
export async function readSchema(type: ResourceType): Promise<KindSchema | undefined> {
  const groupVersion = pathOf({ ...type, name: "" }, "").replace(/\/$/, "");
  return kindSchema(await getJson<unknown>(`/openapi/v3${groupVersion}`), type);
}
