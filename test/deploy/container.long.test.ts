import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { serveFlags } from "../../src/cli/flags/flags.ts";
import { packPackage } from "../package/installed-package.ts";
import { Api } from "../support/api.ts";
import { freePort, root } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { Image } from "./container.ts";
import { healthCommandOf, lastOf, parseContainerfile, variablesOf } from "./containerfile.ts";

const stages = parseContainerfile(readFileSync(path.join(root, "deploy/container/Containerfile"), "utf8"));
const final = stages.at(-1)!;
const steps = stages.flat();

describe("the Containerfile", () => {
  it("names base images with a full version", () => {
    const images = stages.map(([from]) => from!.words[0]!);
    expect(images.length).toBe(2);
    expect(
      images.filter((image) => !/^docker\.io\/library\/node:\d+\.\d+\.\d+-[a-z-]+$/.test(image)),
    ).toEqual([]);
  });

  it("copies the packed package and nothing else from the context, and downloads no files itself", () => {
    const copied = steps.filter(({ name, options }) => name === "COPY" && options["from"] === undefined);
    expect(copied.map(({ words }) => words[0])).toEqual(["plinth-*.tgz"]);
    expect(steps.filter(({ name, text }) => name === "ADD" || /https?:|curl|wget/.test(text))).toEqual([]);
  });

  it("ends with a numeric user who isn't root, and commands in exec form", () => {
    expect(lastOf(final, "USER").text).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    for (const name of ["ENTRYPOINT", "CMD"]) expect(lastOf(final, name).text).toMatch(/^\[/);
    expect(healthCommandOf(final)[0]).toBe("plinth");
    expect(lastOf(final, "STOPSIGNAL").text).toBe("SIGTERM");
  });

  it("sets existing flags, refuses anonymous requests, and has no secrets", () => {
    const variables = new Map(variablesOf(final));
    const flags = new Set(serveFlags.map(({ name }) => `PLINTH_${name.toUpperCase().replaceAll("-", "_")}`));
    const own = [...variables.keys()].filter((name) => name.startsWith("PLINTH_"));
    expect(own.filter((name) => !flags.has(name))).toEqual([]);
    expect(variables.get("PLINTH_ANONYMOUS_AUTH")).toBe("false");
    expect(steps.filter(({ text }) => /token|password|secret|npmrc/i.test(text))).toEqual([]);
  });
});

it("the image serves as a user without rights, writes to its volume only, and its health check follows the server", async (context) => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  chmodSync(folder.path, 0o755);
  const files = path.join(folder.path, "context");
  mkdirSync(files);
  packPackage(files);
  let image: Image;
  try {
    image = new Image(stages, files, folder.path);
  } catch (error) {
    if (/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH/.test(String(error)))
      return context.skip("the registry can't be reached");
    throw error;
  }
  onTestFinished(() => image.close());
  const before = image.files();
  expect(image.checkHealth()).toMatchObject({ code: 1, output: expect.stringContaining("doesn't exist") });
  expect(image.run(["sh", "-c", "echo > /opt/plinth/file"])).toMatchObject({
    code: 2,
    output: expect.stringContaining("Permission denied"),
  });
  const port = await freePort();
  const server = image.start("serve", `--secure-port=${port}`);
  let log = "";
  server.stderr!.on("data", (chunk: Buffer) => (log += chunk.toString()));
  onTestFinished(() => void server.kill("SIGKILL"));
  expect([image.run(["plinth", "ready", "--data-dir=/data"]), log]).toEqual([
    { code: 0, output: "" },
    expect.not.stringContaining('"level":50'),
  ]);
  expect(image.checkHealth()).toEqual({ code: 0, output: "" });
  const anonymous = new Api(
    `https://127.0.0.1:${port}`,
    readFileSync(image.at("data/pki/ca.crt"), "utf8"),
    undefined,
  );
  expect((await anonymous.get("/readyz")).status).toBe(401);
  anonymous.close();
  const ended = once(server, "exit");
  server.kill(image.stopSignal);
  expect((await ended)[0]).toBe(0);
  expect(image.checkHealth()).toMatchObject({ code: 1, output: expect.stringContaining("ECONNREFUSED") });
  expect(image.files()).toEqual(before);
}, 180_000);
