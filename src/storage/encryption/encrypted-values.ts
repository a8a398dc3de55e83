import { sharedKeyNames, type SharedValues } from "../shared-values.ts";
import {
  EncryptedValueError,
  EncryptionError,
  KeyServiceError,
  type CollectionCiphers,
} from "./value-cipher.ts";

/** An encrypted value is this mark, the label of its cipher, a line end and the encrypted bytes. No value in plain text begins so. */
const mark = Buffer.from("enc:");
const lineEnd = 0x0a;

/** Whether a stored value is encrypted. */
export function isSealedValue(stored: Buffer): boolean {
  return stored.subarray(0, mark.length).equals(mark);
}

/** Encrypts values that servers share. A value in plain text, of a time without encryption, can be read. */
export class EncryptedValues implements SharedValues {
  private ciphers: Omit<CollectionCiphers, "readsPlain"> = { writer: undefined, readers: [] };

  constructor(private readonly inner: SharedValues) {}

  /** Uses other ciphers from now on. */
  use(ciphers: CollectionCiphers): void {
    this.ciphers = ciphers;
  }

  async get(name: string): Promise<Buffer | undefined> {
    const stored = await this.inner.get(name);
    return stored === undefined ? undefined : this.open(name, stored);
  }

  async replace(name: string, before: Buffer | undefined, value: Buffer): Promise<Buffer> {
    let expected: Buffer | undefined;
    if (before !== undefined) {
      // Each encryption of a value has other bytes.
      expected = await this.inner.get(name);
      const current = expected && (await this.open(name, expected));
      if (current !== undefined && !current.equals(before)) return current;
    }
    return this.open(name, await this.inner.replace(name, expected, await this.seal(name, value)));
  }

  /**
   * Stores the keys of the servers again whose form isn't that of the current cipher, such as plain text or a former key.
   *
   * @throws {EncryptionError} one can't be decrypted.
   * @throws {StoreError}
   */
  async refresh(): Promise<void> {
    for (const name of sharedKeyNames) {
      const stored = await this.inner.get(name);
      if (stored === undefined || !this.isOutdated(stored)) continue;
      await this.inner.replace(name, stored, await this.seal(name, await this.open(name, stored)));
    }
  }

  private isOutdated(stored: Buffer): boolean {
    const { writer } = this.ciphers;
    if (!isSealedValue(stored)) return writer !== undefined;
    const { label, sealed } = partsOf(stored);
    return writer?.label !== label || writer.isOutdated?.(sealed) === true;
  }

  private async seal(name: string, plain: Buffer): Promise<Buffer> {
    const { writer } = this.ciphers;
    if (writer === undefined) return plain;
    const sealed = await writer.encrypt(plain, contextOf(name));
    return Buffer.concat([mark, Buffer.from(`${writer.label}\n`), sealed]);
  }

  private async open(name: string, stored: Buffer): Promise<Buffer> {
    if (!isSealedValue(stored)) return stored;
    const { label, sealed } = partsOf(stored);
    const reader = this.ciphers.readers.find((one) => one.label === label);
    const context = contextOf(name);
    if (reader === undefined)
      throw new EncryptedValueError(
        context,
        `no provider of the secrets has the key ${JSON.stringify(label)}`,
      );
    try {
      return await reader.decrypt(sealed, context);
    } catch (error) {
      if (error instanceof KeyServiceError || !(error instanceof EncryptionError)) throw error;
      throw new EncryptedValueError(context, error.message, error);
    }
  }
}

/** What ciphers authenticate beside a value; no key of an object is the same. */
function contextOf(name: string): string {
  return `shared/${name}`;
}

function partsOf(stored: Buffer): { readonly label: string; readonly sealed: Buffer } {
  const end = stored.indexOf(lineEnd);
  return {
    label: stored.toString("latin1", mark.length, end),
    sealed: stored.subarray(end + 1),
  };
}
