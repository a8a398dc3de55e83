import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Told } from "./witness.ts";
import { type Shown, core, maps, shownBy, gist, both, useWitness } from "./request-facts-support.ts";

const { world } = useWitness();

/** The objects of a response: the items of a list or the objects of watch events. */
function eachObject(told: Told): readonly Shown[] {
  if (!told.text.startsWith('{"type":')) return shownBy(told)?.items ?? [];
  const events = told.text.trimEnd().split("\n");
  return events.map((event) => (JSON.parse(event) as { readonly object: Shown }).object);
}

const everything =
  "platform-system/extension-apiserver-authentication,team-a/other,team-a/settings,team-a/status,team-b/other,team-b/settings,team-b/status";

describe.each(["http1", "http2"] as const)(
  "over %s the server executes exactly the request that was authorized",
  (version) => {
    const ask = (method: string, target: string, header?: readonly [string, string]): Promise<Told> =>
      version === "http1"
        ? world.witness.http1(method, target, ...(header === undefined ? [] : [header.join(": ")]))
        : world.witness.http2(
            method,
            target,
            header === undefined ? {} : { [header[0].toLowerCase()]: header[1] },
          );

    test.each([
      // Non-resource paths are compared literally, without percent-decoding.
      ["/healthz", "get path /healthz", "200 ok"],
      ["/HEALTHZ", "get path /HEALTHZ", "404"],
      ["/%68ealthz", "get path /healthz", "200 ok"],
      ["/healthz/", "get path /healthz/", "404"],
      ["/metrics/", "get path /metrics/", "404"],
      ["//metrics", "get path //metrics", "404"],
      ["/./metrics", "get path /./metrics", "404"],
      ["/healthz/../metrics", "get path /healthz/../metrics", "404"],
      ["/healthz/%2e%2e/metrics", "get path /healthz/../metrics", "404"],
      ["/openapi/v3/..%2F..%2Fmetrics", "get path /openapi/v3/../../metrics", "404"],
      ["/metrics;x=1", "get path /metrics;x=1", "404"],
      ["/metrics%3Fx", "get path /metrics?x", "404"],
      ["/metrics%00", "get path /metrics\0", "404"],
      ["/healthz\\..\\metrics", "get path /healthz\\..\\metrics", "404"],
      ["/readyz/ping", "get path /readyz/ping", "200 ok"],
      ["/readyz%2Fping", "get path /readyz/ping", "200 ok"],
      ["/readyz//ping", "get path /readyz//ping", "404"],
      ["/%61pi", "get path /api", "200 APIVersions"],
      ["/api/", "get path /api/", "200 APIVersions"],
      ["/version#/metrics", "get path /version#/metrics", "404"],
      // An empty namespace means all namespaces, and authorization is asked about all namespaces, as in the reference.
      ["/api/v1/namespaces//configmaps", "list configmaps", `200 ConfigMapList ${everything}`],
      ["/apis/apps/v1/namespaces//deployments", "list deployments.apps", "200 DeploymentList"],
      ["/api/v1/namespaces//configmaps/settings", "get configmaps  settings", "400"],
      ["/api/v1/namespaces//pods/pod/log", "get pods/log  pod", "400"],
      ["/api/v1/namespaces//nodes", "list nodes", "404"],
      ["/api/v1/namespaces//namespaces", "list namespaces", "404"],
      ["/api/v1/namespaces//namespaces/team-a", "get namespaces  team-a", "404"],
      ["/api/v1/namespaces//status", "list namespaces/status", "400"],
      ["/api/v1/namespaces//finalize", "list namespaces/finalize", "405"],
      [`${core}/pods//log`, "list pods/log team-a", "400"],
      // Trailing slashes are ignored; other empty segments are 404.
      [
        "/api/v1/namespaces//",
        "list namespaces",
        "200 NamespaceList default,platform-node-lease,platform-public,platform-system,team-a,team-b",
      ],
      [`${maps}//`, "list configmaps team-a", `200 ConfigMapList ${both}`],
      [`${maps}//status`, "list configmaps/status team-a", "404"],
      ["/api//configmaps", "list configmaps", "404"],
      ["//api/v1/configmaps", "list configmaps", "404"],
      ["/apis//v1/namespaces", "list namespaces", "404"],
      ["/api/v1//configmaps", "get   configmaps", "404"],
      // An encoded slash is decoded to a slash.
      ["/api%2Fv1%2Fconfigmaps", "list configmaps", `200 ConfigMapList ${everything}`],
      ["/%2Fapi/v1/configmaps", "list configmaps", "404"],
      [`${core}/configmaps%2fsettings`, "get configmaps team-a settings", "200 ConfigMap team-a/settings"],
      [`${core}%2Fstatus`, "get namespaces/status team-a team-a", "200 Namespace team-a"],
      [`${maps}/settings%2F`, "get configmaps team-a settings", "200 ConfigMap team-a/settings"],
      [`${maps}/settings%2Fstatus`, "get configmaps/status team-a settings", "404"],
      [`${maps}/settings%252Fstatus`, "get configmaps team-a settings%2Fstatus", "400"],
      [`${maps}/..%2Fother`, "get configmaps/other team-a ..", "404"],
      ["/api/v1/namespaces/team-a%2F..%2Fteam-b/configmaps", "get ../configmaps team-a team-b", "404"],
      ["/api/v1/namespaces/team-a%2Fsettings/configmaps", "get settings team-a configmaps", "404"],
      // `.` and `..` are not resolved.
      [`${maps}/../configmaps`, "get configmaps/configmaps team-a ..", "404"],
      ["/api/v1/namespaces/../configmaps", "list configmaps ..", "200 ConfigMapList"],
      ["/api/v1/namespaces/%2e%2e/secrets", "list secrets ..", "200 SecretList"],
      // Paths are case-sensitive.
      ["/%61pi/v1/namespaces/team-a", "get namespaces team-a team-a", "200 Namespace team-a"],
      [`${maps}/s%65ttings`, "get configmaps team-a settings", "200 ConfigMap team-a/settings"],
      [`${maps}/settings/`, "get configmaps team-a settings", "200 ConfigMap team-a/settings"],
      [`${maps}/SETTINGS`, "get configmaps team-a SETTINGS", "404"],
      ["/api/v1/namespaces/TEAM-A/configmaps", "list configmaps TEAM-A", "200 ConfigMapList"],
      ["/api/v1/ConfigMaps", "list ConfigMaps", "404"],
      ["/API/v1/configmaps", "get path /API/v1/configmaps", "404"],
      ["/api/v1/namespaces/*/configmaps", "list configmaps *", "200 ConfigMapList"],
      [`${maps}/settings;v=1`, "get configmaps team-a settings;v=1", "404"],
      [`${maps}/settings%00`, "get configmaps team-a settings\0", "404"],
      [`${maps}/settings\\`, "get configmaps team-a settings\\", "404"],
      [`${maps}/${"x".repeat(3000)}`, `get configmaps team-a ${"x".repeat(3000)}`, "404"],
      // Names and subresources are not confused.
      ["/api/v1/namespaces/status", "get namespaces status status", "404"],
      ["/api/v1/namespaces/team-a/status", "get namespaces/status team-a team-a", "200 Namespace team-a"],
      ["/api/v1/namespaces/team-a/finalize", "get namespaces/finalize team-a team-a", "405"],
      ["/api/v1/namespaces/team-a/status/status", "get namespaces/status team-a team-a", "404"],
      ["/api/v1/namespaces/team-a/namespaces/team-b", "get namespaces team-a team-b", "404"],
      [`${maps}/status`, "get configmaps team-a status", "200 ConfigMap team-a/status"],
      [`${maps}/settings/status`, "get configmaps/status team-a settings", "404"],
      [`${core}/pods/pod/status/more`, "get pods/status team-a pod", "404"],
      // Watch paths.
      ["/api/v1/watch/configmaps/settings", "watch configmaps  settings", "404"],
      [
        `/api/v1/watch/namespaces/team-a/configmaps/settings/status`,
        "watch configmaps/status team-a settings",
        "404",
      ],
      ["/api/v1/watch/namespaces/team-a/namespaces/team-b", "watch namespaces team-a team-b", "404"],
      ["/api/v1/watch//configmaps", "watch   configmaps", "404"],
      ["/api/v1/watch/namespaces//configmaps/settings", "watch configmaps  settings", "400"],
      ["/api/v1/proxy/namespaces/team-a/configmaps/settings", "proxy configmaps team-a settings", "404"],
      ["/api/v1/watch", "list watch", "404"],
      ["/api/v1/namespaces/watch/configmaps", "list configmaps watch", "200 ConfigMapList"],
      ["/api/v1/configmaps/settings", "get configmaps  settings", "404"],
      // Authorization and the verb read the same one of duplicate parameters; parameter names are case-sensitive.
      [`${maps}?watch=false&watch=true`, "list configmaps team-a", `200 ConfigMapList ${both}`],
      [`${maps}?watch=0&watch=1`, "list configmaps team-a", `200 ConfigMapList ${both}`],
      [`${maps}?Watch=true`, "list configmaps team-a", `200 ConfigMapList ${both}`],
      [`${maps}?namespace=team-b&name=x`, "list configmaps team-a", `200 ConfigMapList ${both}`],
      [
        `${maps}?fieldSelector=metadata.name=settings`,
        "list configmaps team-a settings",
        "200 ConfigMapList team-a/settings",
      ],
      [
        `${maps}?fieldSelector=metadata.name%3Dsettings&fieldSelector=metadata.name%3Dother`,
        "list configmaps team-a settings",
        "200 ConfigMapList team-a/settings",
      ],
      [
        `${maps}?fieldSelector=&fieldSelector=metadata.name%3Dsettings`,
        "list configmaps team-a",
        `200 ConfigMapList ${both}`,
      ],
      // The requirements are sorted, as in the reference.
      [
        `${maps}?fieldSelector=metadata.name%3Dsettings,metadata.name%3Dother`,
        "list configmaps team-a other",
        "200 ConfigMapList",
      ],
      [
        `${maps}?fieldSelector=metadata.name!%3Dsettings`,
        "list configmaps team-a",
        "200 ConfigMapList team-a/other,team-a/status",
      ],
      [
        `${maps}?fieldSelector=metadata.name%3Dsettings,metadata.namespace%3Dteam-b`,
        "list configmaps team-a settings",
        "200 ConfigMapList",
      ],
      [
        `${maps}/settings?fieldSelector=metadata.name%3Dother&watch=true`,
        "get configmaps team-a settings",
        "200 ConfigMap team-a/settings",
      ],
    ])("GET %s", async (target, question, answer) => {
      const told = await ask("GET", target);
      expect([world.witness.questions(), gist(told)]).toEqual([[question], answer]);
    });

    test.each(["/%", "/api/v1/%zz", `${maps}/%ff`, `${maps}/%c0%af`])(
      "GET %s is 400 before authorization",
      async (target) => {
        expect((await ask("GET", target)).status).toBe(400);
        expect(world.witness.questions()).toEqual([]);
      },
    );

    test.each(["POST", "PUT", "PATCH", "DELETE"])("%s of a watch path changes nothing", async (method) => {
      const told = await ask(method, "/api/v1/watch/namespaces/team-a/configmaps/settings");
      expect([world.witness.questions(), gist(told)]).toEqual([["watch configmaps team-a settings"], "405"]);
    });

    test.each(["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"])(
      "the header %s doesn't change the verb",
      async (name) => {
        const told = await ask("GET", `${maps}/settings`, [name, "DELETE"]);
        expect([world.witness.questions(), gist(told)]).toEqual([
          ["get configmaps team-a settings"],
          "200 ConfigMap team-a/settings",
        ]);
      },
    );

    test.each(["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Uri", "X-Forwarded-Prefix"])(
      "the header %s doesn't change the path",
      async (name) => {
        const told = await ask("GET", `${maps}/settings`, [
          name,
          "/api/v1/namespaces/team-b/configmaps/other",
        ]);
        expect([world.witness.questions(), gist(told)]).toEqual([
          ["get configmaps team-a settings"],
          "200 ConfigMap team-a/settings",
        ]);
      },
    );

    test.each([
      ["", "/"],
      ["/../../x", "/../../x"],
      ["/%2e%2e/x", "/%2e%2e/x"],
      ["//x//", "//x//"],
      ["/..%2f..%2fexec?command=sh", "/..%2f..%2fexec?command=sh"],
    ])("the proxied path %s remains below the authorized one", async (behind, sent) => {
      const told = await ask("POST", `/api/v1/namespaces/default/pods/pod/proxy${behind}`);
      expect([world.witness.questions(), gist(told)]).toEqual([
        ["create pods/proxy default pod"],
        `200 pod got ${sent}`,
      ]);
    });

    test.each([
      ["pod/%70roxy/x", "get pods/proxy default pod", "200 pod got /x"],
      ["pod/proxy%2Fx", "get pods/proxy default pod", "200 pod got /x"],
      ["pod%2Fproxy/x%2Fy", "get pods/proxy default pod", "200 pod got /x%2Fy"],
      ["pod%2fexec", "get pods/exec default pod", "400"],
      ["pod/proxy/../../other/proxy/x", "get pods/proxy default pod", "200 pod got /../../other/proxy/x"],
      ["pod//proxy/x", "get pods default pod", "404"],
      ["pod/log/../exec", "get pods/log default pod", "404"],
      ["pod/exec/x", "get pods/exec default pod", "404"],
    ])("pods/%s is authorized and connected as the same subresource", async (behind, question, answer) => {
      const told = await ask("GET", `/api/v1/namespaces/default/pods/${behind}`);
      expect([world.witness.questions(), gist(told)]).toEqual([[question], answer]);
    });
  },
);

describe("any path of random segments", () => {
  const piece = fc.constantFrom(
    ..."api apis v1 apps namespaces team-a team-b configmaps settings other status finalize pods pod proxy log".split(
      " ",
    ),
    ..."healthz metrics version readyz ping openapi".split(" "),
    ..."|.|..|%2e%2e|%2F|..%2F..|%5c|%00|;a=b|*|%252e|CONFIGMAPS|watch|%61pi|%6eamespaces|+|%20".split("|"),
  );
  const query = fc.constantFrom(
    "",
    "?watch=false&watch=true",
    "?fieldSelector=metadata.name%3Dsettings",
    "?fieldSelector=metadata.name%3Dsettings&fieldSelector=",
    "?limit=1&fieldSelector=metadata.name%3Dother,metadata.namespace%3Dteam-b",
    "?verbose",
  );
  const method = fc.constantFrom("GET", "GET", "GET", "HEAD", "LIST", "get", "list", "PUT");
  const base = fc.constantFrom(
    "",
    "/api/v1",
    "/api/v1/namespaces/team-a",
    `${maps}`,
    "/apis/apps/v1",
    "/healthz",
  );

  test("is executed as it was authorized, and never fails with an internal error", async () => {
    let objects = 0;
    await fc.assert(
      fc.asyncProperty(
        method,
        base,
        fc.array(piece, { maxLength: 4 }),
        query,
        async (verb, start, rest, end) => {
          const target = `${start}${rest.map((one) => `/${one}`).join("")}` || "/";
          world.witness.questions();
          // A watch path is a stream that ends after one second.
          const told = await world.witness.http2(
            verb,
            `${target}${end === "" ? "?" : `${end}&`}timeoutSeconds=1`,
          );
          const questions = world.witness.questions();
          expect(told.status).toBeLessThan(500);
          if (told.status >= 300 || verb === "HEAD") return;
          expect(questions).toHaveLength(1);
          const [asked, type = "", ns = "", name = ""] = questions[0]!.split(" ");
          if (type === "path") return;
          const shown = shownBy(told);
          if (asked === "get" && shown?.metadata?.name !== undefined) {
            objects++;
            expect(shown.metadata.name).toBe(name);
            expect(type.startsWith("namespaces") ? ns : shown.metadata.namespace).toBe(ns);
          }
          for (const item of eachObject(told)) {
            objects++;
            expect(["list", "watch"]).toContain(asked);
            if (ns !== "") expect(item.metadata!.namespace).toBe(ns);
            if (name !== "") expect(item.metadata!.name).toBe(name);
          }
        },
      ),
      { numRuns: 1500 },
    );
    expect(objects).toBeGreaterThan(10);
  });
});
