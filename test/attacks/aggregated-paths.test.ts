import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { effort } from "../support/effort.ts";
import { ExtensionServer } from "../support/extension-server.ts";
import { goRequestInfo } from "../support/go-request-info.ts";
import { Witness } from "./witness.ts";

let witness: Witness;
let extension: ExtensionServer;
let widgets: string;

beforeAll(async () => {
  extension = await ExtensionServer.start();
  witness = await Witness.start({ connections: { allowLoopback: true } });
  await extension.register(witness.server.admin);
  widgets = `${extension.path}/namespaces/default/widgets`;
});
beforeEach(() => {
  witness.questions();
  witness.denied = () => false;
  extension.received.length = 0;
});
afterAll(async () => {
  await witness.close();
  await extension.close();
});

/** The authorization question that a Go server would ask about the request that it received. */
function questionAt(method: string, url: string): string | undefined {
  const info = goRequestInfo(method, url.split("?", 1)[0]!);
  if (info === "error") return undefined;
  const { verb, resource, subresource, group, namespace, name } = info;
  const type = `${resource}${subresource === "" ? "" : `/${subresource}`}${group === "" ? "" : `.${group}`}`;
  return [verb, type, namespace, name].join(" ").trimEnd();
}

describe("a path of an extension server", () => {
  test.each([
    ["x%2Fexec", "x/exec"],
    ["x%2fexec", "x/exec"],
    ["x%2Fexec/", "x/exec/"],
    ["%78/e%78ec", "x/exec"],
  ])("is authorized and forwarded as the subresource when it is sent as %s", async (sent, forwarded) => {
    const question = `get widgets/exec.${extension.group} default x`;
    witness.denied = (one) => one === question;
    expect((await witness.http2("GET", `${widgets}/${sent}`)).status).toBe(403);
    expect(extension.received).toEqual([]);
    witness.denied = () => false;
    expect((await witness.http2("GET", `${widgets}/${sent}?a=%2F`)).status).toBe(200);
    expect(witness.questions()).toEqual([question, question]);
    expect(extension.received.map(({ url }) => url)).toEqual([`${widgets}/${forwarded}?a=%2F`]);
    expect(extension.received[0]!.headers["x-forwarded-uri"]).toBe(`${widgets}/${forwarded}`);
  });

  test.each([
    "..",
    ".",
    "%2e%2e",
    "x/../y",
    "..%2F..%2Fu%2Fsecret",
    "x/exec/..",
    "x%00",
    "x%0d%0aHost:%20y",
    "x%7f",
    "/exec",
    "x//exec",
    "x/%2Fexec",
  ])("is 400 and not forwarded when it is %s", async (sent) => {
    expect((await witness.http2("GET", `${widgets}/${sent}`)).status).toBe(400);
    expect(extension.received).toEqual([]);
  });

  test("is received by the extension server as it was authorized, whatever its segments", async () => {
    const piece = fc.constantFrom(
      ..."namespaces default widgets x exec status finalize proxy".split(" "),
      ..."|.|..|%2e%2e|%2F|%2f|x%2Fexec|..%2F..%2Fu%2F|%252F|%5c|%5C..%5c|%00|;a=b|*|%77idgets|%20|%3Fwatch=1|%23".split(
        "|",
      ),
    );
    const method = fc.constantFrom("GET", "HEAD", "POST", "DELETE");
    let forwarded = 0;
    await fc.assert(
      fc.asyncProperty(method, fc.array(piece, { minLength: 1, maxLength: 6 }), async (verb, pieces) => {
        witness.questions();
        extension.received.length = 0;
        const { status } = await witness.http2(
          verb,
          `${extension.path}${pieces.map((one) => `/${one}`).join("")}`,
        );
        expect(status).toBeLessThan(500);
        const [received] = extension.received;
        if (received === undefined) return;
        forwarded++;
        const question = questionAt(received.method, received.url);
        // A Go server fails when a path ends after a verb.
        if (question !== undefined) expect([question]).toEqual(witness.questions());
      }),
      { numRuns: effort(300, 800) },
    );
    expect(forwarded).toBeGreaterThan(50);
  });
});
