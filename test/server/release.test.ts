import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { createServer } from "../../src/index.ts";
import { releases } from "../../src/base/releases.ts";
import { TestServer } from "../support/api.ts";

describe.each(releases)("a server of release %s", (release) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await TestServer.start({ release, vocabulary: "kubernetes" });
  });
  afterAll(() => server.close());

  it("reports the release", async () => {
    const [major, minor] = release.split(".");
    const { body } = await server.admin.get("/version");
    expect(body).toMatchObject({ major, minor, gitVersion: `v${release}.0+plinth` });
    expect((await server.admin.get("/openapi/v2")).body["info"].version).toBe(`v${release}.0+plinth`);
    const { text } = await server.admin.get("/metrics");
    expect(text).toContain(
      `kubernetes_build_info{major="${major}",minor="${minor}",git_version="v${release}.0+plinth"`,
    );
  });

  it("serves no version that the release has removed", async () => {
    const { body } = await server.admin.get("/apis/flowcontrol.apiserver.k8s.io");
    const versions =
      (body["versions"] as { version: string }[] | undefined)?.map(({ version }) => version) ?? [];
    const minor = Number(release.split(".")[1]);
    expect(versions.includes("v1beta2")).toBe(minor < 29);
    expect(versions.includes("v1beta3")).toBe(minor < 32);
  });
});

test("an unknown release is refused with the known ones", async () => {
  await expect(createServer({ release: "1.25" as "1.26" })).rejects.toThrow(/release.*1\.25.*1\.26.*1\.37/s);
});
