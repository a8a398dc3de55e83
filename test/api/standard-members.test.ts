import { describe, expect, test } from "vitest";
import { useServer } from "../support/use-server.ts";

// Strict clients refuse unknown members: the documents have at most those of the reference.
const resource = [
  "name",
  "singularName",
  "namespaced",
  "group",
  "version",
  "kind",
  "verbs",
  "shortNames",
  "categories",
  "storageVersionHash",
];
const versionOfGroup = ["groupVersion", "version"];
const group = ["name", "versions", "preferredVersion", "serverAddressByClientCIDRs", "kind", "apiVersion"];
const status = ["kind", "apiVersion", "metadata", "status", "message", "reason", "details", "code"];
const details = ["name", "group", "kind", "uid", "causes", "retryAfterSeconds"];
const openApiOperation = [
  "description",
  "consumes",
  "produces",
  "schemes",
  "tags",
  "operationId",
  "parameters",
  "responses",
  "deprecated",
  "requestBody",
];

/** Members by the path of their object; `*` stands for every member or item. */
const documents: readonly [url: string, members: Readonly<Record<string, readonly string[]>>][] = [
  [
    "/version",
    {
      "": [
        "major",
        "minor",
        "emulationMajor",
        "emulationMinor",
        "minCompatibilityMajor",
        "minCompatibilityMinor",
        "gitVersion",
        "gitCommit",
        "gitTreeState",
        "buildDate",
        "goVersion",
        "compiler",
        "platform",
      ],
    },
  ],
  ["/", { "": ["paths"] }],
  ["/api", { "": ["kind", "apiVersion", "versions", "serverAddressByClientCIDRs"] }],
  ["/api/v1", { "": ["kind", "apiVersion", "groupVersion", "resources"], "resources.*": resource }],
  [
    "/apis",
    {
      "": ["kind", "apiVersion", "groups"],
      "groups.*": group,
      "groups.*.versions.*": versionOfGroup,
      "groups.*.preferredVersion": versionOfGroup,
    },
  ],
  ["/apis/apps", { "": group, "versions.*": versionOfGroup }],
  ["/apis/apps/v1", { "": ["kind", "apiVersion", "groupVersion", "resources"], "resources.*": resource }],
  ["/api/v1/namespaces/default/pods/absent", { "": status, details }],
  ["/nowhere", { "": status, details }],
  [
    "/openapi/v2",
    {
      "": ["swagger", "info", "paths", "definitions", "parameters", "securityDefinitions", "security"],
      info: ["title", "version"],
    },
  ],
  ["/openapi/v3", { "": ["paths"], "paths.*": ["serverRelativeURL"] }],
  [
    "/openapi/v3/apis/apps/v1",
    {
      "": ["openapi", "info", "paths", "components", "security"],
      info: ["title", "version"],
      components: ["schemas", "securitySchemes"],
      "paths.*.get": [...openApiOperation, "x-kubernetes-action", "x-kubernetes-group-version-kind"],
    },
  ],
];

function objectsAt(document: unknown, path: string): object[] {
  if (path === "") return [document as object];
  let found: unknown[] = [document];
  for (const step of path.split(".")) {
    found = found.flatMap((one) => {
      const members = one as Record<string, unknown>;
      return step === "*" ? Object.values(members) : members[step] === undefined ? [] : [members[step]];
    });
  }
  return found as object[];
}

describe.each(["1.26", "1.37"] as const)("release %s in the kubernetes vocabulary", (release) => {
  const server = useServer({ vocabulary: "kubernetes", release });

  test.each(documents)("%s has no member that the reference lacks", async (url, members) => {
    const { body } = await server.admin.get(url, { accept: "application/json" } as never);
    for (const [path, allowed] of Object.entries(members)) {
      const names = objectsAt(body, path).flatMap((one) => Object.keys(one));
      expect([path, [...new Set(names)].filter((name) => !allowed.includes(name))]).toEqual([path, []]);
      if (path === "") expect(names.length).toBeGreaterThan(0);
    }
  });

  test("/openapi/extensions has what only this server has", async () => {
    expect((await server.admin.get("/openapi/extensions")).body).toEqual({
      listViews: ["mine"],
      watchViews: ["mine"],
      listParameters: ["search", "sort"],
      subscriptions: ["application/json", "text/event-stream"],
    });
  });
});
