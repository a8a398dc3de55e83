import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseCsv, parseTokenFile, TokenFileAuthenticator } from "../../src/authentication/token-file.ts";
import { bearerToken } from "../../src/authentication/bearer-token.ts";
import { bearer, request } from "./support.ts";

describe("the token file", () => {
  it("C-5.2-01 token, user name, user id", async () => {
    const { entries, warnings } = await parseTokenFile("t1,alice,1\r\n\nt2,bob,\n");
    expect(entries).toEqual([
      { token: "t1", name: "alice", uid: "1", groups: [] },
      { token: "t2", name: "bob", uid: "", groups: [] },
    ]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ["one column", "t,alice,1,dev", ["dev"]],
    ["several in one quoted column", 't,alice,1,"dev,ops, qa"', ["dev", "ops", "qa"]],
    ["several columns", "t,alice,1,dev,ops", ["dev", "ops"]],
    ["an empty column", "t,alice,1,", []],
    ["one twice", 't,alice,1,"dev,dev"', ["dev"]],
  ])("C-5.2-02 groups: %s", async (_what, text, groups) => {
    expect((await parseTokenFile(text)).entries[0]?.groups).toEqual(groups);
  });

  it.each([
    [
      "two columns",
      "a,b,c\n\nt,alice\n",
      "token file, line 3: token, user name and user id are required, the line has 2 column(s)",
    ],
    ["an open quote", 'a,b,c\nt,"alice,1\n', "token file, line 2: a quote isn't closed"],
    ["text after a quote", 'a,b,"c"d\n', "token file, line 1: text after a closing quote"],
    [
      "a quote in the middle",
      'a,b"c,d\n',
      "token file, line 1: a quote inside a column that doesn't begin with one",
    ],
    [
      "a line after a column of two lines",
      'a,b,"c\nd"\ne\n',
      "token file, line 3: token, user name and user id are required",
    ],
    ["no user", "t,,1\n", "token file, line 1: the user name is empty"],
  ])("C-5.2-01 refuses %s, by line", async (_what, text, message) => {
    await expect(parseTokenFile(text)).rejects.toThrow(message);
  });

  it("C-5.2-01 empty and duplicate tokens return warnings, and the last duplicate is used", async () => {
    const { entries, warnings } = await parseTokenFile(",nobody,0\nt,alice,1\nt,bob,2\n");
    expect(entries).toEqual([{ token: "t", name: "bob", uid: "2", groups: [] }]);
    expect(warnings.map((warning) => /line \d/.exec(warning)?.[0])).toEqual(["line 1", "line 3"]);
  });

  it("errors do not contain content of the file", async () => {
    const read = parseTokenFile('t"secret,alice,1\n');
    await expect(read).rejects.toThrow("token file, line 1: a quote inside");
    await expect(read).rejects.not.toThrow("secret");
  });

  it("CSV written by the rules is read back", async () => {
    const quote = (column: string) => `"${column.replaceAll('"', '""')}"`;
    const column = fc.string({ unit: fc.constantFrom("a", ",", '"', "\n", "\r", " ", "é") });
    const property = fc.asyncProperty(
      fc.array(fc.array(column, { minLength: 2, maxLength: 5 })),
      async (records) => {
        const text = records.map((columns) => columns.map(quote).join(",")).join("\n");
        expect((await parseCsv(text, "x")).map(({ columns }) => columns)).toEqual(records);
      },
    );
    await fc.assert(property);
  });
});

describe("the bearer token", () => {
  it.each([
    ["Bearer abc", "abc"],
    ["bearer abc", "abc"],
    ["  Bearer abc def", "abc"],
    ["Bearer a.b-c_d~e+f/g==", "a.b-c_d~e+f/g=="],
    ["Bearer ", undefined],
    ["Bearer  abc", undefined],
    ["Bearer", undefined],
    ["Basic abc", undefined],
    ["", undefined],
    [undefined, undefined],
  ])("C-5.3-01 %j holds %j", (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });

  it("C-5.2-01 C-5.3-01 C-5-03 finds the user by the token, and nobody by another", async () => {
    const method = new TokenFileAuthenticator(
      (await parseTokenFile('t1,alice,1,"dev,ops"\nt2,bob,2\n')).entries,
    );
    expect(method.authenticate(bearer("t1"))).toEqual({
      user: { name: "alice", uid: "1", groups: ["dev", "ops"], extra: {} },
      method: "token-file",
      cacheable: true,
    });
    expect(method.authenticate(bearer("t1"))).toBe(method.authenticate(bearer("t1")));
    expect(method.authenticate(bearer("t3"))).toBeUndefined();
    expect(method.authenticate(request({}))).toBeUndefined();
  });

  it("C-5.3-01 a request without a token is nobody's, also where a token is the text undefined", () => {
    const method = new TokenFileAuthenticator([{ token: "undefined", name: "alice", uid: "", groups: [] }]);
    expect(method.authenticate(bearer("undefined"))?.user.name).toBe("alice");
    expect(method.authenticate(request({}))).toBeUndefined();
  });

  it("C-5.2-01 does not keep plain tokens in memory", () => {
    const method = new TokenFileAuthenticator([{ token: "a-secret", name: "alice", uid: "", groups: [] }]);
    const fields: unknown[] = Object.values(method).map((value) =>
      value instanceof Map ? [...value] : value,
    );
    expect(JSON.stringify(fields)).not.toContain("a-secret");
  });
});
