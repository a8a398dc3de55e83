import { isIP } from "node:net";
import { CertificateFault, checkHost } from "../../base/certificates/serving-certificates.ts";
import { isStore } from "../../storage/guarded-store.ts";
import { databaseAddress } from "./database-address.ts";
import { readOptionBytes } from "./option-files.ts";
import { OptionsError } from "./options-error.ts";
import { checkSecretFiles } from "./secret-files.ts";
import type { ServerOptions } from "./server-options.ts";

/**
 * Checks options that need more than their own value, before anything is opened.
 *
 * @throws {OptionsError} which names the option, the value and the reason.
 */
export async function checkOptions(options: ServerOptions): Promise<void> {
  const { port, host, extraHosts, advertiseAddress, storage } = options;
  if (port !== false) {
    checkName("--bind-address", host);
    for (const name of extraHosts) checkName("--tls-san", name);
  }
  if (advertiseAddress !== undefined && isIP(advertiseAddress) === 0)
    throw new OptionsError(`--advertise-address: ${JSON.stringify(advertiseAddress)} is not an IP address`);
  await checkSecretFiles(options);
  await checkStorage(storage);
}

function checkName(flag: string, name: string): void {
  try {
    checkHost(name);
  } catch (error) {
    if (error instanceof CertificateFault) throw new OptionsError(`${flag}: ${error.message}`);
    throw error;
  }
}

const endpoint = /^(https?:\/\/)?(\[[^\]]+\]|[^:/\s]+):\d+\/?$/;

async function checkStorage(storage: ServerOptions["storage"]): Promise<void> {
  if (isStore(storage)) return;
  if (storage.engine === "postgres") return void (await databaseAddress(storage));
  if (storage.engine !== "etcd") return;
  const { endpoints, caFile, certFile, keyFile } = storage;
  if (endpoints.length === 0) throw new OptionsError("--etcd-servers: at least one endpoint is needed");
  for (const one of endpoints) {
    if (endpoint.test(one)) continue;
    throw new OptionsError(
      `--etcd-servers: ${JSON.stringify(one)} is not http://HOST:PORT or https://HOST:PORT`,
    );
  }
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new OptionsError("--etcd-certfile and --etcd-keyfile are given together or not at all");
  const files = { "--etcd-cafile": caFile, "--etcd-certfile": certFile, "--etcd-keyfile": keyFile };
  for (const [flag, file] of Object.entries(files)) {
    if (file !== undefined) await readOptionBytes(flag, file);
  }
}
