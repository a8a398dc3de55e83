import { describe, expect, test } from "vitest";
import type { Encoding } from "../../src/http/encodings/encoding.ts";
import { ObjectForms } from "../../src/http/encodings/choose.ts";
import type { Entry, Revision } from "../../src/storage/store.ts";

/** Writes upper-case letters, and counts how often. */
function encoding(key: string, isCacheable?: true): Encoding & { written: number } {
  const made = {
    key,
    written: 0,
    ...(isCacheable && { isCacheable }),
    object(body: Uint8Array): Uint8Array {
      made.written++;
      return Buffer.from(`${key} ${Buffer.from(body).toString("utf8").toUpperCase()}`);
    },
  };
  return made as unknown as Encoding & { written: number };
}

function entry(key: string, revision: number, text: string): Entry {
  const body = Buffer.from(text);
  return { key, revision: revision as Revision, header: body, body, revisionAt: 0 };
}

function read(forms: ObjectForms, of: Encoding, one: Entry): string {
  return Buffer.from(forms.of(of, one)).toString("utf8");
}

describe("objects in other forms", () => {
  test("are written once for each revision", () => {
    const [forms, binary] = [new ObjectForms(), encoding("binary", true)];
    for (const _ of [1, 2, 3]) expect(read(forms, binary, entry("/a", 1, "old"))).toBe("binary OLD");
    expect(binary.written).toBe(1);
    for (const _ of [1, 2, 3]) expect(read(forms, binary, entry("/a", 2, "new"))).toBe("binary NEW");
    // Who reads at an older revision is given that.
    expect(read(forms, binary, entry("/a", 1, "old"))).toBe("binary OLD");
    expect(binary.written).toBe(3);
  });

  test("are not taken for one another", () => {
    const [forms, one, other] = [new ObjectForms(), encoding("one", true), encoding("other", true)];
    expect(read(forms, one, entry("/a", 1, "x"))).toBe("one X");
    expect(read(forms, other, entry("/a", 1, "x"))).toBe("other X");
    expect(read(forms, one, entry("/b", 1, "y"))).toBe("one Y");
  });

  test("are written anew where that is as fast as sending them", () => {
    const [forms, json] = [new ObjectForms(), encoding("json")];
    for (const _ of [1, 2]) read(forms, json, entry("/a", 1, "x"));
    expect(json.written).toBe(2);
  });

  test("are forgotten when there are too many, the first ones first, and large ones aren't kept", () => {
    const [forms, binary] = [new ObjectForms(3000), encoding("binary", true)];
    const small = (index: number): Entry => entry(`/small/${index}`, 1, "x".repeat(700));
    for (const index of [1, 2, 3, 4]) read(forms, binary, small(index));
    expect(binary.written).toBe(4);
    read(forms, binary, small(4));
    expect(binary.written).toBe(4);
    read(forms, binary, small(1));
    expect(binary.written).toBe(5);
    for (const _ of [1, 2]) read(forms, binary, entry("/large", 1, "x".repeat(70_000)));
    expect(binary.written).toBe(7);
    // It displaced nothing.
    read(forms, binary, small(4));
    expect(binary.written).toBe(7);
  });

  test("leave nothing behind: any number of revisions takes the room of one", () => {
    const [forms, binary] = [new ObjectForms(3000), encoding("binary", true)];
    for (let revision = 1; revision <= 100; revision++) read(forms, binary, entry("/a", revision, "x"));
    read(forms, binary, entry("/b", 1, "y".repeat(700)));
    read(forms, binary, entry("/c", 1, "z".repeat(700)));
    const { written } = binary;
    read(forms, binary, entry("/a", 100, "x"));
    expect(binary.written).toBe(written);
  });
});
