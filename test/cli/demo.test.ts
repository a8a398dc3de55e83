import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { effort } from "../support/effort.ts";
import { createServingCertificates } from "../../src/base/certificates/serving-certificates.ts";
import type { Finished } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plinthHere } from "../support/program-here.ts";
import { ServerHere } from "../support/server-here.ts";

const folder = temporaryFolder();
afterAll(() => folder.remove());

describe.each(effort(["platform"], ["platform", "kubernetes"]))(
  "plinth demo, with a server of the vocabulary %s",
  (vocabulary) => {
    let server: ServerHere;
    const run = (...words: readonly string[]) => plinthHere(...words, `--kubeconfig=${server.administrator}`);
    beforeAll(async () => {
      server = await ServerHere.start(path.join(folder.path, vocabulary), `--vocabulary=${vocabulary}`);
    });
    afterAll(() => server.stop());

    it("creates the objects of the example, finds them when it runs again, and suggests commands that have an answer", async () => {
      const first = await run("demo");
      expect([first.stderr, first.code]).toEqual(["", 0]);
      const created = /: (\d+) objects created, 0 existed\n/.exec(first.stdout)?.[1];
      expect(Number(created)).toBeGreaterThan(150);
      const second = await run("demo");
      expect(second.stdout).toContain(`: 0 objects created, ${created} existed\n`);
      const lines = second.stdout.matchAll(/^ {2}node \S+ (.+?) {2}/gm);
      const suggestions = [...lines].map(([, words]) => words!);
      expect(suggestions.length).toBe(5);
      const answers: Finished[] = [];
      for (const words of suggestions) {
        const withoutBrowser = words.startsWith("console") ? ["--open=false"] : [];
        answers.push(await plinthHere(...words.split(" "), ...withoutBrowser));
      }
      expect(answers.map(({ code, stderr }) => [code, stderr])).toEqual(answers.map(() => [0, ""]));
      expect(answers[0]!.stdout).toMatch(/^yes: devi/);
      expect(answers[1]!.stdout).toMatch(/^no: devi/);
      expect(answers[2]!.stdout).toContain("payments-operators");
      expect(answers[3]!.stdout).toContain("secrets");
      expect(answers[4]!.stdout).toContain("/console/#code=");
    });
  },
);

describe("plinth demo", () => {
  it("suggests no console to users of a server without one", async () => {
    const server = await ServerHere.start(path.join(folder.path, "plain"), "--console=false");
    try {
      const { code, stdout } = await plinthHere("demo", `--kubeconfig=${server.administrator}`);
      expect(code).toBe(0);
      expect(stdout).toContain("auth matrix");
      expect(stdout).not.toContain("console");
    } finally {
      await server.stop();
    }
  });

  it("writes nothing to a server that is not Plinth", async () => {
    const { caCertificate, serving } = createServingCertificates(["127.0.0.1"]);
    const requests: string[] = [];
    const other = createServer({ cert: serving.certificate, key: serving.key }, (request, response) => {
      requests.push(`${request.method} ${request.url}`);
      response.setHeader("content-type", "application/json");
      response.end('{"major": "1", "minor": "26", "gitVersion": "v1.26.15"}');
    });
    other.listen(0, "127.0.0.1");
    await once(other, "listening");
    try {
      const ca = path.join(folder.path, "ca.crt");
      writeFileSync(ca, caCertificate);
      const { port } = other.address() as AddressInfo;
      const words = ["demo", `--server=https://127.0.0.1:${port}`, `--ca=${ca}`];
      const { code, stderr } = await plinthHere(...words);
      expect(stderr).toBe("plinth: the server has version v1.26.15 and is not Plinth; nothing was written\n");
      expect(code).toBe(1);
      expect(requests).toEqual(["GET /version"]);
    } finally {
      other.close();
    }
  });
});
