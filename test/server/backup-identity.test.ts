import { copyFileSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterEach, describe, expect, it, onTestFinished } from "vitest";
import { readAsAdministrator } from "../support/administrator.ts";
import { plinth } from "../support/process.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { plinthHere } from "../support/program-here.ts";
import { ServerHere } from "../support/server-here.ts";

const accounts = "/api/v1/namespaces/default/serviceaccounts";

describe("plinth backup and restore", () => {
  const servers: ServerHere[] = [];
  const folder = temporaryFolder();
  const at = (name: string) => path.join(folder.path, name);
  afterEach(async () => {
    for (const server of servers.splice(0)) await server.stop();
    folder.remove();
  });

  async function serve(dir: string, ...flags: readonly string[]): Promise<ServerHere> {
    const tokens = at("tokens.csv");
    writeFileSync(tokens, "t,root,1,system:masters\n", { mode: 0o600 });
    const server = await ServerHere.start(dir, `--token-auth-file=${tokens}`, ...flags);
    servers.push(server);
    return server;
  }

  it("keep who is who: clients, tokens and kubeconfigs of before are good at the restored server", async () => {
    const kubernetes = "--vocabulary=kubernetes";
    const first = await serve(at("first"), kubernetes);
    const admin = first.as("t");
    expect((await admin.post(accounts, { metadata: { name: "robot" } })).status).toBe(201);
    const { body } = await admin.post(`${accounts}/robot/token`, { spec: {} });
    const { token } = (body as { status: { token: string } }).status;
    copyFileSync(first.administrator, at("old.kubeconfig"));
    const backup = plinth("backup", `--data-dir=${at("first")}`, `--to=${at("backup")}`);
    expect(backup.stdout).toMatch(
      /^backed up revision \d+ to .*: the objects, and the server's authority and keys \(pki\/ca\.crt, .*service-accounts\.key\)\nit holds secrets: /,
    );
    expect(backup.code).toBe(0);
    await first.stop();

    const restore = await plinthHere("restore", `--from=${at("backup")}`, `--data-dir=${at("second")}`);
    expect(restore.stdout).toContain(
      `start it with: plinth serve --data-dir=${at("second")} --vocabulary=kubernetes\n`,
    );
    expect(restore.code).toBe(0);
    for (const dir of ["backup/pki", "second/pki", "second/store"]) {
      expect(statSync(at(dir)).mode & 0o777, dir).toBe(0o700);
      for (const file of readdirSync(at(dir)))
        expect(statSync(at(`${dir}/${file}`)).mode & 0o077, file).toBe(0);
    }
    for (const file of readdirSync(at("first/pki")))
      expect(readFileSync(at(`second/pki/${file}`)), file).toEqual(readFileSync(at(`first/pki/${file}`)));

    const second = await serve(at("second"), kubernetes, `--secure-port=${new URL(first.url).port}`);
    expect(second.url).toBe(first.url);
    expect(await readAsAdministrator(at("old.kubeconfig"), `${accounts}/robot`)).toBe(200);
    // The account is recognized, though it may do nothing.
    const robot = await second.as(token).get(accounts);
    expect(robot.status).toBe(403);
    expect(robot.text).toContain("system:serviceaccount:default:robot");
    expect(second.log()).toBe("");
  });
});

it("plinth backup of a server without an embedded store names the programs that back up the other stores", async () => {
  const folder = temporaryFolder();
  onTestFinished(folder.remove);
  const at = (name: string) => path.join(folder.path, name);
  await (await ServerHere.start(at("memory"), "--storage-backend=memory")).stop();
  const { code, stderr } = await plinthHere("backup", `--data-dir=${at("memory")}`, `--to=${at("copy")}`);
  expect(code).toBe(2);
  expect(stderr).toMatch(
    /^plinth: --data-dir \S+: its server keeps the objects in etcd, PostgreSQL or memory; /,
  );
  expect(stderr).toMatch(/etcdctl snapshot save .* pg_dump .* docs\/recovery\.md/);
  const none = await plinthHere("backup", `--data-dir=${at("none")}`, `--to=${at("copy")}`);
  expect(none.stderr).toContain("there is no store in it; name the data folder of a server");
});
