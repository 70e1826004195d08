export interface Request {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

/** The same request as a command for a POSIX shell; the key comes from the environment. */
export function curlOf({ method, path, body, headers = {} }: Request, origin: string): string {
  const lines = [`curl -s ${method === 'GET' ? '' : `-X ${method} `}${quoted(origin + path)}`]
  lines.push('-H "Authorization: Bearer $REMIT_KEY"')
  for (const [name, value] of Object.entries(headers))
    lines.push(`-H ${quoted(`${name}: ${value}`)}`)
  if (body !== undefined) {
    lines.push("-H 'Content-Type: application/json'")
    lines.push(`-d ${quoted(JSON.stringify(body))}`)
  }
  return lines.join(' \\\n  ')
}
