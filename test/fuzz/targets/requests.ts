import { StatusError } from "../../../src/base/status-error.ts";
import { parseTraceContext, traceHeaders } from "../../../src/base/tracing/trace-context.ts";
import { cleanPath } from "../../../src/base/network/url-path.ts";
import { decodedPercent, encodePath } from "../../../src/base/network/percent-encoding.ts";
import { parsePlace, portNumber } from "../../../src/http/backends/names.ts";
import {
  readFacts,
  decodePath,
  hasSpecialSegment,
  segmentsOf,
  splitAfter,
} from "../../../src/http/request/facts.ts";
import { mediaType } from "../../../src/http/request/media-types.ts";
import {
  byPreference,
  negotiate,
  negotiateWatch,
  parseAccept,
} from "../../../src/http/request/negotiation.ts";
import { integerParameter, timeoutParameter } from "../../../src/http/request/parameters.ts";
import { originForm } from "../../../src/http/transport/http1.ts";
import { platform } from "../../../src/vocabulary/platform.ts";
import { goRequestInfo } from "../../support/go-request-info.ts";
import { attempt, expectSame, textOf, type Target } from "../target.ts";

/** Targets of requests: paths, queries and their parameters; the same facts as by the rules of the reference. */
export const requestTarget: Target = {
  name: "request",
  files: [
    "src/base/network/percent-encoding.ts",
    "src/base/network/url-path.ts",
    "src/http/backends/names.ts",
    "src/http/request/facts.ts",
    "src/http/request/parameters.ts",
    "src/http/request/facts.ts",
  ],
  seeds: [
    "/api/v1/namespaces/default/pods/a/log?follow=true&limitBytes=10",
    "/apis/apps/v1/watch/namespaces/a/deployments?timeoutSeconds=1&timeout=1h",
    "/api/v1/namespaces/default/services/https:a:80/proxy/x%2Fy//z?a=b",
    "/apis/g/v1/namespaces/a/status?limit=5&labelSelector=a%3Db&watch=1",
    "//api/v1/./nodes/../%E4",
  ],
  dictionary: [
    "/",
    "//",
    "/api/v1",
    "/apis/g/v1",
    "/namespaces/",
    "/watch/",
    "/proxy/",
    "%2F",
    "%",
    "..",
    "?",
    "&",
    "=",
    "limit=",
  ],
  maxBytes: 1024,
  run(bytes) {
    const text = textOf(bytes);
    originForm(text);
    attempt(() => parsePlace(text, "node"), StatusError);
    portNumber(text);
    const facts = attempt(() => readFacts("GET", text), StatusError);
    if (facts === undefined) return;
    attempt(() => integerParameter(facts.query, "limit"), StatusError);
    attempt(() => timeoutParameter(facts.query), StatusError);
    const path = text.split("?", 1)[0]!;
    const decoded = decodePath(path);
    hasSpecialSegment(decoded);
    const { before, after } = splitAfter(path, 3);
    if (decodePath(`${before}${after}`) !== decoded) throw new Error("the parts of a path are another path");
    if (segmentsOf(decoded).some((segment) => segment.includes("/")))
      throw new Error("a segment has a slash");
    const expected = goRequestInfo("GET", path, false);
    if (expected === "error" || facts.kind !== "resource" || text.includes("?")) return;
    const { namespace, resource, name } = facts;
    if (
      !expected.isResource ||
      expected.namespace !== namespace ||
      expected.resource !== resource ||
      expected.name !== name
    ) {
      throw new Error(`the facts differ from ${JSON.stringify(expected)}`);
    }
  },
};

/** Paths of webhooks, and percent-encoding. */
export const pathTarget: Target = {
  name: "path",
  files: ["src/base/network/percent-encoding.ts", "src/base/network/url-path.ts"],
  seeds: ["/a/../b//c/./", "/a%20b/%2e%2e/%2F", "/ä"],
  dictionary: ["/", "..", "%2e", "%", "%FF", "?", "#"],
  maxBytes: 512,
  run(bytes) {
    const text = textOf(bytes);
    if (decodedPercent(encodePath(text)) !== text) throw new Error("an encoded path is another path");
    const url = new URL("https://127.0.0.1/");
    url.pathname = text;
    const { pathname } = cleanPath(url);
    url.pathname = pathname;
    const again = cleanPath(url).pathname;
    if (again !== pathname) throw new Error(`${pathname} is not normal, but ${again}`);
  },
};

/** Accept and Content-Type headers. */
export const mediaTypeTarget: Target = {
  name: "media-type",
  files: ["src/http/request/media-types.ts", "src/http/request/negotiation.ts"],
  seeds: [
    "application/json;as=Table;v=v1;g=meta.platform.io,application/json",
    "application/yaml;q=0.5, */*;q=0.1, application/vnd.platform.protobuf",
    "application/json; charset=utf-8",
  ],
  dictionary: [",", ";", "=", "q=", "as=Table", "as=PartialObjectMetadata", "*/*", "application/", "json"],
  run(bytes) {
    const text = textOf(bytes);
    mediaType(text);
    byPreference(parseAccept(text));
    attempt(() => negotiate(text, platform), StatusError);
    attempt(() => negotiateWatch(text, platform), StatusError);
  },
};

/** Headers `traceparent` and `tracestate`, separated by a line end. A parsed context, as headers and parsed again, is the same. */
export const traceContextTarget: Target = {
  name: "trace-context",
  files: ["src/base/tracing/trace-context.ts"],
  seeds: [
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\nvendor=1",
    "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03-later",
  ],
  dictionary: ["-", "00", "ff", "01", "\n", "=", "0000000000000000"],
  maxBytes: 1024,
  run(bytes) {
    const [parent = "", state] = textOf(bytes).split("\n", 2);
    const context = parseTraceContext(parent, state);
    if (context === undefined) return;
    const { traceparent, tracestate } = traceHeaders(context);
    expectSame(
      JSON.stringify(parseTraceContext(traceparent, tracestate)),
      JSON.stringify(context),
      "contexts",
    );
  },
};
