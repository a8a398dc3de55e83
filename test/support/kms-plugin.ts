import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { Server, ServerCredentials, status, type sendUnaryData, type ServerUnaryCall } from "@grpc/grpc-js";

export type KmsMethod = "Status" | "Version" | "Encrypt" | "Decrypt";

/** An answer in protobuf, or the error that the call fails with; undefined gives no answer at all. */
type KmsAnswer = Buffer | { readonly code: status; readonly details: string } | undefined;

const annotation = ["form.plugin.example.com", "1"] as const;

/** A plugin of a key management service (v2, or v1) on a Unix socket. Its keys are derived from their identifiers, so it can be started again. */
export class KmsPlugin {
  keyId = "key-1";
  healthz = "ok";
  version = "v2";
  readonly calls: KmsMethod[] = [];
  /** Replaces answers. */
  replace: ((method: KmsMethod, answer: KmsAnswer) => KmsAnswer | Promise<KmsAnswer>) | undefined;
  private server: Server | undefined;

  private constructor(
    readonly socket: string,
    private readonly protocol: "v1" | "v2",
  ) {}

  /** @param socket path of the socket. */
  static async start(socket: string, protocol: "v1" | "v2" = "v2"): Promise<KmsPlugin> {
    const plugin = new KmsPlugin(socket, protocol);
    await plugin.listen();
    return plugin;
  }

  get endpoint(): string {
    return `unix://${this.socket}`;
  }

  /** Begins to listen, also again after {@link stop}. */
  async listen(): Promise<void> {
    const server = new Server();
    const asIs = (bytes: Buffer) => bytes;
    const methods =
      this.protocol === "v2"
        ? { Status: this.status, Encrypt: this.encrypt, Decrypt: this.decrypt }
        : { Version: this.status, Encrypt: this.encryptV1, Decrypt: this.decryptV1 };
    for (const [name, answer] of Object.entries<(request: Buffer) => KmsAnswer>(methods)) {
      const path = `/${this.protocol === "v2" ? "v2" : "v1beta1"}.KeyManagementService/${name}`;
      const handle = (call: ServerUnaryCall<Buffer, Buffer>, done: sendUnaryData<Buffer>) =>
        void this.answer(name as KmsMethod, answer(call.request), done);
      server.register(path, handle, asIs, asIs, "unary");
    }
    await new Promise<void>((resolve, reject) => {
      const bound = (error: Error | null) => (error === null ? resolve() : reject(error));
      server.bindAsync(`unix:${this.socket}`, ServerCredentials.createInsecure(), bound);
    });
    this.server = server;
  }

  /** Ends its connections, and listens no longer. */
  stop(): void {
    this.server?.forceShutdown();
    this.server = undefined;
    rmSync(this.socket, { force: true });
  }

  /** How often a method was called. */
  count(method: KmsMethod): number {
    return this.calls.filter((one) => one === method).length;
  }

  private async answer(method: KmsMethod, answer: KmsAnswer, done: sendUnaryData<Buffer>): Promise<void> {
    this.calls.push(method);
    const sent = this.replace === undefined ? answer : await this.replace(method, answer);
    if (Buffer.isBuffer(sent)) done(null, sent);
    else if (sent !== undefined) done(sent, null);
  }

  private readonly status = (): Buffer =>
    message((writer) => {
      writer.tag(1, 2).string(this.version);
      writer.tag(2, 2).string(this.healthz);
      writer.tag(3, 2).string(this.keyId);
    });

  /** Version 1 names no key, so the plugin has one. */
  private readonly encryptV1 = (request: Buffer): Buffer => {
    const sealed = seal("only", read(request).fields.get(2)!);
    return message((writer) => writer.tag(1, 2).bytes(sealed));
  };

  private readonly decryptV1 = (request: Buffer): KmsAnswer => {
    const text = open("only", read(request).fields.get(2)!);
    if (text === undefined) return refused("the ciphertext is damaged");
    return message((writer) => writer.tag(1, 2).bytes(text));
  };

  private readonly encrypt = (request: Buffer): Buffer => {
    const { fields } = read(request);
    const sealed = seal(this.keyId, fields.get(1)!);
    return message((writer) => {
      writer.tag(1, 2).bytes(sealed);
      writer.tag(2, 2).string(this.keyId);
      writer.tag(3, 2).fork();
      writer.tag(1, 2).string(annotation[0]);
      writer.tag(2, 2).bytes(Buffer.from(annotation[1]));
      writer.join();
    });
  };

  private readonly decrypt = (request: Buffer): KmsAnswer => {
    const { fields, annotations } = read(request);
    if (annotations.get(annotation[0]) !== annotation[1]) return refused("no annotation");
    const text = open(fields.get(3)!.toString(), fields.get(1)!);
    if (text === undefined) return refused("the ciphertext is damaged");
    return message((writer) => writer.tag(1, 2).bytes(text));
  };
}

const refused = (details: string) => ({ code: status.INVALID_ARGUMENT, details });

function seal(keyId: string, plain: Buffer): Buffer {
  const nonce = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", keyOf(keyId), nonce);
  const text = Buffer.concat([cipher.update(plain), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), text]);
}

/** Returns the plain text; undefined if the bytes are damaged. */
function open(keyId: string, sealed: Buffer): Buffer | undefined {
  const decipher = createDecipheriv("aes-256-gcm", keyOf(keyId), sealed.subarray(0, 12));
  decipher.setAuthTag(sealed.subarray(12, 28));
  const text = decipher.update(sealed.subarray(28));
  try {
    decipher.final();
    return text;
  } catch {
    return undefined;
  }
}

function keyOf(keyId: string): Buffer {
  return createHash("sha256").update(keyId).digest();
}

/** Encodes a message. */
export function message(write: (writer: BinaryWriter) => void): Buffer {
  const writer = new BinaryWriter();
  write(writer);
  return Buffer.from(writer.finish());
}

function read(bytes: Uint8Array): { fields: Map<number, Buffer>; annotations: Map<string, string> } {
  const fields = new Map<number, Buffer>();
  const annotations = new Map<string, string>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [field] = reader.tag();
    const value = Buffer.from(reader.bytes());
    if (field === 4) {
      const entry = read(value).fields;
      annotations.set(entry.get(1)!.toString(), entry.get(2)!.toString());
    } else fields.set(field, value);
  }
  return { fields, annotations };
}
