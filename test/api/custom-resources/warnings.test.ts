import { describe, expect, test } from "vitest";
import { ok } from "../support.ts";
import { useServer } from "../../support/use-server.ts";
import { definition, group, served, version } from "./support.ts";

const plural = "warneds";
const kind = "Warned";
const path = (name: string) => `/apis/${group}/${name}/namespaces/default/${plural}`;
const object = (name: string, finalizers: readonly string[]) => ({
  kind,
  metadata: { name, finalizers },
  spec: { size: 1 },
});

describe("the warning of a deprecated version", () => {
  const server = useServer();

  test("names the preferred served version that isn't deprecated, if there is one", async () => {
    const versions = [
      version("v1beta1", { deprecated: true }),
      version("v1", { storage: false }),
      version("v2", { storage: false }),
      version("v3", { storage: false, deprecated: true }),
      version("v4", { storage: false, served: false }),
    ];
    await served(server.admin, definition({ versions }, plural, kind));
    const warningsOf = async (name: string) => (await server.admin.get(path(name))).warnings;
    expect(await warningsOf("v1beta1")).toEqual([
      `${group}/v1beta1 ${kind} is deprecated; use ${group}/v2 ${kind}`,
    ]);
    expect(await warningsOf("v3")).toEqual([`${group}/v3 ${kind} is deprecated`]);
    expect(await warningsOf("v1")).toEqual([]);
  });
});

describe.each([
  ["1.28", "none", "none"],
  ["1.31", " name", " name"],
  ["1.37", " name", " name including a path (/)"],
] as const)("a finalizer of a custom object without a path, in release %s", (release, plain, domain) => {
  const server = useServer({ release });

  test(`is warned of when it is added: ${plain}, ${domain}`, async () => {
    await served(server.admin, definition({ versions: [version("v1")] }, plural, kind));
    const warning = (name: string, text: string) =>
      text === "none"
        ? []
        : [
            `metadata.finalizers: "${name}": prefer a domain-qualified finalizer${text} to avoid accidental conflicts with other finalizer writers`,
          ];
    const collection = path("v1");
    const names = ["a.example.com", "example.com/b", "orphan", "plain"];
    const created = await server.admin.post(collection, object("x", names));
    expect(created.status).toBe(201);
    expect(created.warnings).toEqual([...warning("a.example.com", domain), ...warning("plain", plain)]);
    const changed = await server.admin.put(`${collection}/x`, {
      ...created.body,
      metadata: { ...created.body.metadata, finalizers: [...names, "new"] },
    });
    expect(changed.warnings).toEqual(warning("new", plain));
    await ok(server.admin.patch(`${collection}/x`, { metadata: { finalizers: null } }));
  });
});
