import { describe, expect, test } from "vitest";
import { Witness } from "./witness.ts";
import { maps, gist, both, useWitness } from "./request-facts-support.ts";

const { world } = useWitness();

describe("an upgrade request", () => {
  const wish = ["Upgrade: websocket"];
  /** Sends raw headers, as other requests of the witness have a Connection header of their own. */
  const upgrade = (target: string) =>
    world.witness.raw(
      [
        `GET ${target} HTTP/1.1`,
        "Host: localhost",
        `Authorization: Bearer ${Witness.user}`,
        "Connection: Upgrade, close",
        ...wish,
        "",
        "",
      ].join("\r\n"),
    );

  test.each([
    [
      "/api/v1/namespaces/default/pods/pod/proxy/../../x",
      "get pods/proxy default pod",
      "200 pod got /../../x",
    ],
    [
      "https://elsewhere.example/api/v1/namespaces/default/pods/pod/proxy/x",
      "get pods/proxy default pod",
      "200 pod got /x",
    ],
    [
      "/api/v1/namespaces/default/pods/pod/proxy%2F..%2Fexec",
      "get pods/proxy default pod",
      "200 pod got /..%2Fexec",
    ],
    ["/api/v1/namespaces/default/pods/pod/exec/../log", "get pods/exec default pod", "404"],
    [`${maps}/settings`, "get configmaps team-a settings", "200 ConfigMap team-a/settings"],
  ])("for %s is executed as it was authorized", async (target, question, answer) => {
    const told = await upgrade(target);
    expect([world.witness.questions(), gist(told)]).toEqual([[question], answer]);
  });

  test("without permission is not forwarded", async () => {
    world.witness.denied = (question) => question.startsWith("get pods/proxy");
    try {
      const before = world.backend.requests.length;
      expect((await upgrade("/api/v1/namespaces/default/pods/pod/proxy/x")).status).toBe(403);
      expect(world.backend.requests).toHaveLength(before);
    } finally {
      world.witness.denied = () => false;
    }
  });
});

describe("HTTP methods", () => {
  const made = [
    "get",
    "Get",
    "LIST",
    "WATCH",
    "DELETECOLLECTION",
    "delete",
    "list",
    "watch",
    "IMPERSONATE",
    "BIND",
  ];

  test.each(made)("%s over HTTP/2 is no API verb", async (method) => {
    for (const target of [maps, `${maps}/settings`]) {
      const told = await world.witness.http2(method, target);
      expect([told.status, world.witness.questions().map((one) => one.split(" ", 1)[0])]).toEqual([
        405,
        [""],
      ]);
    }
    expect((await world.witness.http2(method, "/version")).status).toBe(405);
    expect(gist(await world.witness.http1("GET", maps))).toBe(`200 ConfigMapList ${both}`);
  });

  test("LIST of one name, by a user with the list permission for that name, doesn't list other objects", async () => {
    const named = (question: string) => question.endsWith(" configmaps team-a settings");
    world.witness.denied = (question) => !named(question);
    try {
      const told = await world.witness.http2("LIST", `${maps}/settings`);
      expect([told.status, told.text.includes("other")]).toEqual([405, false]);
    } finally {
      world.witness.denied = () => false;
    }
  });

  test("unknown methods and methods in other case are 400 over HTTP/1.1", async () => {
    for (const method of ["get", "Get", "LIST", "DELETECOLLECTION"])
      expect((await world.witness.http1(method, maps)).status).toBe(400);
    expect(world.witness.questions()).toEqual([]);
  });

  test.each(["OPTIONS", "TRACE", "PROPFIND", "SEARCH", "BIND", "LINK"])(
    "%s over HTTP/1.1 is no API verb",
    async (method) => {
      expect((await world.witness.http1(method, `${maps}/settings`)).status).toBe(405);
      expect(world.witness.questions()).toEqual([" configmaps team-a settings"]);
    },
  );
});

describe("the request target", () => {
  test.each([
    ["https://elsewhere.example/version", "get path /version", "200"],
    ["HTTP://elsewhere.example:1/healthz?verbose", "get path /healthz", "200"],
    ["https://elsewhere.example", "get path /", "200"],
    ["https://elsewhere.example?x=/api/v1/secrets", "get path /", "200"],
    [`https://eve@elsewhere.example${maps}/settings`, "get configmaps team-a settings", "200"],
    ["https://elsewhere.example//api/v1/secrets", "list secrets", "404"],
  ])("with a host, %s, is used by its path only", async (target, question, status) => {
    const told = await world.witness.http1("GET", target);
    expect([world.witness.questions(), String(told.status)]).toEqual([[question], status]);
  });

  test.each([
    ["GET", "*"],
    ["OPTIONS", "*"],
    ["GET", "api/v1/secrets"],
    ["GET", "ftp://x/api"],
    ["GET", "?/api/v1/secrets"],
  ])("%s %s is 400", async (method, target) => {
    expect((await world.witness.http1(method, target)).status).toBe(400);
    expect(world.witness.questions()).toEqual([]);
  });

  test.each(["https://elsewhere.example/version", "version", "", "?x"])(
    "the HTTP/2 :path %j is rejected",
    async (target) => {
      // HTTP/2 rejects it at the protocol level, without a status.
      expect([0, 400]).toContain((await world.witness.http2("GET", target)).status);
      expect(world.witness.questions()).toEqual([]);
    },
  );

  test("host and :authority don't change the user or the path", async () => {
    const told = await world.witness.http2("GET", `${maps}/settings`, {
      ":authority": "other.example",
      host: "localhost/api/v1/secrets",
    });
    expect([world.witness.questions(), gist(told)]).toEqual([
      ["get configmaps team-a settings"],
      "200 ConfigMap team-a/settings",
    ]);
  });

  const smuggled = `GET /api/v1/namespaces/team-b/configmaps HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${Witness.user}\r\n\r\n`;
  const head = `POST ${maps}?dryRun=All HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${Witness.user}\r\n`;
  test.each([
    ["a length and chunks", `Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["chunks and a length", `Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${smuggled}`],
    ["two lengths", `Content-Length: 0\r\nContent-Length: 5\r\n\r\n${smuggled}`],
    ["a list of lengths", `Content-Length: 0, 5\r\n\r\n${smuggled}`],
    ["a length with a sign", `Content-Length: +0\r\n\r\n${smuggled}`],
    ["a space before the colon", `Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["chunks that are not last", `Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    [
      "two encodings",
      `Transfer-Encoding: identity\r\nTransfer-Encoding: chunked, x\r\n\r\n0\r\n\r\n${smuggled}`,
    ],
    ["a chunk's size in another base", `Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n${smuggled}`],
    ["lines that end without a return", `Transfer-Encoding: chunked\n\n0\n\n${smuggled}`],
  ])("%s: following bytes are not read as a request", async (_what, rest) => {
    const told = await world.witness.raw(head + rest);
    expect([told.status, told.text.includes("HTTP/1.1 200")]).toEqual([400, false]);
    expect(world.witness.questions().filter((one) => one.includes("team-b"))).toEqual([]);
  });

  test("an HTTP/1.0 request gets one response and the connection is closed; what follows is not read as a request", async () => {
    const first = `GET ${maps}/settings HTTP/1.0\r\nAuthorization: Bearer ${Witness.user}\r\n\r\n`;
    expect(gist(await world.witness.raw(first))).toBe("200 ConfigMap team-a/settings");
    expect((await world.witness.raw(first + smuggled)).status).toBe(400);
    expect(world.witness.questions().filter((one) => one.includes("team-b"))).toEqual([]);
  });
});
