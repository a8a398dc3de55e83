import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serviceLimits } from "../../src/remote/remote-service.ts";
import { remoteService, type ConfiguredService } from "../../src/server/webhooks/remote-services.ts";
import { ManualClock, until } from "../api/support.ts";
import { clientConfiguration } from "../support/client-configuration.ts";
import { HttpsService, type Reply } from "../support/https-service.ts";

describe("5.7 a client configuration that changes while the server runs", () => {
  let folder: string;
  let clock: ManualClock;
  let asked: HttpsService;
  let service: ConfiguredService;
  let reply: () => Reply | Promise<Reply>;
  const logged: string[] = [];
  const file = (name: string) => path.join(folder, name);

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "plinth-rotation-"));
    clock = new ManualClock();
    logged.length = 0;
    reply = () => ({ body: {} });
    asked = await HttpsService.start(() => reply());
    const log = {
      info: () => undefined,
      warn: () => undefined,
      error: (facts: object, message: string) => void logged.push(`${message} ${JSON.stringify(facts)}`),
    };
    // The tests' hours are no reason to give an answer up.
    const limits = { ...serviceLimits, timeoutMs: 24 * 3_600_000 };
    service = await remoteService({ clock, log }, "--some-file", clientConfiguration(folder, asked), limits);
  });
  afterEach(async () => {
    await service.close();
    await asked.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const show = (name: string, of = asked) => {
    const { certificate, key } = of.clientCertificate(name);
    writeFileSync(file("client.pem"), certificate);
    writeFileSync(file("client.key"), key);
  };
  /** By which certificate the service is asked; nothing that is asked fails. */
  const shown = async () => {
    await service.post({});
    return asked.received.at(-1)!.client;
  };
  /** Lets the files be looked at, until something is so. */
  const looked = async (holds: () => Promise<boolean> | boolean) => {
    do await clock.advance(10_000);
    while (!(await holds()));
  };

  it("a new certificate and key are used, and running requests are completed", async () => {
    expect(await shown()).toBe("plinth");
    let answer: (reply: Reply) => void = () => undefined;
    reply = () => new Promise((resolve) => (answer = resolve));
    const underWay = service.post({ early: true });
    await until(
      () => asked.received.length,
      (count) => count === 2,
    );
    const held = answer;
    reply = () => ({ body: {} });
    show("second");
    await looked(async () => (await shown()) === "second");
    held({ body: { late: true } });
    expect(await underWay).toEqual({ late: true });
    expect(asked.received[1]!.client).toBe("plinth");
    expect(logged).toEqual([]);
  });

  it("files that don't match have no effect until they match", async () => {
    const { certificate, key } = asked.clientCertificate("second");
    writeFileSync(file("client.pem"), certificate);
    await looked(() => logged.length > 0);
    expect(logged[0]).toContain("user.client-key: is not the key of user.client-certificate");
    expect(await shown()).toBe("plinth");
    writeFileSync(file("client.key"), key);
    await looked(async () => (await shown()) === "second");
    rmSync(file("client.pem"));
    await looked(() => logged.length > 1);
    expect(logged[1]).toContain("the file doesn't exist");
    expect(await shown()).toBe("second");
  });

  it("a new CA and a service with a certificate of it are used", async () => {
    const before = asked;
    asked = await HttpsService.start(() => reply());
    try {
      clientConfiguration(folder, asked, {
        cluster: { server: asked.url, "certificate-authority": "ca.pem" },
      });
      await looked(async () => {
        await service.post({});
        return asked.received.length > 0;
      });
      expect(asked.received[0]!.client).toBe("plinth");
    } finally {
      await before.close();
    }
  });

  it("files that a changed configuration names are watched too", async () => {
    const { certificate, key } = asked.clientCertificate("second");
    writeFileSync(file("other.pem"), certificate);
    writeFileSync(file("other.key"), key);
    const user = { "client-certificate": "other.pem", "client-key": "other.key" };
    clientConfiguration(folder, asked, { user });
    await looked(async () => (await shown()) === "second");
    const third = asked.clientCertificate("third");
    writeFileSync(file("other.pem"), third.certificate);
    writeFileSync(file("other.key"), third.key);
    await looked(async () => (await shown()) === "third");
  });
});
