import path from "node:path";
import { expect, test } from "vitest";
import * as kindsOfPackage from "../../src/kinds/all.ts";
import * as laterKinds from "../../src/kinds/added-kinds.ts";
import { lifeCycles } from "../../src/kinds/life-cycle-table.ts";
import type { Kind } from "../../src/schema/kind.ts";
import { filesBelow, root } from "../tidy/source-files.ts";

const { builtInKinds } = kindsOfPackage;

/** A kind that some file under src/kinds/ exports. */
interface Declared {
  readonly file: string;
  readonly kind: Kind;
}

function isKind(value: unknown): value is Kind {
  const { resource, verbs, type } = (value ?? {}) as Partial<Kind>;
  return typeof resource === "string" && Array.isArray(verbs) && type?.shape === "struct";
}

async function declaredKinds(): Promise<Declared[]> {
  const lists = new Set(["src/kinds/all.ts", "src/kinds/built-in.ts", "src/kinds/added-kinds.ts"]);
  const files = filesBelow("src/kinds").filter((file) => file.endsWith(".ts") && !lists.has(file));
  const found = files.map(async (file) => {
    const exported = (await import(path.join(root, file))) as Record<string, unknown>;
    return Object.values(exported)
      .filter(isKind)
      .map((kind) => ({ file, kind }));
  });
  return (await Promise.all(found)).flat();
}

function nameOf({ group, version, name }: Kind): string {
  return `${name} of ${group.base === "" ? "core" : group.base}/${version}`;
}

/** Returns the missing registration steps of a declared kind. */
function missingSteps({ file, kind }: Declared, kinds: readonly Kind[], bodies: ReadonlySet<Kind>): string[] {
  if (bodies.has(kind)) return [];
  const steps: string[] = [];
  if (!kinds.includes(kind)) {
    steps.push(`${file} declares ${nameOf(kind)}: add it to src/kinds/built-in.ts`);
  }
  const cycle = lifeCycles.find(
    (one) => one.group === kind.group && one.version === kind.version && one.kind === kind.name,
  );
  if (cycle === undefined) {
    steps.push(
      `${file} declares ${nameOf(kind)}: add the release that introduced it to src/kinds/life-cycle-table.ts`,
    );
  }
  return steps;
}

const declared = await declaredKinds();
const bodies = new Set(
  declared.flatMap(({ kind }) =>
    Object.values(kind.subresources).flatMap((one) =>
      one.shape === "action" || one.shape === "view" ? [one.kind()] : [],
    ),
  ),
);

test("every kind that a file declares is served and has a life cycle", () => {
  expect(declared.length).toBeGreaterThan(60);
  const served = [...builtInKinds, ...Object.values<Kind>(laterKinds)];
  expect(declared.flatMap((one) => missingSteps(one, served, bodies))).toEqual([]);
});

test("the package exports every kind that is served", () => {
  const exported = new Set<unknown>(Object.values(kindsOfPackage));
  expect(builtInKinds.filter((kind) => !exported.has(kind)).map(nameOf)).toEqual([]);
});

test("the error for a declared kind that is not listed names the kind, its file and the next step", () => {
  const one = declared.find(({ kind }) => kind.name === "ConfigMap")!;
  const others = builtInKinds.filter((kind) => kind !== one.kind);
  expect(missingSteps(one, others, bodies)).toEqual([
    "src/kinds/core/config-map.ts declares ConfigMap of core/v1: add it to src/kinds/built-in.ts",
  ]);
});
