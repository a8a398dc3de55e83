import { readFile } from "node:fs/promises";
import path from "node:path";
import { connect } from "node:tls";
import { peerTrust } from "../../base/certificates/peer-trust.ts";

/** Returns the path of the administrator's kubeconfig in a data folder. */
export function administratorFile(dataDir: string): string {
  return path.join(dataDir, "admin.kubeconfig");
}

/** As {@link administratorFile}, for a second server with the same data folder. */
export function administratorFileBeside(dataDir: string, url: string): string {
  return path.join(dataDir, `admin-${new URL(url).port || "443"}.kubeconfig`);
}

/** Whether the kubeconfig is of a running server; false if the file doesn't exist. */
export async function isOfRunningServer(file: string): Promise<boolean> {
  const cluster = clusterOf(await readIfExists(file));
  return cluster !== undefined && isRunning(cluster);
}

interface Cluster {
  readonly server: string;
  readonly ca: Buffer | undefined;
}

async function readIfExists(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

/** Returns the cluster of a kubeconfig that a server wrote; undefined for any other text. */
function clusterOf(text: string): Cluster | undefined {
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

/** Time limit of the handshake; a server that takes longer is busy or stopped, but counts as running. */
const handshakeMs = 1000;

/** Whether a server at the address has a certificate of the CA, or any certificate if the kubeconfig has no CA. */
function isRunning({ server, ca }: Cluster): Promise<boolean> {
  const { hostname, port } = new URL(server);
  const host = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(port || 443),
      ...peerTrust(ca),
      timeout: handshakeMs,
      // Only the CA is checked, not the name: an operator's certificate may be for other names than this address.
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
