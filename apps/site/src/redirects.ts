/** Pages that were renamed, by their old paths, and where they are now. */
export const REDIRECTS: ReadonlyMap<string, string> = new Map([['interface.html', 'public-classes.html']]);

/** The page at the old path. A static host sends no redirects, so the page leads on itself, to the same fragment where there are scripts. */
export function redirectPage(target: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Moved</title>
<meta name="robots" content="noindex">
<script>location.replace(${JSON.stringify(target)} + location.hash);</script>
<noscript><meta http-equiv="refresh" content="0; url=${target}"></noscript>
</head>
<body>
<p>This page has moved: <a href="${target}">${target}</a></p>
</body>
</html>
`;
}
