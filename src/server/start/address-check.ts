import { createServer, type AddressInfo } from "node:net";

/**
 * Opens the address of a server and closes it again, so that an address that can't be used is known before anything is written or a
 * leader is elected.
 *
 * @param port 0 for any free port.
 * @returns the port, which was free a moment ago.
 * @throws {NodeJS.ErrnoException} as the listener: EADDRINUSE, EADDRNOTAVAIL, EACCES.
 */
export async function checkAddress(host: string, port: number): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once("error", reject);
    probe.listen({ host, port, exclusive: true }, resolve);
  });
  const { port: opened } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return opened;
}
