import path from "node:path";
import { expect, test } from "vitest";
import { read, sources } from "./source-files.ts";

/** Returns the modules that a file loads before it runs, with those that they load. */
function loadedBy(entry: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const pending = [entry];
  for (let file = pending.pop(); file !== undefined; file = pending.pop()) {
    if (loaded.has(file)) continue;
    loaded.add(file);
    const statements = read(file).matchAll(
      /^(?:import|export) (?!type )(?:[^;]*? from )?"(?<module>\.[^"]+\.ts)";/gm,
    );
    for (const { groups } of statements) {
      pending.push(path.posix.join(path.posix.dirname(file), groups!["module"]!));
    }
  }
  return loaded;
}

test("a server loads the kinds of later releases only when it follows one", () => {
  const loaded = loadedBy("src/server/server.ts");
  expect(loaded).toContain("src/kinds/all.ts");
  expect(loaded).not.toContain("src/kinds/added-kinds.ts");
  const reference = loadedBy("src/kinds/all.ts");
  const later = [...read("src/kinds/added-kinds.ts").matchAll(/ from "\.(\/[^"]+)"/g)]
    .map(([, module]) => `src/kinds${module}`)
    .filter((module) => !reference.has(module));
  expect(later.length).toBeGreaterThan(7);
  expect(later.filter((module) => loaded.has(module))).toEqual([]);
});

test("a server loads the modules of CBOR only when their feature gate is on", () => {
  const loaded = loadedBy("src/server/server.ts");
  expect(loaded).toContain("src/base/cbor/codec.ts");
  const modules = ["decode-cbor.ts", "encode-cbor.ts"].map((file) => `src/base/cbor/${file}`);
  const unwanted = [...modules, "src/http/encodings/cbor.ts", "src/schema/bytes-shape.ts"];
  expect(unwanted.filter((file) => !sources.includes(file))).toEqual([]);
  expect(unwanted.filter((file) => loaded.has(file))).toEqual([]);
});

test("a server loads the roles and node checks of later releases only when it follows one", () => {
  const loaded = loadedBy("src/server/server.ts");
  expect(loaded).toContain("src/authorization/rbac/default-roles/default-policy.ts");
  const modules = [
    "src/authorization/rbac/default-roles/release-roles.ts",
    "src/authorization/rbac/default-roles/role-changes.ts",
    "src/authorization/node/release-decisions.ts",
    "src/admission/plugins/node-restriction/release-checks.ts",
  ];
  expect(modules.filter((file) => !sources.includes(file))).toEqual([]);
  expect(modules.filter((file) => loaded.has(file))).toEqual([]);
});
