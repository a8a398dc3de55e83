import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EtcdServer, etcdMissing } from "../storage/etcd-server.ts";
import type { Answer, Api, Watching } from "../support/api.ts";
import { ServerProcess } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const deployments = "/apis/apps/v1/namespaces/default/deployments";
const authorizationGroup = "/apis/authorization.platform.io/v1";
const review = (kind: string, spec: object) => ({ kind, apiVersion: "authorization.platform.io/v1", spec });
const asked = { verb: "list", resource: "configmaps", namespace: "default" };
const apply = { contentType: "application/apply-patch+yaml" };
const map = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name } });
const container = { name: "c", image: "c" };
const template = { metadata: { labels: { app: "d" } }, spec: { containers: [container] } };
const deployment = { metadata: { name: "d" }, spec: { selector: { matchLabels: { app: "d" } }, template } };
const scale = { metadata: { name: "d", namespace: "default" }, spec: { replicas: 2 } };

/** Requests to a server; with the store available, the status of each is below 300. */
const requests: readonly { readonly what: string; ask(api: Api, guest: Api): Promise<Answer> }[] = [
  { what: "get", ask: (api) => api.get(`${maps}/kept`) },
  { what: "list", ask: (api) => api.get(maps) },
  { what: "list of everything", ask: (api) => api.get("/api/v1/secrets") },
  { what: "list in chunks", ask: (api) => api.get(`${maps}?limit=1`) },
  { what: "list by name", ask: (api) => api.get(`${maps}?fieldSelector=metadata.name%3Dkept`) },
  { what: "list not older than", ask: (api) => api.get(`${maps}?resourceVersion=1`) },
  {
    what: "table",
    ask: (api) => api.get(maps, { accept: "application/json;as=Table;v=v1;g=meta.platform.io" }),
  },
  { what: "create", ask: (api) => api.post(maps, { metadata: { generateName: "made-" } }) },
  { what: "dry run", ask: (api) => api.post(`${maps}?dryRun=All`, map("dry")) },
  { what: "update", ask: (api) => api.put(`${maps}/kept`, map("kept")) },
  { what: "merge patch", ask: (api) => api.patch(`${maps}/kept`, { data: { a: "1" } }) },
  { what: "strategic patch", ask: (api) => api.patch(`${maps}/kept`, { data: { a: "1" } }, "strategic") },
  {
    what: "JSON patch",
    ask: (api) => api.patch(`${maps}/kept`, [{ op: "add", path: "/data", value: {} }], "json"),
  },
  {
    what: "apply",
    ask: (api) =>
      api.ask("PATCH", `${maps}/applied?fieldManager=test&force=true`, { ...apply, body: map("applied") }),
  },
  { what: "read of a subresource", ask: (api) => api.get(`${deployments}/d/scale`) },
  { what: "write of a subresource", ask: (api) => api.put(`${deployments}/d/scale`, scale) },
  { what: "delete", ask: (api) => api.post(maps, map("gone")).then(() => api.delete(`${maps}/gone`)) },
  { what: "delete of a collection", ask: (api) => api.delete(`${maps}?labelSelector=nobody%3Dhas`) },
  {
    what: "review of oneself",
    ask: (_, guest) =>
      guest.post(
        `${authorizationGroup}/selfsubjectaccessreviews`,
        review("SelfSubjectAccessReview", { resourceAttributes: asked }),
      ),
  },
  {
    what: "review of another",
    ask: (api) =>
      api.post(
        `${authorizationGroup}/subjectaccessreviews`,
        review("SubjectAccessReview", { user: "guest", resourceAttributes: asked }),
      ),
  },
  {
    what: "review of rules",
    ask: (_, guest) =>
      guest.post(
        `${authorizationGroup}/selfsubjectrulesreviews`,
        review("SelfSubjectRulesReview", { namespace: "default" }),
      ),
  },
];

/** Paths of health checks and of requests that need no store; they respond whatever the store's state is. */
const checks = ["/readyz", "/livez", "/healthz"];
const storeless = ["/version", "/api", "/apis", "/openapi/v2", "/metrics"];

/** Longer than any timeout in the server, and shorter than a client's timeout. */
const boundMs = 40_000;

interface Timed {
  readonly what: string;
  readonly answer: Answer;
  readonly ms: number;
}

async function timed(what: string, asking: Promise<Answer>): Promise<Timed> {
  const start = performance.now();
  const answer = await asking;
  return { what, answer, ms: performance.now() - start };
}

describe.skipIf(etcdMissing !== undefined)(
  `the store goes away and comes back (${etcdMissing ?? ""})`,
  () => {
    const folder = temporaryFolder();
    let etcd: EtcdServer;
    let server: ServerProcess;
    let admin: Api;
    let guest: Api;

    beforeAll(async () => {
      etcd = await EtcdServer.start();
      const tokens = path.join(folder.path, "tokens.csv");
      writeFileSync(tokens, "admin,root,1,system:masters\nguest,guest,2\n");
      const flags = [`--token-auth-file=${tokens}`, `--etcd-servers=${etcd.endpoint}`];
      server = await ServerProcess.start(path.join(folder.path, "data"), ...flags);
      admin = server.as("admin");
      guest = server.as("guest");
      const made = [await admin.post(maps, map("kept")), await admin.post(deployments, deployment)];
      expect(made.map(({ status }) => status)).toEqual([201, 201]);
    });
    afterAll(async () => {
      etcd?.thaw();
      await server?.stop();
      await etcd?.dispose();
      folder.remove();
    });

    async function expectAllToFail(): Promise<void> {
      const answers = await Promise.all([
        ...requests.map(({ what, ask }) => timed(what, ask(admin, guest))),
        timed("watch", admin.get(`${maps}?watch=true&resourceVersion=1`)),
        timed("decision about a guest", guest.get(maps)),
        ...checks.map((one) => timed(one, admin.get(one))),
      ]);
      for (const { what, answer, ms } of answers) {
        expect(ms, what).toBeLessThan(boundMs);
        if (checks.includes(what)) {
          expect([what, answer.status]).toEqual([what, 500]);
          expect(answer.text).toContain("[-]store failed");
        } else {
          expect([what, [503, 504].includes(answer.status), answer.status]).toEqual([
            what,
            true,
            answer.status,
          ]);
          expect(answer.body.message, what).toMatch(/the store/);
        }
      }
      for (const one of storeless) expect([one, (await admin.get(one)).status]).toEqual([one, 200]);
    }

    /** Expects that all requests succeed, after the server had time to reconnect to the store. */
    async function expectAllToWork(): Promise<void> {
      const deadline = performance.now() + boundMs;
      while ((await admin.get("/readyz")).status !== 200) expect(performance.now()).toBeLessThan(deadline);
      for (const { what, ask } of requests) {
        const { status, text } = await ask(admin, guest);
        expect([what, status < 300, text.slice(0, 300)]).toEqual([what, true, text.slice(0, 300)]);
      }
      expect((await guest.get(maps)).status).toBe(403);
      const watch = await admin.watch(`${maps}?fieldSelector=metadata.name%3Dkept`);
      expect((await watch.next()).type).toBe("ADDED");
      watch.close();
      for (const one of checks) expect([one, (await admin.get(one)).status]).toEqual([one, 200]);
    }

    /** Expects that an open watch continues or was ended with a reason. */
    async function expectNoSilence(open: Watching): Promise<void> {
      const name = `after-${performance.now().toFixed(0)}`;
      expect((await admin.post(maps, map(name))).status).toBe(201);
      const frames = open.ended
        ? await open.toEnd()
        : await open.through(({ type, object }) => type === "ERROR" || object.metadata.name === name);
      const last = frames.at(-1)!;
      expect(last.type === "ERROR" || last.object.metadata.name === name).toBe(true);
      open.close();
    }

    it("before the first list: each request fails with a reason, the server survives, and all works again", async () => {
      // The first list of this process happens while the store is away.
      await etcd.kill();
      await expectAllToFail();
      await etcd.run();
      await expectAllToWork();
    });

    it("frozen with an open watch: each request fails with a reason, and all works again", async () => {
      const open = await admin.watch(maps);
      etcd.freeze();
      await expectAllToFail();
      etcd.thaw();
      await expectAllToWork();
      await expectNoSilence(open);
    });

    it("killed with an open watch: each request fails with a reason, and all works again", async () => {
      const open = await admin.watch(maps);
      await etcd.kill();
      await expectAllToFail();
      await etcd.run();
      await expectAllToWork();
      await expectNoSilence(open);
    });
  },
);
