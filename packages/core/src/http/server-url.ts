const LOCAL = /^(.+\.)?localhost$|^127(\.\d+){3}$|^\[::1\]$/

/**
 * The server's base URL, normalized and without a final slash: the setting, or on loopback the origin
 * of the request. Elsewhere the client controls the `Host` header, so the result is null.
 */
export function serverUrl(baseUrl: string | undefined, asked: string): string | null {
  const { origin, hostname, pathname } = new URL(baseUrl ?? asked)
  if (baseUrl !== undefined) return origin + pathname.replace(/\/+$/, '')
  return LOCAL.test(hostname) ? origin : null
}

/** The server's base URL for metadata, whose clients refuse any but https URLs except on loopback. */
export function metadataUrl(baseUrl: string | undefined, asked: string): string | null {
  const url = serverUrl(baseUrl, asked)
  if (url === null || url.startsWith('https:')) return url
  return LOCAL.test(new URL(url).hostname) ? url : null
}
