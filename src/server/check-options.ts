import { isIP } from "node:net";
import { CertificateFault, checkHost } from "../base/certificates.ts";
import { isStore } from "../storage/guarded-store.ts";
import type { Store } from "../storage/store.ts";
import { defaultFlow, type FlowOptions } from "./flow-options.ts";
import { readOptionBytes } from "./option-files.ts";
import { OptionsError } from "./options-error.ts";
import type { ServerOptions, ServingOptions, StorageOptions } from "./options.ts";

/**
 * Checks what can be checked before anything is opened.
 *
 * @throws {OptionsError} which names the option, the value and what is wrong.
 */
export async function checkOptions(options: ServerOptions): Promise<void> {
  const { serving, advertiseAddress } = options;
  if (serving !== undefined) checkServing(serving);
  if (advertiseAddress !== undefined && isIP(advertiseAddress) === 0)
    throw new OptionsError(`--advertise-address: ${JSON.stringify(advertiseAddress)} is not an IP address`);
  checkFlowOptions(options.flow ?? defaultFlow);
  await checkStorage(options.storage);
}

function checkServing({ host, port, extraHosts }: ServingOptions): void {
  if (!Number.isInteger(port) || port < 0 || port > 65535)
    throw new OptionsError(`--secure-port: ${port} is not an integer from 0 to 65535`);
  checkName("--bind-address", host);
  for (const name of extraHosts) checkName("--tls-san", name);
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

async function checkStorage(storage: StorageOptions | Store): Promise<void> {
  if (isStore(storage) || storage.engine !== "etcd") return;
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

/** @throws {OptionsError} fairness without a seat to share. */
function checkFlowOptions({ fair, maxReading, maxChanging }: FlowOptions): void {
  if (!fair || maxReading + maxChanging > 0) return;
  throw new OptionsError(
    "--max-requests-inflight and --max-mutating-requests-inflight: with --enable-priority-and-fairness " +
      "one of them must be greater than 0",
  );
}
