import type { Answer, Api } from "../support/api.ts";
import { ok } from "../support/answers.ts";

/** The path of the ConfigMaps in the namespace `default`. */
export const maps = "/api/v1/namespaces/default/configmaps";
export const secrets = "/api/v1/namespaces/default/secrets";
/** A rule that keeps the history of everything. */
export const keepsAll = { keptHistory: ["*=30d"] };

/** Creates a ConfigMap, changes it twice, and returns its resource versions. */
export async function threeVersions(api: Api, name: string): Promise<string[]> {
  const written = [
    await ok(api.post(`${maps}?fieldManager=maker`, { metadata: { name }, data: { step: "1" } })),
    await ok(api.patch(`${maps}/${name}`, { data: { step: "2" } })),
    await ok(
      api.ask("PATCH", `${maps}/${name}?fieldManager=applier&force=true`, {
        contentType: "application/apply-patch+yaml",
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { step: "3" } },
      }),
    ),
  ];
  return written.map(({ body }) => body.metadata.resourceVersion as string);
}

/** Names of the objects in a list. */
export const namesIn = ({ body }: Answer): string[] =>
  body.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name);
