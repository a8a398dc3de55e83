import { readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { connect } from "node:tls";
import { makeFolder } from "../base/folders.ts";
import { peerTrust } from "../base/certificates/peer-trust.ts";

/** Where the administrator's client configuration lies in a data folder. */
export function administratorFile(dataDir: string): string {
  return path.join(dataDir, "admin.kubeconfig");
}

/** As {@link administratorFile}, for a server beside another one over the same folder, which has that. */
export function administratorFileBeside(dataDir: string, url: string): string {
  return path.join(dataDir, `admin-${new URL(url).port || "443"}.kubeconfig`);
}

/** Whether a client configuration leads to a server that lives; false where there is none. */
export async function leadsToLivingServer(file: string): Promise<boolean> {
  const cluster = clusterIn(await textOf(file));
  return cluster !== undefined && lives(cluster);
}

/** Writes a file that only its owner may read, whole or not at all. */
export async function writePrivately(file: string, text: string): Promise<void> {
  makeFolder(path.dirname(file));
  const fresh = `${file}.${process.pid}.new`;
  try {
    await writeFile(fresh, text, { mode: 0o600 });
    await rename(fresh, file);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  }
}

interface Cluster {
  readonly server: string;
  readonly ca: Buffer | undefined;
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** The cluster of a configuration that a server wrote; undefined for any other text. */
function clusterIn(text: string): Cluster | undefined {
  interface Written {
    readonly clusters?: readonly {
      readonly cluster?: { readonly server?: unknown; readonly "certificate-authority-data"?: unknown };
    }[];
  }
  let written: Written | null;
  try {
    written = JSON.parse(text) as Written | null;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const { server, "certificate-authority-data": ca } = written?.clusters?.[0]?.cluster ?? {};
  if (typeof server !== "string" || !URL.canParse(server)) return undefined;
  return { server, ca: typeof ca === "string" ? Buffer.from(ca, "base64") : undefined };
}

/** How long a server may take for the handshake; one that takes longer is busy or stopped, but lives. */
const handshakeMs = 1000;

/** Whether a server answers under the address that shows a certificate of the authority, or any where none is known. */
function lives({ server, ca }: Cluster): Promise<boolean> {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      ...peerTrust(ca),
      timeout: handshakeMs,
      // Which authority has signed is enough: an operator's certificate may be for other names than this address.
      rejectUnauthorized: ca !== undefined,
      checkServerIdentity: () => undefined,
    });
    const done = (alive: boolean) => {
      socket.destroy();
      resolve(alive);
    };
    socket.once("secureConnect", () => done(true));
    socket.once("timeout", () => done(true));
    socket.once("error", () => done(false));
  });
}
