import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodePath } from "../../src/base/network/percent-encoding.ts";
import { attributesOf } from "../../src/http/request/attributes.ts";
import {
  readFacts,
  decodePath,
  hasSpecialSegment,
  segmentsOf,
  splitAfter,
  workspaceUrlOf,
} from "../../src/http/request/facts.ts";
import { goRequestInfo, type GoRequestInfo } from "../support/go-request-info.ts";

const user = { name: "eve", uid: "", groups: [], extra: {} };

/** Paths of pieces that are read in different ways by different servers. */
const paths = fc
  .tuple(
    fc.constantFrom("", "/api/v1", "/apis/g/v1", "/apis/g/v1/namespaces", "/apis/g/v1/namespaces/a/widgets"),
    fc.array(
      fc.constantFrom(
        ..."api apis v1 g namespaces a widgets exec status finalize proxy watch".split(" "),
        ..."|.|..|%2e%2e|%2F|%2f|x%2Fexec|..%2F..|%252F|%5c|%00|;a=b|*|%61pi|%C3%A9%F0%9F%98%80|%20|%3F|+".split(
          "|",
        ),
      ),
      { maxLength: 7 },
    ),
    fc.constantFrom("", "", "/", "//", "%2F"),
  )
  .map(([base, pieces, end]) => `${base}${pieces.map((piece) => `/${piece}`).join("")}${end}`)
  .filter((path) => path.startsWith("/"));
const methods = fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "LIST");

/** What authorization is asked about a request, in the form of the oracle. */
function asked(method: string, sentPath: string): GoRequestInfo {
  const path = decodePath(sentPath);
  const attributes = attributesOf(readFacts(method, sentPath), user);
  if (attributes.kind === "nonResource") {
    const nothing = { group: "", version: "", namespace: "", resource: "", subresource: "", name: "" };
    return { isResource: false, path: attributes.path, verb: attributes.verb, ...nothing };
  }
  const { kind: _, user: __, ...rest } = attributes;
  return { isResource: true, path, ...rest };
}

describe("paths of requests", () => {
  test("the authorized path of any request equals the path that a Go server parses", () => {
    let resources = 0;
    fc.assert(
      fc.property(methods, paths, (method, path) => {
        const expected = goRequestInfo(method, path);
        if (expected === "error") return;
        if (expected.isResource) resources++;
        expect(asked(method, path)).toEqual(expected);
      }),
      { numRuns: 5000 },
    );
    expect(resources).toBeGreaterThan(1000);
  });

  test("a forwarded path that is decoded and encoded again equals the sent one", () => {
    fc.assert(
      fc.property(methods, paths, (method, path) => {
        const forwarded = encodePath(decodePath(path));
        expect(goRequestInfo(method, forwarded)).toEqual(goRequestInfo(method, path));
        expect(forwarded).toMatch(/^[\x21-\x7e]+$/);
        expect(forwarded).not.toMatch(/%2f|[?#\\]/i);
      }),
      { numRuns: 3000 },
    );
  });

  test("splitAfter divides a path where its decoded form has that number of segments", () => {
    fc.assert(
      fc.property(paths, fc.integer({ min: 1, max: 8 }), (path, count) => {
        const { before, after } = splitAfter(path, count);
        expect(decodePath(before) + (after === "" ? "" : decodePath(after))).toBe(decodePath(path));
        const slashes = decodePath(before).split("/").length - 1;
        if (after === "") expect(slashes).toBeLessThanOrEqual(count);
        else expect(slashes).toBe(count);
      }),
    );
  });

  test.each<[string, string[]]>([
    ["/", []],
    ["///", []],
    ["/a//b/", ["a", "", "b"]],
    ["//a", ["a"]],
  ])("segmentsOf returns the parts of %s", (path, segments) => {
    expect(segmentsOf(path)).toEqual(segments);
  });

  test.each(["/a/.", "/./a", "/a/../b", "/..", "/a\0", "/a\n/b", "/\x7f"])(
    "%j has a special segment",
    (path) => {
      expect(hasSpecialSegment(path)).toBe(true);
    },
  );
  test.each(["/", "/a", "/a/...", "/.a/b.", "/a..b", "//", "/é"])("%j has no special segment", (path) => {
    expect(hasSpecialSegment(path)).toBe(false);
  });
});

describe("the path of a workspace", () => {
  const within = (url: string) => workspaceUrlOf(readFacts("GET", url), url);

  test("is split after its name, in the decoded path, once", () => {
    for (const [url, name, rest] of [
      ["/clusters/a/api/v1/pods?watch=1", "a", "/api/v1/pods?watch=1"],
      ["/clusters/a", "a", "/"],
      ["/clusters/a/", "a", "/"],
      ["/clusters/a?x=1", "a", "/?x=1"],
      ["/%63lusters/a%2Fapi/v1", "a", "/api/v1"],
      ["/clusters/a%252Fb/api", "a%2Fb", "/api"],
      ["/clusters/../a/api", "..", "/a/api"],
      ["/clusters/a/../b/api", "a", "/../b/api"],
      ["/clusters//a/api", "", "/a/api"],
      ["/clusters/a//api/v1", "a", "//api/v1"],
    ] as const)
      expect([url, within(url)]).toEqual([url, { name, url: rest }]);
  });

  test("is no other path", () => {
    for (const url of [
      "/",
      "/clusters",
      "//clusters/a/api",
      "/api/v1/clusters/a",
      "/apis/clusters/a/b",
      "/cluster/a",
    ])
      expect([url, within(url)]).toEqual([url, undefined]);
  });
});
