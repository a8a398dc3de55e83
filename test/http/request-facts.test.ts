import { describe, expect, test } from "vitest";
import { isTrue, readFacts } from "../../src/http/request/facts.ts";

describe("C-4.1 C-4.2 what a request is about", () => {
  // method, url, verb, group, version, namespace, resource, name, subresource, rest
  test.each([
    ["GET", "/api/v1/pods", "list", "", "v1", "", "pods", "", "", ""],
    ["HEAD", "/api/v1/pods", "list", "", "v1", "", "pods", "", "", ""],
    ["GET", "/api/v1/pods?watch=true", "watch", "", "v1", "", "pods", "", "", ""],
    ["GET", "/api/v1/pods?watch", "watch", "", "v1", "", "pods", "", "", ""],
    ["GET", "/api/v1/pods?watch=0", "list", "", "v1", "", "pods", "", "", ""],
    ["GET", "/api/v1/namespaces/a/pods/p", "get", "", "v1", "a", "pods", "p", "", ""],
    ["GET", "/api/v1/namespaces/a/pods/p?watch=true", "get", "", "v1", "a", "pods", "p", "", ""],
    ["GET", "/api/v1/namespaces/a/pods/p/log", "get", "", "v1", "a", "pods", "p", "log", ""],
    ["GET", "/api/v1/namespaces/a/pods/p/proxy/x/y", "get", "", "v1", "a", "pods", "p", "proxy", "x/y"],
    ["GET", "/api/v1/namespaces", "list", "", "v1", "", "namespaces", "", "", ""],
    ["GET", "/api/v1/namespaces/a", "get", "", "v1", "a", "namespaces", "a", "", ""],
    ["PUT", "/api/v1/namespaces/a/finalize", "update", "", "v1", "a", "namespaces", "a", "finalize", ""],
    [
      "POST",
      "/apis/apps/v1/namespaces/a/deployments",
      "create",
      "apps",
      "v1",
      "a",
      "deployments",
      "",
      "",
      "",
    ],
    [
      "PATCH",
      "/apis/apps/v1/namespaces/a/deployments/d/scale",
      "patch",
      "apps",
      "v1",
      "a",
      "deployments",
      "d",
      "scale",
      "",
    ],
    ["DELETE", "/apis/g/v2/things", "deletecollection", "g", "v2", "", "things", "", "", ""],
    ["DELETE", "/apis/g/v2/things/t", "delete", "g", "v2", "", "things", "t", "", ""],
    ["OPTIONS", "/apis/g/v2/things/", "", "g", "v2", "", "things", "", "", ""],
    ["GET", "/apis/g/v2/things/a%2Fb", "get", "g", "v2", "", "things", "a", "b", ""],
    ["GET", "/apis%2Fg/v2/things/a/b%2fc", "get", "g", "v2", "", "things", "a", "b", "c"],
    ["GET", "/apis/g/v2/namespaces//things", "list", "g", "v2", "", "things", "", "", ""],
    ["GET", "/apis/g/v2/namespaces/a/status/c", "get", "g", "v2", "a", "namespaces", "a", "status", "c"],
    ["GET", "/apis/g/v2/proxy/things/a/b", "proxy", "g", "v2", "", "things", "a", "", ""],
  ])("%s %s", (method, url, verb, group, version, namespace, resource, name, subresource, rest) => {
    const sentPath = url.split("?", 1)[0]!;
    const expected = {
      kind: "resource",
      sentPath,
      path: decodeURIComponent(sentPath),
      atVersion: true,
      verb,
      group,
      version,
      namespace,
      resource,
      name,
      subresource,
      rest,
    };
    expect(readFacts(method, url)).toMatchObject(expected);
  });

  test.each([
    ["GET", "/", "get"],
    ["GET", "/api", "get"],
    ["GET", "/api/v1", "get"],
    ["GET", "/apis/apps", "get"],
    ["GET", "/apis/apps/v1", "get"],
    ["POST", "/livez?verbose", "post"],
  ])("%s %s is a path outside the resources", (method, url, verb) => {
    expect(readFacts(method, url)).toMatchObject({ kind: "path", path: url.split("?")[0], verb });
  });

  test.each(["/%", "/api/v1/%zz", "/api/v1/pods/%ff"])("%s is refused", (url) => {
    expect(() => readFacts("GET", url)).toThrow("not well encoded");
  });

  test("a query parameter has its first value, and all values are available", () => {
    const { query } = readFacts("GET", "/livez?a=1&a=2&b&c=%20+");
    expect([query.get("a"), query.all("a"), query.get("b"), query.get("c"), query.get("d")]).toEqual([
      "1",
      ["1", "2"],
      "",
      "  ",
      undefined,
    ]);
    expect(readFacts("GET", "/livez").query.empty).toBe(true);
  });

  test.each([
    ["true", true],
    ["1", true],
    ["", true],
    ["yes", true],
    ["false", false],
    ["FALSE", false],
    ["0", false],
    [undefined, false],
  ])("%j is %s", (text, is) => {
    expect(isTrue(text)).toBe(is);
  });
});
