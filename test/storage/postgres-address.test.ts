import { describe, expect, test } from "vitest";
import { AddressError, parseAddress } from "../../src/storage/postgres/address.ts";

describe("the URL of a database", () => {
  test("names hosts, ports, user, password and database, with escapes", () => {
    const address = parseAddress("postgres://me:p%40ss%2F@db-1:5433,db-2,[::1]:7/shop");
    expect(address).toMatchObject({ user: "me", password: "p@ss/", database: "shop" });
    expect(address.hosts.map(({ host, port }) => [host, port])).toEqual([
      ["db-1", 5433],
      ["db-2", 5432],
      ["::1", 7],
    ]);
  });

  test("may name a socket, and other parts, by parameters", () => {
    const address = parseAddress("postgresql:///shop?host=/run/postgresql&user=me&port=5444");
    expect(address.hosts).toEqual([{ host: "/run/postgresql", port: 5444, ssl: false }]);
    expect(address).toMatchObject({ user: "me", database: "shop" });
  });

  test.each([
    ["127.0.0.1", "", false, 0],
    ["db", "", true, 0],
    ["db", "?sslmode=require", true, 1],
    ["db", "?sslmode=disable", false, 1],
    ["localhost", "?sslmode=verify-full", true, 0],
  ])(
    "with host %s and parameters %j uses TLS: %s, with %i warnings",
    (host, parameters, usesTls, warnings) => {
      const address = parseAddress(`postgres://${host}/db${parameters}`);
      expect(address.hosts[0]!.ssl !== false).toBe(usesTls);
      expect(address.warnings).toHaveLength(warnings);
      const { ssl } = address.hosts[0]!;
      if (ssl !== false) expect(ssl.rejectUnauthorized).toBe(parameters !== "?sslmode=require");
    },
  );

  test.each([
    "mysql://me:secret@db/x",
    "postgres://me:sec/ret@db/x",
    "postgres://me:sec?ret@db/x",
    "postgres://me:s@ec/ret@db/x",
    "postgres://me:s@ec?ret@db/x",
    "postgres://me:s@ec#ret@db/x",
    "postgres://db/x?user=me&password=a&secret=b",
    "postgres://me:sec%ret@db/x",
    "postgres://me:secret@db:port/x",
    "postgres://me:secret@db/x?sslmode=prefer",
    "postgres://me:secret@db/x?keepalives=1",
    "postgres://me:secret@db/x?sslcert=/nowhere",
    "postgres://me:secret@db/x?target_session_attrs=any",
  ])("%s is refused without the password in the message", (url) => {
    const attempt = () => parseAddress(url);
    expect(attempt).toThrow(AddressError);
    expect(attempt).not.toThrow(/secret|sec|ret@/);
  });
});
