import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isLater } from "../../src/base/releases.ts";
import {
  deprecatedBehaviors,
  earliestEnd,
  type DeprecatedBehavior,
} from "../../src/kinds/deprecated-behaviors.ts";
import { TestServer, type Answer } from "../support/api.ts";
import { until } from "./support.ts";

/** Conventions 9.2, rule 7. */
const rows = Object.entries<DeprecatedBehavior>(deprecatedBehaviors);
const release = "1.26";
const isGone = ({ removed }: DeprecatedBehavior) => removed !== undefined && !isLater(removed, release);

const pods = "/api/v1/namespaces/default/pods";
const configMaps = "/api/v1/namespaces/default/configmaps";
const containers = [{ name: "a", image: "a" }];
const pod = (name: string, spec: object, annotations: object = {}) => ({
  metadata: { name, annotations },
  spec: { containers, ...spec },
});

describe("the support period of a deprecated behavior", () => {
  test.each([
    ["1.8", "1.12"],
    ["1.18", "1.22"],
    ["1.19", "1.22"],
    ["1.25", "1.28"],
  ])("C-9.2-09 one deprecated in %s is supported until at least %s: for a year", (deprecated, end) => {
    expect(earliestEnd({ deprecated })).toBe(end);
  });

  test.each(rows)("C-9.2-09 %s is supported for the required period", (_name, behavior) => {
    expect(isLater(behavior.deprecated, release)).toBe(false);
    expect(behavior.removed === undefined || !isLater(earliestEnd(behavior), behavior.removed)).toBe(true);
  });
});

describe("deprecated behaviors", () => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({});
  });
  afterAll(() => server.close());

  async function made(place: string, body: object): Promise<Answer> {
    const answer = await server.admin.post(place, body);
    expect(answer.status, answer.text).toBe(201);
    return answer;
  }

  /** A volume restricted to nodes with a label. */
  async function volumeFor(name: string, key: string): Promise<Answer> {
    const matchExpressions = [{ key, operator: "In", values: ["a"] }];
    return made("/api/v1/persistentvolumes", {
      metadata: { name },
      spec: {
        accessModes: ["ReadWriteOnce"],
        capacity: { storage: "1Gi" },
        local: { path: "/data" },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } },
      },
    });
  }

  const label = (name: string, old: string) => async (behavior: DeprecatedBehavior) => {
    expect(behavior.what.replace("*", "platform.io")).toBe(old);
    const { body, headers } = await volumeFor(name, old);
    const [term] = body.spec.nodeAffinity.required.nodeSelectorTerms;
    expect(term.matchExpressions[0].key).toBe(old);
    expect(headers["warning"]).toContain(`deprecated since v${behavior.deprecated}`);
    expect(headers["warning"]).toContain(behavior.instead.replace("*", "platform.io"));
  };

  /** The check that each behavior still works. */
  const working: Readonly<Record<string, (behavior: DeprecatedBehavior) => Promise<void>>> = {
    async orphanDependents() {
      const owner = await made(configMaps, { metadata: { name: "owner" } });
      const { uid } = owner.body.metadata;
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
      await made(configMaps, { metadata: { name: "dependent", ownerReferences } });
      await server.admin.delete(`${configMaps}/owner?orphanDependents=true`);
      const dependent = await until(
        () => server.admin.get(`${configMaps}/dependent`),
        ({ status, body }) => status !== 200 || body.metadata.ownerReferences === undefined,
      );
      expect(dependent.status).toBe(200);
    },
    async classOfVolume({ deprecated, instead }) {
      const { headers, body } = await made("/api/v1/persistentvolumes", {
        metadata: { name: "classed", annotations: { "volume.beta.platform.io/storage-class": "slow" } },
        spec: { accessModes: ["ReadWriteOnce"], capacity: { storage: "1Gi" }, hostPath: { path: "/data" } },
      });
      expect(headers["warning"]).toContain(`deprecated since v${deprecated}`);
      expect(headers["warning"]).toContain(instead);
      const table = await server.admin.ask("GET", `/api/v1/persistentvolumes/${body.metadata.name}`, {
        headers: { accept: "application/json;as=Table;g=meta.platform.io;v=v1" },
      });
      expect(table.body.rows[0].cells).toContain("slow");
    },
    async gitRepo() {
      const volumes = [{ name: "v", gitRepo: { repository: "https://example.com/r" } }];
      const { body, headers } = await made(pods, pod("repository", { volumes }));
      expect(body.spec.volumes).toContainEqual(volumes[0]);
      expect(headers["warning"]).toContain("deprecated");
    },
    osLabel: label("os", "beta.platform.io/os"),
    archLabel: label("arch", "beta.platform.io/arch"),
    zoneLabel: label("zone", "failure-domain.beta.platform.io/zone"),
    regionLabel: label("region", "failure-domain.beta.platform.io/region"),
    typeLabel: label("type", "beta.platform.io/instance-type"),
    async ingressClass() {
      const answer = await made("/apis/networking.platform.io/v1/namespaces/default/ingresses", {
        metadata: { name: "classed", annotations: { "platform.io/ingress.class": "old" } },
        spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
      });
      expect(answer.body.metadata.annotations).toEqual({ "platform.io/ingress.class": "old" });
      expect(answer.headers["warning"]).toContain("spec.ingressClassName");
    },
    async seccompOfPod() {
      const annotations = {
        "seccomp.security.alpha.platform.io/pod": "docker/default",
        "container.seccomp.security.alpha.platform.io/a": "localhost/own.json",
        "container.seccomp.security.alpha.platform.io/b": "unconfined",
        "container.seccomp.security.alpha.platform.io/c": "unconfined",
      };
      const seccompProfile = { type: "RuntimeDefault" };
      const three = [
        ...containers,
        { name: "b", image: "b" },
        { name: "c", image: "c", securityContext: { runAsUser: 1000, seccompProfile } },
      ];
      const { body } = await made(pods, pod("profiled", { containers: three }, annotations));
      expect(body.spec.securityContext).toEqual({ seccompProfile: { type: "RuntimeDefault" } });
      const profiles = body.spec.containers.map(
        (one: { securityContext: { seccompProfile: object } }) => one.securityContext.seccompProfile,
      );
      expect(profiles).toEqual([
        { type: "Localhost", localhostProfile: "own.json" },
        { type: "Unconfined" },
        seccompProfile,
      ]);
      expect(body.metadata.annotations).toMatchObject(annotations);
    },
  };

  test.each(rows.filter(([, one]) => !isGone(one)))(
    "C-9.2-09 %s is deprecated and still supported",
    async (name, behavior) => {
      expect(working).toHaveProperty(name);
      await working[name]!(behavior);
    },
  );

  test("a removed behavior is not supported: objects have no selfLink", async () => {
    expect(rows.filter(([, one]) => isGone(one)).map(([name]) => name)).toEqual(["selfLink"]);
    const selfLink = `${configMaps}/linked`;
    const { body } = await made(configMaps, { metadata: { name: "linked", selfLink } });
    expect(body.metadata).not.toHaveProperty("selfLink");
  });
});

test("docs/lifecycle.md lists every deprecated behavior", () => {
  const text = readFileSync(new URL("../../docs/lifecycle.md", import.meta.url), "utf8").replaceAll("`", "");
  for (const [, behavior] of rows) {
    const { what, deprecated, instead } = behavior;
    const lines = text.split("\n").map((line) => line.split("|").map((cell) => cell.trim()));
    const listed = lines.some((cells) => cells.slice(1, 4).join("|") === `${what}|${deprecated}|${instead}`);
    expect(listed, what).toBe(!isGone(behavior));
  }
});
