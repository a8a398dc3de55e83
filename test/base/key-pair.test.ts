import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { generateEcKeyPair } from "../../src/base/certificates/key-pair.ts";
import { typeScript } from "../support/root.ts";

test("a generated key is one of the curve P-256 with its public key", () => {
  const { privateKey, publicKey } = generateEcKeyPair();
  const { crv, x, y } = privateKey.export({ format: "jwk" });
  expect(publicKey.export({ format: "jwk" })).toEqual({ kty: "EC", crv: "P-256", x, y });
  expect(crv).toBe("P-256");
});

test("garbage collection during the export of a generated key doesn't block the process", async () => {
  const file = new URL("../../src/base/certificates/key-pair.ts", import.meta.url);
  const script = `
    const { generateEcKeyPair } = await import(${JSON.stringify(file.href)});
    for (let n = 0; n < 50; n++) {
      const { publicKey } = generateEcKeyPair();
      for (let i = 0; i < 500; i++) publicKey.export({ format: "jwk" });
    }
    console.log("done");`;
  // A small young generation is collected often.
  const args = ["--max-semi-space-size=1", ...typeScript, "--input-type=module"];
  const options = { timeout: 30_000, killSignal: "SIGKILL" } as const;
  const { stdout } = await promisify(execFile)(process.execPath, [...args, "-e", script], options);
  expect(stdout).toBe("done\n");
});
