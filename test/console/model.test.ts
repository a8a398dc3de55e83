import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { LineSplitter } from "../../console/src/model/lines.ts";
import { matchingTypes, pathOf, typesOf } from "../../console/src/model/resource-types.ts";
import { formatRoute, parseRoute, type Route } from "../../console/src/model/routes.ts";
import { TableModel, type Change, type TableRow } from "../../console/src/model/table.ts";
import { ageText } from "../../console/src/model/time.ts";
import { writeYaml, type Json } from "../../console/src/model/yaml.ts";

const row = (name: string, cells: readonly unknown[] = [name], namespace = "ns"): TableRow => ({
  cells,
  object: { metadata: { name, namespace } },
});
const namesIn = (model: TableModel) => model.view.map(({ name }) => name);

describe("the rows of a table", () => {
  const names = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "h");
  const change: fc.Arbitrary<Change> = fc.record({
    kind: fc.constantFrom("set" as const, "delete" as const),
    row: fc
      .tuple(names, fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom("x", "y", "", null)))
      .map(([name, value]) => row(name, [name, value])),
  });

  it("are those of all changes, in order and filtered, however the changes are batched", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(change, { maxLength: 90 }), { maxLength: 6 }),
        fc.constantFrom("key" as const, 0, 1),
        fc.boolean(),
        fc.constantFrom("", "x", "a"),
        (batches, by, descending, search) => {
          const [model, single] = [new TableModel(), new TableModel()];
          const expected = new Map<string, TableRow>();
          for (const one of [model, single]) {
            one.sortBy({ by, descending });
            one.search(search);
          }
          for (const batch of batches) {
            model.apply(batch, 1);
            for (const one of batch) {
              single.apply([one], 1);
              if (one.kind === "set") expected.set(one.row.object.metadata.name, one.row);
              else expected.delete(one.row.object.metadata.name);
            }
          }
          expect(model.size).toBe(expected.size);
          expect(namesIn(model)).toEqual(namesIn(single));
          const matching = [...expected.values()].filter(
            ({ cells }) => search === "" || ["ns", ...cells].join(" ").includes(search),
          );
          expect(namesIn(model).toSorted()).toEqual(
            matching.map((one) => one.object.metadata.name).toSorted(),
          );
          for (const [index, { key }] of model.view.entries()) expect(model.indexOf(key)).toBe(index);
          const again = namesIn(model);
          model.sortBy({ by, descending });
          expect(namesIn(model)).toEqual(again);
        },
      ),
    );
  });

  it("of a new list replace those that it doesn't contain", () => {
    const model = new TableModel();
    model.beginList();
    model.addRows([row("a"), row("b")]);
    model.endList();
    model.beginList();
    model.addRows([row("b"), row("c")]);
    model.endList();
    expect(namesIn(model)).toEqual(["b", "c"]);
  });

  it("are sorted by number, then text, then missing values", () => {
    const model = new TableModel();
    model.addRows([row("a", ["a", "x"]), row("b", ["b", 10]), row("c", ["c", null]), row("d", ["d", 9])]);
    model.sortBy({ by: 1, descending: false });
    expect(namesIn(model)).toEqual(["d", "b", "a", "c"]);
  });

  it("are updated one by one among 100,000 without sorting all", () => {
    const model = new TableModel();
    let reads = 0;
    const counted = (text: string) =>
      Object.defineProperty([""], 0, { get: () => (reads++, text) }) as readonly unknown[];
    const all = Array.from({ length: 100_000 }, (_, at) => {
      const name = `object-${String(at).padStart(6, "0")}`;
      return row(name, counted(name));
    });
    model.sortBy({ by: 0, descending: false });
    for (let at = 0; at < all.length; at += 500) model.addRows(all.slice(at, at + 500));
    reads = 0;
    for (let at = 0; at < 100; at++) model.apply([{ kind: "set", row: all[(at * 7919) % all.length]! }], 1);
    // Each update searches twice by halves, 17 times two cells; sorting would read all cells.
    expect(reads).toBeLessThanOrEqual(100 * 2 * 17 * 2);
    expect(model.view).toHaveLength(100_000);
  });
});

describe("a place", () => {
  const text = fc.string({ minLength: 1 });
  const routes: fc.Arbitrary<Route> = fc.oneof(
    fc.constant<Route>({ view: "home" }),
    fc.constant<Route>({ view: "server" }),
    fc.record({
      view: fc.constant("list" as const),
      group: fc.constantFrom("", "apps", "a.example.com"),
      resource: text,
      namespace: fc.string(),
      search: fc.string(),
      labels: fc.string(),
      fields: fc.string(),
      sort: fc.string(),
    }),
    fc.record(
      {
        view: fc.constant("create" as const),
        group: fc.constantFrom("", "apps"),
        resource: text,
        namespace: fc.constantFrom("", "team-a"),
        name: text,
      },
      { requiredKeys: ["view", "group", "resource", "namespace"] },
    ),
    fc.record({
      view: fc.constant("object" as const),
      group: fc.constantFrom("", "apps"),
      resource: text,
      namespace: fc.constantFrom("", "team-a"),
      name: text,
      tab: text,
    }),
  );

  it("is read from its own text", () => {
    fc.assert(
      fc.property(routes, (route) => {
        expect(parseRoute(formatRoute(route))).toEqual(route);
      }),
    );
  });

  it("is the start page for any other text", () => {
    for (const one of ["", "#", "#/", "#/list", "#/object/core/pods", "#nonsense", "#/list/%"]) {
      expect(parseRoute(one).view).toMatch(/^(home|list)$/);
    }
    fc.assert(
      fc.property(fc.string(), (one) => {
        expect(parseRoute(one).view).toBeTypeOf("string");
      }),
    );
  });
});

describe("YAML", () => {
  it("of any JSON value is read as the same value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (any) => {
        // Without the sign of zero, which JSON texts don't keep.
        const value: unknown = JSON.parse(JSON.stringify(any));
        expect(parse(writeYaml(value as Json), { version: "1.2" })).toEqual(value);
        expect(parse(writeYaml(value as Json), { version: "1.1" })).toEqual(value);
      }),
      { numRuns: 500 },
    );
  });

  it("of texts with several lines, and of texts like other types, is read as the same text", () => {
    const texts = [
      "a\nb",
      "a\n",
      "a\n\n",
      "\na",
      " a\nb",
      "a \nb",
      "a\n  b\n",
      "1e3",
      "0x1f",
      "yes",
      "~",
      "2001-01-01",
      "a: b",
      "a #b",
      "- a",
      "a:",
      "1:30",
      "<<",
      "=",
      "\u2028",
      "é\nü",
    ];
    for (const one of texts) {
      for (const value of [one, { key: one, list: [one, { key: one }] }, { [one]: 1 }]) {
        expect([one, parse(writeYaml(value), { version: "1.1" })]).toEqual([one, value]);
      }
    }
  });

  it("is written as people write it", () => {
    const object = {
      apiVersion: "v1",
      metadata: { labels: { app: "web" } },
      list: [{ a: 1, b: "x" }],
      text: "a\nb\n",
      none: [],
    };
    expect(writeYaml(object)).toBe(
      "apiVersion: v1\nmetadata:\n  labels:\n    app: web\nlist:\n- a: 1\n  b: x\ntext: |\n  a\n  b\nnone: []\n",
    );
  });
});

describe("lines of a stream", () => {
  it("are the same however the stream is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("ab", "\n", "c\nd", "e\n")), (parts) => {
        const splitter = new LineSplitter();
        const lines = parts.flatMap((part) => splitter.add(part));
        const complete = parts.join("").split("\n").slice(0, -1);
        expect(lines).toEqual(complete.filter((line) => line !== ""));
      }),
    );
  });
});

describe("resource types", () => {
  const types = typesOf([
    {
      groupVersion: "v1",
      resources: [
        { name: "pods", kind: "Pod", namespaced: true, verbs: ["list"], shortNames: ["po"] },
        { name: "pods/log", kind: "Pod", namespaced: true, verbs: ["get"] },
        { name: "podtemplates", kind: "PodTemplate", namespaced: true, verbs: ["list"] },
      ],
    },
    {
      groupVersion: "policy/v1",
      resources: [
        {
          name: "poddisruptionbudgets",
          kind: "PodDisruptionBudget",
          namespaced: true,
          verbs: ["list"],
          shortNames: ["pdb"],
        },
      ],
    },
  ]);
  const best = (word: string) => matchingTypes(types, word)[0]?.name;

  it("are found by short name, name, beginning and letters", () => {
    expect([best("po"), best("pdb"), best("PodT"), best("budget"), best("poddb"), best("zzz")]).toEqual([
      "pods",
      "poddisruptionbudgets",
      "podtemplates",
      "poddisruptionbudgets",
      "poddisruptionbudgets",
      undefined,
    ]);
  });

  it("have paths with encoded names, and their subresources", () => {
    expect(types[0]).toMatchObject({ group: "", subresources: ["log"] });
    expect(pathOf(types[0]!, "a/b", "c?d", "log")).toBe("/api/v1/namespaces/a%2Fb/pods/c%3Fd/log");
    expect(pathOf(types[2]!, "")).toBe("/apis/policy/v1/poddisruptionbudgets");
  });
});

describe("an age", () => {
  it.each([
    [0, "0s"],
    [119_000, "119s"],
    [150_000, "2m30s"],
    [600_000, "10m"],
    [4 * 3_600_000, "4h"],
    [50 * 3_600_000, "2d2h"],
    [Number.NaN, ""],
  ])("of %d ms is %j", (ms, text) => expect(ageText(ms)).toBe(text));
});
