import { connect as connectTcp, type Socket } from "node:net";
import { Duplex } from "node:stream";
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from "node:tls";
import type { Address } from "./plan.ts";

/** All connections read into the same buffer. */
const shared = Buffer.allocUnsafe(64 * 1024);
const contexts = new WeakMap<Address, SecureContext>();

/**
 * A connection over TLS with one request, whose response is decrypted only up to its head unless a reader is given. After that the
 * arriving bytes are counted and dropped, which takes a small part of the processor time and memory of reading them.
 */
export class SparseConnection {
  lost = false;

  private constructor(private readonly socket: Socket) {
    socket.once("close", () => (this.lost = true));
  }

  /**
   * Resolves when the head of a response with status 200 has arrived.
   *
   * @param arrived receives the bytes as they are on the wire.
   * @param read receives the decrypted bytes; undefined to drop them.
   */
  static open(
    address: Address,
    request: string,
    arrived: (bytes: Buffer) => void,
    read: ((bytes: Buffer) => void) | undefined,
  ): Promise<SparseConnection> {
    return new Promise((resolve, reject) => {
      let wire: Duplex | undefined;
      const { host, port } = address;
      const callback = (length: number): boolean => {
        const bytes = shared.subarray(0, length);
        arrived(bytes);
        wire?.push(Buffer.from(bytes));
        return true;
      };
      const socket = connectTcp({ host, port, noDelay: true, onread: { buffer: shared, callback } });
      wire = new Duplex({
        read: () => undefined,
        write: (chunk: Buffer, _encoding, done) => socket.write(chunk, done),
      });
      const fail = (error: Error): void => {
        socket.destroy();
        reject(error);
      };
      socket.once("error", fail);
      socket.once("close", () => reject(new Error("the server closed the connection")));
      const tls = connectTls({
        socket: wire,
        host,
        secureContext: contextOf(address),
        rejectUnauthorized: address.ca !== undefined,
        ...(/^[\d.:]+$/.test(host) ? {} : { servername: host }),
        ALPNProtocols: ["http/1.1"],
      });
      tls.on("error", fail);
      tls.once("secureConnect", () => tls.write(request));
      tls.once("data", (head: Buffer) => {
        if (head.toString("latin1", 9, 12) !== "200") {
          fail(new Error(`the watch was refused: ${head.toString("latin1", 0, 2000)}`));
          return;
        }
        if (read === undefined) wire = undefined;
        else startReading(tls, read, head);
        resolve(new SparseConnection(socket));
      });
    });
  }

  close(): void {
    this.socket.destroy();
  }
}

function startReading(tls: TLSSocket, read: (bytes: Buffer) => void, first: Buffer): void {
  tls.on("data", read);
  read(first);
}

function contextOf(address: Address): SecureContext {
  let context = contexts.get(address);
  if (context === undefined) {
    const { ca } = address;
    contexts.set(address, (context = createSecureContext(ca === undefined ? {} : { ca })));
  }
  return context;
}
