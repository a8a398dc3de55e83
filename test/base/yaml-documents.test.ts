import { describe, expect, it } from "vitest";
import { SyntaxFault } from "../../src/base/json/syntax-fault.ts";
import { decodeDocuments } from "../../src/base/yaml/yaml-documents.ts";

const read = async (text: string) => (await decodeDocuments(Buffer.from(text))).map(({ value }) => value);

describe("a file of manifests", () => {
  it.each<[string, string, unknown[]]>([
    ["nothing", "", []],
    ["comments and empty documents", "# a\n---\n---\n# b\n--- \n...\n", []],
    ["one document without marks", "a: 1\n", [{ a: 1 }]],
    ["documents between marks", "---\na: 1\n---\nb: 2\n", [{ a: 1 }, { b: 2 }]],
    ["an end mark", "a: 1\n...\nb: 2\n...\n", [{ a: 1 }, { b: 2 }]],
    ["content behind a mark", "--- {a: 1}\n--- # said\nb: 2\n", [{ a: 1 }, { b: 2 }]],
    ["directives", "%YAML 1.1\n# said\n---\na: 1\n...\n%YAML 1.1\n---\nb: 2\n", [{ a: 1 }, { b: 2 }]],
    ["lines that end with a carriage return", "a: 1\r\n---\r\nb: 2\r\n", [{ a: 1 }, { b: 2 }]],
    ["what looks like a mark further in", "a: |\n  ---\n  b\nc: ---d\n", [{ a: "---\nb\n", c: "---d" }]],
    ["what begins like a mark", "a: 1\n---b: 2\n", [{ a: 1, "---b": 2 }]],
    ["a byte order mark", "\uFEFFa: 1\n", [{ a: 1 }]],
    ["the last line breaks of a text", "a: |+\n  b\n\n---\na: |+\n  b\n", [{ a: "b\n\n" }, { a: "b\n" }]],
    ["JSON", ' \n{"a": [1, "---"]}', [{ a: [1, "---"] }]],
    ["JSON over several lines", '{\n  "a": 1\n}\n', [{ a: 1 }]],
    ["several of JSON's form", '{"a": 1}\n---\n{"b": 2}\n', [{ a: 1 }, { b: 2 }]],
    ["YAML's own flow style", "{a: 1}\n", [{ a: 1 }]],
    ["words of YAML 1.1", "a: yes\n---\nb: 012\n", [{ a: true }, { b: 10 }]],
  ])("%s", async (_what, text, expected) => {
    expect(await read(text)).toEqual(expected);
  });

  it.each([
    ["in the first document", "a: [1\n", 2],
    ["in a later one", "a: 1\n---\nb: 2\n---\nc: 1\nd: [\n", 7],
    ["behind an end mark", "a: 1\n...\n\nb: {\n", 5],
    ["in a line of JSON", '{"a": 1,,}\n', 1],
  ])("a fault %s names the line in the file", async (_where, text, line) => {
    const fault = await read(text).then(
      () => undefined,
      (error: unknown) => error as SyntaxFault,
    );
    expect(fault).toBeInstanceOf(SyntaxFault);
    expect(fault!.line).toBe(line);
  });

  it("members that stand twice are told with each document", async () => {
    const documents = await decodeDocuments(Buffer.from("a: 1\n---\nb: {c: 1, c: 2}\n"));
    expect(documents.map(({ duplicates }) => duplicates)).toEqual([[], ["b.c"]]);
  });
});
