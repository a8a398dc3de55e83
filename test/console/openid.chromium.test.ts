import { expect, it } from "vitest";
import { expectAccessible, useBrowser } from "./browser.ts";
import { normal, useProvider, type ProviderBehavior } from "./openid-support.ts";

const { pages, authorization } = useProvider();
const browser = useBrowser();

const place = "#/list/core/configmaps?namespace=default";

async function open(fragment = "") {
  const opened = await browser.open(`${pages.server.server.url}/console/${fragment}`);
  const { host } = new URL(pages.provider.url);
  const button = opened.page.getByRole("button", { name: `Sign in with ${host}` });
  await button.waitFor();
  return { ...opened, button };
}

it("the provider signs in with PKCE; the page returns to its place, and no code or token is left behind", async () => {
  const { page, button, complaints, requested } = await open(place);
  await expectAccessible(page);
  await button.click();
  await page.locator("header .user", { hasText: "ann" }).waitFor();
  await page.getByRole("heading", { name: "ConfigMap v1" }).waitFor();
  expect(page.url()).toBe(`${pages.server.server.url}/console/${place}`);

  expect(Object.fromEntries(authorization())).toMatchObject({
    response_type: "code",
    code_challenge_method: "S256",
    scope: "openid groups",
  });
  for (const name of ["state", "nonce", "code_challenge"]) expect(authorization().get(name)).toHaveLength(43);
  const stored = await page.evaluate<string>(
    "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state])",
  );
  expect(stored).not.toMatch(/sign-in|ey[A-Za-z]/);
  // The only URL with the code is the one to which the provider redirects.
  expect(requested.filter((url) => url.includes("the-code"))).toHaveLength(1);
  expect(requested.join()).not.toMatch(/ey[A-Z]/);
  expect(pages.lines.join()).not.toContain("the-code");
  await page.goBack();
  expect(page.url()).not.toContain("code=");
  expect(complaints).toEqual([]);
});

it("a reload keeps the session, and after the sign-out another sign-in is possible", async () => {
  const { page, button } = await open();
  await button.click();
  await page.locator("header .user", { hasText: "ann" }).waitFor();
  await page.reload();
  await page.locator("header .user", { hasText: "ann" }).waitFor();
  await page.getByRole("button", { name: "Sign out" }).click();
  await button.click();
  await page.locator("header .user", { hasText: "ann" }).waitFor();
});

const refused: readonly (readonly [title: string, changes: Partial<ProviderBehavior>, message: string])[] = [
  ["a wrong state", { redirect: { state: "wrong" } }, "doesn't belong to a sign-in of this tab"],
  ["another issuer", { redirect: { iss: "https://other.example" } }, "another OpenID provider"],
  [
    "an error of the provider",
    { redirect: { error: "access_denied", error_description: "not in the group" } },
    "refused the sign-in: access_denied: not in the group",
  ],
  ["a wrong nonce", { claims: { nonce: "wrong" } }, "another nonce than this sign-in"],
  [
    "a token for another client",
    { claims: { aud: "other" } },
    "doesn't accept this token; its log has the reason",
  ],
  [
    "a refused code",
    { tokenError: { status: 400, body: { error: "invalid_grant", error_description: "the code is old" } } },
    "didn't exchange the code: invalid_grant: the code is old",
  ],
  ["a response without a token", { tokenError: { body: {} } }, "status 200, no ID token"],
  [
    "a provider that doesn't allow the page",
    { tokenError: { headers: { "access-control-allow-origin": "https://other.example" }, body: {} } },
    "doesn't allow requests from",
  ],
];

it("a sign-in that fails at any step says why, and can be repeated", async () => {
  const { page, button } = await open();
  for (const [title, changes, message] of refused) {
    Object.assign(pages.behavior, normal(), changes);
    await button.click();
    await page.getByRole("alert").getByText(message).waitFor();
    expect([title, page.url()]).toEqual([title, `${pages.server.server.url}/console/`]);
    await button.waitFor();
  }
});

it("a link with a code and a state of someone else signs nobody in", async () => {
  const { page } = await browser.open(
    `${pages.server.server.url}/console/?code=the-code-of-this-sign-in&state=x`,
  );
  await page.getByRole("alert").getByText("doesn't belong to a sign-in of this tab").waitFor();
  expect(pages.provider.received.filter(({ path }) => path === "/token")).toEqual([]);
});
