import { spawnSync } from "node:child_process";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../support/process.ts";
import { useInstalledPackage } from "./installed-package.ts";

/** Runs a development program of this repository in a folder. */
function run(cwd: string, program: string, ...words: readonly string[]) {
  const file = path.join(root, "node_modules/.bin", program);
  const { stdout, stderr } = spawnSync(file, words, { cwd, encoding: "utf8" });
  return stdout + stderr;
}

/** Type-checks files of a folder, the declarations of the package included. */
function typeCheck(cwd: string, ...words: readonly string[]) {
  const types = ["--types", "node", "--typeRoots", path.join(root, "node_modules/@types")];
  return run(cwd, "tsc", "--noEmit", "--strict", "--target", "es2023", ...types, ...words);
}

const errorsIn = (output: string) => output.split("\n").filter((line) => line.includes("error TS"));

describe("the types of the installed package", () => {
  const installed = useInstalledPackage();
  const nodenext = ["--module", "nodenext"];

  it("compile without errors in modules and in CommonJS, and wrong uses are errors", () => {
    installed.write(
      "use.ts",
      `import { createServer, type Server } from "plinth";
       import { StoreError, type Store } from "plinth/storage";
       const server: Server = await createServer({ vocabulary: "kubernetes" });
       const text: string = server.kubeconfig();
       const wrong: number = server.url;
       const apiVersion = "flowcontrol.apiserver.k8s.io/v1beta3";
       const { spec } = await server.client.get({ apiVersion, kind: "FlowSchema", name: "exempt" });
       const level: string | undefined = spec?.priorityLevelConfiguration.name;
       const open = (storage: Store) => createServer({ storage });
       const pod = { apiVersion: "v1", kind: "Pod", name: "web", namespace: "shop" } as const;
       const running = await server.client.waitFor(pod, (one) => one?.status?.phase === "Running");
       const node: string | undefined = running?.spec?.nodeName;
       { await using scoped = await createServer(); await scoped.load("manifests"); }
       export { StoreError, level, node, open, text, wrong };`,
    );
    installed.write(
      "use.cts",
      `import { createServer } from "plinth";
       import type { ConfigMap } from "plinth/kinds";
       import type { Store } from "plinth/storage";
       const data = (map: ConfigMap): Record<string, string> | undefined => map.data;
       const wrong = (map: ConfigMap): number => map.data;
       const open = (storage: Store) => createServer({ storage });
       export { data, open, wrong };`,
    );
    expect(errorsIn(typeCheck(installed.home, ...nodenext, "use.ts", "use.cts")).toSorted()).toEqual([
      expect.stringMatching(/^use\.cts\(5,\d+\): error TS2322/),
      expect.stringMatching(/^use\.ts\(5,\d+\): error TS2322/),
    ]);
  });

  it("cost a program at most 15,000 more types and instantiations than Node's own", () => {
    installed.write("without.ts", `import { readFileSync } from "node:fs"; readFileSync("a");`);
    installed.write(
      "with.ts",
      `import { createServer } from "plinth";
       const { client } = await createServer();
       await client.create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { b: "c" } });
       await client.get({ apiVersion: "v1", kind: "ConfigMap", name: "a", namespace: "default" });`,
    );
    const counts = (file: string) => {
      const output = typeCheck(installed.home, ...nodenext, "--extendedDiagnostics", file);
      expect(errorsIn(output)).toEqual([]);
      return ["Types", "Instantiations"].map((name) =>
        Number(new RegExp(`${name}:\\s+(\\d+)`).exec(output)![1]),
      );
    };
    const [types, instantiations] = counts("with.ts");
    const [typesWithout, instantiationsWithout] = counts("without.ts");
    expect(types! - typesWithout!).toBeGreaterThan(1_000);
    expect(types! - typesWithout!).toBeLessThan(15_000);
    expect(instantiations! - instantiationsWithout!).toBeLessThan(15_000);
  });

  it("of built-in kinds are those that follow from the declarations", () => {
    // The published ones are more precise where the declarations lose a type: recursive schemas, a kind used as a
    // field, and a field whose name depends on the version.
    const precise = ["CustomResourceDefinition", "StatefulSet", "PriorityLevelConfiguration"];
    installed.write(
      "same.ts",
      `import type { BuiltInObjects as Published } from "plinth";
       import type { BuiltInObjects as Derived } from ${JSON.stringify(path.join(root, "src/kinds/typed-objects.ts"))};
       type Flat<T> = T extends (infer E)[] ? Flat<E>[] : T extends object ? { [K in keyof T]: Flat<T[K]> } : T;
       type Same<A, B> =
         (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
       type Fields<O> = Flat<Omit<O, "metadata">>;
       type Precise = \`\${string} \${${precise.map((name) => JSON.stringify(name)).join(" | ")}}\`;
       export type Differences = {
         [K in keyof Published | keyof Derived]: K extends keyof Published & keyof Derived
           ? K extends Precise ? never
           : Same<Fields<Published[K]>, Fields<Derived[K]>> extends true ? never : K
           : K;
       }[keyof Published | keyof Derived];
       export const same: { [K in Differences]: never } = {};
       const first: keyof Published = "v1 Nothing";
       export { first };`,
    );
    const flags = ["--allowImportingTsExtensions", "--skipLibCheck", "--exactOptionalPropertyTypes"];
    const output = typeCheck(installed.home, ...nodenext, ...flags, "--noErrorTruncation", "same.ts");
    // The error shows that the types were resolved.
    expect(errorsIn(output)).toEqual([
      expect.stringMatching(/^same\.ts\(\d+,\d+\): error TS2322.*"v1 Nothing"/),
    ]);
  });

  it("and its entries pass publint and attw, in every way of module resolution", () => {
    const lint = run(root, "publint", "run", "--strict", installed.archive());
    expect(lint).toContain("All good");
    const attw = run(root, "attw", "--no-definitely-typed", "--format", "json", installed.archive());
    const { analysis, problems } = JSON.parse(attw) as {
      analysis: { entrypoints: object };
      problems: object;
    };
    expect(Object.keys(analysis.entrypoints).length).toBe(5);
    expect(problems).toEqual({});
  });
});
