import { describe, expect, it } from "vitest";
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

describe("the path / for a browser, in the kubernetes vocabulary", () => {
  const server = useServer({ vocabulary: "kubernetes" });

  it("names kubectl as a client", async () => {
    const { text } = await server.admin.get("/", browser);
    expect(text).toContain(
      "kubernetes. kubectl, client libraries and operators of Kubernetes work unchanged",
    );
  });
});
