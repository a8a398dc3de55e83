import { writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ServerHere } from "../support/server-here.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { useServer } from "../support/use-server.ts";

const browser = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

describe("the path / for a browser", () => {
  const server = useServer();

  it("answers a page that names the vocabulary and links to documents of the server", async () => {
    const { status, headers, text } = await server.admin.get("/", browser);
    expect([status, headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    expect(text).toContain("<title>Plinth</title>");
    expect(text).toContain("platform. This vocabulary has its own names.");
    const links = [...text.matchAll(/href="([^"]+)"/g)].map(([, path]) => path!);
    expect(links.length).toBeGreaterThan(3);
    for (const path of links) expect((await server.admin.get(path)).status, path).toBe(200);
  });

  it("answers the same page with status 403 without credentials, and 401 with wrong ones", async () => {
    const anonymous = await server.as(undefined).get("/", browser);
    expect([anonymous.status, anonymous.headers["content-type"]]).toEqual([403, "text/html; charset=utf-8"]);
    expect(anonymous.text).toContain("Your browser sent no credentials that this server accepts");
    const wrong = await server.as("wrong").get("/", browser);
    expect([wrong.status, wrong.headers["content-type"]]).toEqual([401, "text/html; charset=utf-8"]);
  });

  it("says what an anonymous visitor may do, and not where the data is", async () => {
    const { text } = await server.as(undefined).get("/", browser);
    expect(text).toContain("In all namespaces you may:");
    expect(text).toMatch(/<li><code>get: .*\/healthz.*<\/code><\/li>/);
    expect(text).toContain("An administrator issues them");
    expect(text).not.toContain("/console/");
  });

  it("runs no scripts and loads nothing from elsewhere", async () => {
    const { text } = await server.admin.get("/", browser);
    expect(text).toContain(`content="default-src 'none'; style-src 'unsafe-inline'"`);
    expect(text).not.toMatch(/<script|src=|https?:\/\//);
  });

  it.each([undefined, "*/*", "application/json", "text/html;q=0, application/json"])(
    "is a list of paths in JSON for the Accept header %j",
    async (accept) => {
      const headers = accept === undefined ? {} : { accept };
      const { status, body } = await server.admin.get("/", headers);
      expect([status, (body as { paths: string[] }).paths.includes("/apis")]).toEqual([200, true]);
    },
  );

  it("is the only path with a page: errors of others stay Status objects", async () => {
    const { status, body } = await server.as(undefined).get("/api/v1/pods", browser);
    expect([status, (body as { kind: string }).kind]).toEqual([403, "Status"]);
  });
});

describe("the path / for a browser, on a server with console and data folder", () => {
  const folder = temporaryFolder();
  let server: ServerHere;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = path.join(folder.path, "da<ta");
    const tokens = path.join(folder.path, "tokens.csv");
    const lines = ["admin-token,root,1,system:masters", "ann-token,<b>ann</b>,2", "all-token,all,3"];
    writeFileSync(tokens, `${lines.join("\n")}\n`);
    server = await ServerHere.start(dataDir, `--token-auth-file=${tokens}`);
    const bindings = "/apis/rbac.authorization.platform.io/v1/clusterrolebindings";
    const bind = (name: string, role: string, user: string) =>
      server.as("admin-token").post(bindings, {
        metadata: { name },
        roleRef: { apiGroup: "rbac.authorization.platform.io", kind: "ClusterRole", name: role },
        subjects: [{ kind: "User", apiGroup: "rbac.authorization.platform.io", name: user }],
      });
    expect((await bind("all", "cluster-admin", "all")).status).toBe(201);
    expect((await bind("view", "view", "<b>ann</b>")).status).toBe(201);
  });
  afterAll(async () => {
    await server.stop();
    folder.remove();
  });

  it.each(["admin-token", "all-token"])(
    "names the data folder to %s, who may do everything",
    async (token) => {
      const { status, text } = await server.as(token).get("/", browser);
      expect(status).toBe(200);
      expect(text).toContain("You may do everything.");
      expect(text).toContain(`The data folder is <code>${dataDir.replace("<", "&lt;")}</code>.`);
      expect(text).toContain('<a href="/console/">');
    },
  );

  it("says to a user what they may do, as text, and not where the data is", async () => {
    const { status, text } = await server.as("ann-token").get("/", browser);
    expect(status).toBe(403);
    expect(text).toContain("You are <code>&lt;b&gt;ann&lt;/b&gt;</code>.");
    expect(text).toMatch(/<li><code>get, list, watch: .*configmaps.*<\/code><\/li>/);
    expect(text).toContain('<a href="/console/">');
    expect(text).not.toContain(path.basename(folder.path));
    expect(text).not.toContain("<b>");
  });

  it("links the console for wrong credentials, without facts about a user", async () => {
    const { status, text } = await server.as("wrong").get("/", browser);
    expect(status).toBe(401);
    expect(text).toContain('<a href="/console/">');
    expect(text).not.toContain("you may:");
  });
});

describe("the path / for a browser, in the kubernetes vocabulary", () => {
  const server = useServer({ vocabulary: "kubernetes" });

  it("names kubectl as a client", async () => {
    const { text } = await server.admin.get("/", browser);
    expect(text).toContain(
      "kubernetes. kubectl, client libraries and operators of Kubernetes work unchanged",
    );
  });
});
