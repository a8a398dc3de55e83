// `X509Certificate.toLegacyObject` leaves this module incomplete for the process if it is the first that loads it.
import "node:tls";
import { X509Certificate } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import * as der from "../../src/base/certificates/der.ts";
import { readSubject, SubjectFault } from "../../src/base/certificates/subject-name.ts";
import { signBody } from "../../src/base/certificates/x509.ts";
import { newKeys } from "../support/certificate-request.ts";

const commonName = der.objectIdentifier("2.5.4.3");
const organization = der.objectIdentifier("2.5.4.10");
const attribute = (type: Buffer, value: Buffer): Buffer => der.sequence(type, value);
const subject = (...sets: readonly Buffer[]): Buffer => der.sequence(...sets);
const text = (tag: number, content: string | Buffer): Buffer =>
  der.element(tag, Buffer.from(content as string));
const organizationsOf = (value: Buffer): readonly string[] =>
  readSubject(subject(der.set(attribute(organization, value)))).organizations;
const utf16 = (content: string) => Buffer.from(content, "utf16le").swap16();

describe("readSubject", () => {
  test.each<[string, Buffer, string]>([
    ["UTF8String", text(0x0c, "größe"), "größe"],
    ["NumericString", text(0x12, "1 2"), "1 2"],
    ["PrintableString", text(0x13, "a-b c:d*&"), "a-b c:d*&"],
    ["TeletexString", text(0x14, Buffer.of(0x41, 0xe9)), "Aé"],
    ["IA5String", text(0x16, "a@b_c"), "a@b_c"],
    ["BMPString", text(0x1e, utf16("größe")), "größe"],
    ["an empty text", text(0x0c, ""), ""],
  ])("returns the text of a %s", (_, value, expected) => {
    expect(organizationsOf(value)).toEqual([expected]);
  });

  test.each<[string, Buffer, RegExp]>([
    ["a NumericString of letters", text(0x12, "system:masters"), /not a valid NumericString/],
    ["a PrintableString with an underscore", text(0x13, "a_b"), /not a valid PrintableString/],
    ["an IA5String beyond ASCII", text(0x16, Buffer.of(0xe9)), /not a valid IA5String/],
    ["a UTF8String with a lone byte", text(0x0c, Buffer.of(0xff)), /not a valid UTF8String/],
    ["a BMPString of half a character", text(0x1e, Buffer.of(0)), /not a valid BMPString/],
    ["a BMPString with a surrogate", text(0x1e, utf16("😀")), /not a valid BMPString/],
    ["a text with NUL", text(0x0c, "admin\0"), /NUL/],
    ["a UniversalString", text(0x1c, Buffer.of(0, 0, 0, 0x41)), /tag 28/],
    ["a bit string", der.bitString(Buffer.of(1)), /tag 3/],
    ["a constructed text", text(0x2c, der.utf8String("a")), /tag 44/],
  ])("throws SubjectFault when the value is %s", (_, value, message) => {
    expect(() => organizationsOf(value)).toThrow(SubjectFault);
    expect(() => organizationsOf(value)).toThrow(message);
  });

  const value = der.utf8String("a");
  test.each<[string, Buffer]>([
    ["nothing", Buffer.alloc(0)],
    ["no sequence", der.set(der.set(attribute(organization, value)))],
    ["followed by bytes", Buffer.concat([subject(), Buffer.of(0x05, 0)])],
    ["not of sets", subject(attribute(organization, value))],
    ["of a value without identifier", subject(der.set(der.sequence(value)))],
    ["of a pair with a third part", subject(der.set(der.sequence(organization, value, value)))],
    [
      "of an identifier with a leading zero",
      subject(der.set(attribute(der.element(0x06, Buffer.from("5580040a", "hex")), value))),
    ],
    [
      "of an identifier that is cut",
      subject(der.set(attribute(der.element(0x06, Buffer.from("55048a", "hex")), value))),
    ],
    ["with a length of more digits than it needs", Buffer.concat([Buffer.of(0x30, 0x81, 0x00)])],
    [
      "longer than 64 KiB",
      subject(...Array.from({ length: 9000 }, () => der.set(attribute(organization, value)))),
    ],
  ])("throws SubjectFault when the subject is %s", (_, name) => {
    expect(() => readSubject(name)).toThrow(SubjectFault);
  });

  test("returns common names and organizations in order, also of sets with several attributes", () => {
    const name = subject(
      der.set(attribute(organization, der.utf8String("x")), attribute(organization, der.utf8String("y"))),
      der.set(attribute(commonName, der.utf8String("first"))),
      der.set(attribute(der.objectIdentifier("2.5.4.11"), der.utf8String("unit"))),
      der.set(attribute(commonName, der.utf8String("last"))),
    );
    expect(readSubject(name)).toEqual({
      commonNames: ["first", "last"],
      organizations: ["x", "y"],
      uids: [],
    });
  });

  test("agrees with OpenSSL when a text is accepted", () => {
    const { publicKey, privateKey } = newKeys();
    const publicKeyInfo = publicKey.export({ type: "spki", format: "der" });
    const readByOpenSsl = (name: Buffer): unknown => {
      const body = { subject: name, publicKeyInfo, notBefore: 0, notAfter: 1e12, extensions: [] };
      return new X509Certificate(signBody(body, privateKey, undefined)).toLegacyObject().subject?.O;
    };
    const tags = fc.constantFrom(0x0c, 0x12, 0x13, 0x14, 0x16, 0x1e);
    const contents = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }).map((content) => Buffer.from(content)),
      fc.string({ minLength: 1, maxLength: 8 }).map(utf16),
      fc.constant(Buffer.from("system:masters")),
    );
    let accepted = 0;
    fc.assert(
      fc.property(tags, contents, (tag, content) => {
        const name = subject(der.set(attribute(organization, der.element(tag, content))));
        let organizations: readonly string[];
        try {
          ({ organizations } = readSubject(name));
        } catch {
          return;
        }
        accepted++;
        expect([readByOpenSsl(name)]).toEqual(organizations);
      }),
      { numRuns: 2000 },
    );
    expect(accepted).toBeGreaterThan(100);
  });
});
