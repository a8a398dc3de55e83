/** Returns a page that leads a browser to an address. */
export function redirectPage(url: string): string {
  const address = url.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url=${address}">
<title>Plinth console</title>
</head>
<body><a href="${address}">Plinth console</a></body>
</html>
`;
}
