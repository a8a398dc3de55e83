import { describe, expect, it } from "vitest";
import { anonymousByDefault } from "../../src/authentication/anonymous.ts";
import type { AuthenticationResult, Authenticator } from "../../src/authentication/authenticator.ts";
import { AuthenticatorChain } from "../../src/authentication/authenticator-chain.ts";
import { parseTokenFile, TokenFileAuthenticator } from "../../src/authentication/token-file.ts";
import { StatusError } from "../../src/base/status-error.ts";
import { platform } from "../../src/vocabulary/platform.ts";
import { bearer, request } from "./support.ts";

const tokens = new TokenFileAuthenticator((await parseTokenFile("t1,alice,1,dev")).entries);
const found = (name: string, ...groups: string[]): AuthenticationResult => ({
  user: { name, uid: "", groups, extra: {} },
  method: "test",
  cacheable: false,
});
const always = (result: AuthenticationResult | undefined): Authenticator => ({ authenticate: () => result });
const later = (result: AuthenticationResult | undefined): Authenticator => ({
  authenticate: () => Promise.resolve(result),
});
const refusing: Authenticator = {
  authenticate() {
    throw new StatusError("Unauthorized", "no good");
  },
};
const refusingLater: Authenticator = {
  authenticate: () => Promise.reject(new StatusError("Unauthorized", "no good")),
};
const open = { vocabulary: platform, anonymous: true };
const closed = { vocabulary: platform, anonymous: false };

describe("the authenticator chain", () => {
  it("C-5-04 the first method that succeeds decides, synchronously or asynchronously", async () => {
    const name = async (...methods: Authenticator[]) =>
      (await new AuthenticatorChain(methods, open).authenticate(request({}))).user.name;
    expect(await name(always(undefined), always(found("a")), always(found("b")))).toBe("a");
    expect(await name(later(undefined), later(found("a")), always(found("b")))).toBe("a");
    expect(await name(refusing, refusingLater, always(found("b")))).toBe("b");
  });

  it("C-5-05 every authenticated user has the group system:authenticated once", () => {
    const chain = new AuthenticatorChain([tokens], open);
    const result = chain.authenticate(bearer("t1")) as AuthenticationResult;
    expect(result.user.groups).toEqual(["dev", "system:authenticated"]);
    expect(chain.authenticate(bearer("t1"))).toBe(result);
    const already = new AuthenticatorChain([always(found("a", "system:authenticated"))], open);
    expect((already.authenticate(request({})) as AuthenticationResult).user.groups).toEqual([
      "system:authenticated",
    ]);
  });

  it("C-5.9-01 a request without credentials is anonymous when anonymous access is enabled", () => {
    const result = new AuthenticatorChain([tokens], open).authenticate(request({})) as AuthenticationResult;
    expect(result.user).toEqual({
      name: "system:anonymous",
      uid: "",
      groups: ["system:unauthenticated"],
      extra: {},
    });
    const basic = new AuthenticatorChain([tokens], open).authenticate(
      request({ authorization: "Basic eDp5" }),
    );
    expect((basic as AuthenticationResult).method).toBe("anonymous");
  });

  it("C-5.9-01 the anonymous user is decided again for each request when the paths are limited", () => {
    const cacheable = (anonymous: boolean | (() => boolean)) => {
      const chain = new AuthenticatorChain([], { vocabulary: platform, anonymous });
      return (chain.authenticate(request({})) as AuthenticationResult).cacheable;
    };
    expect(cacheable(true)).toBe(true);
    expect(cacheable(() => true)).toBe(false);
    expect(() => cacheable(() => false)).toThrow(expect.objectContaining({ code: 401 }));
  });

  it("C-5-06 an unauthenticated request returns 401 when anonymous access is disabled", () => {
    const unauthorized = expect.objectContaining({ reason: "Unauthorized", code: 401 }) as Error;
    expect(() => new AuthenticatorChain([tokens], closed).authenticate(request({}))).toThrow(unauthorized);
    expect(() => new AuthenticatorChain([], closed).authenticate(bearer("t1"))).toThrow(unauthorized);
  });

  it("C-5.9-02 an invalid bearer token returns 401 with and without anonymous access", () => {
    for (const options of [open, closed]) {
      const chain = new AuthenticatorChain([tokens], options);
      expect(() => chain.authenticate(bearer("wrong"))).toThrow(expect.objectContaining({ code: 401 }));
    }
  });

  it("C-5.9-02 a request that a method rejected is not anonymous", async () => {
    expect(() => new AuthenticatorChain([refusing], open).authenticate(request({}))).toThrow("no good");
    const slow = new AuthenticatorChain([refusingLater, always(undefined)], open);
    await expect(slow.authenticate(request({}))).rejects.toThrow("no good");
  });

  it("an unexpected exception of a method is thrown", () => {
    const broken: Authenticator = {
      authenticate() {
        throw new TypeError("defect");
      },
    };
    expect(() =>
      new AuthenticatorChain([broken, always(found("a"))], open).authenticate(request({})),
    ).toThrow(TypeError);
  });

  it("C-5.9-03 anonymous access is on by default except with the mode AlwaysAllow", () => {
    expect(anonymousByDefault(["RBAC"])).toBe(true);
    expect(anonymousByDefault(["AlwaysAllow"])).toBe(false);
    expect(anonymousByDefault(["RBAC", "AlwaysAllow"])).toBe(false);
  });
});
