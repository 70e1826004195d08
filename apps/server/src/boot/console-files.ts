import { readdir, readFile, stat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { CONSOLE_HEADERS } from '@remit/core/http/console'
import type { ConsoleFiles } from '@remit/core/http/console'
import { parseAccept } from 'hono/utils/accept'

/** The console as `pnpm build` writes it; absent until then, and in installations without it. */
const DIST = fileURLToPath(new URL('../../../console/dist', import.meta.url))

const SHELL = 'index.html'
const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
}

/** The compressed copies beside a file, best first. */
const CODINGS = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

/** The name of a file under `assets` has a hash of its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

/** Contents by path below the folder. */
type Files = ReadonlyMap<string, Uint8Array<ArrayBuffer>>

/** Serves the web application from memory: paths that were not read at its start do not exist. */
export function consoleFiles(folder: string = DIST): ConsoleFiles {
  let read: { readonly at: number; readonly files: Files } | null = null
  /** Reads again after a new build, which replaces the shell last. */
  const current = async (): Promise<Files | null> => {
    const shell = await stat(join(folder, SHELL)).catch(() => null)
    if (!shell) return null
    if (read?.at !== shell.mtimeMs) {
      // A build is replacing the files; the next request sees them.
      const files = await readFiles(folder).catch(() => null)
      if (files) read = { at: shell.mtimeMs, files }
    }
    return read?.files ?? null
  }
  return {
    async serve(path, header) {
      const files = await current()
      if (!files) return null
      const name = path.replace(/^\/console\/?/, '')
      const isFile = files.has(name) && !CODINGS.some(([, suffix]) => name.endsWith(suffix))
      // A missing file with a hashed name belongs to another version: the shell is no substitute.
      if (!isFile && name.startsWith('assets/')) return null
      return respond(files, isFile ? name : SHELL, header('accept-encoding') ?? '')
    },
  }
}

async function readFiles(folder: string): Promise<Files> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true })
  const names = found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  return new Map(
    await Promise.all(
      names.map(
        async (name) =>
          [name.replaceAll('\\', '/'), new Uint8Array(await readFile(join(folder, name)))] as const,
      ),
    ),
  )
}

function respond(files: Files, name: string, accepted: string): Response {
  const coding = CODINGS.find(([type, suffix]) => files.has(name + suffix) && takes(accepted, type))
  const headers = {
    ...CONSOLE_HEADERS,
    'Content-Type': TYPES[extname(name)] ?? 'application/octet-stream',
    Vary: 'Accept-Encoding',
    ...(coding && { 'Content-Encoding': coding[0] }),
    ...(name.startsWith('assets/') && { 'Cache-Control': IMMUTABLE }),
  }
  return new Response(files.get(name + (coding?.[1] ?? '')), { headers })
}

/** Content negotiation (RFC 9110 §12.5.3): `*` stands for codings that are not listed. */
function takes(accepted: string, coding: string): boolean {
  const listed = parseAccept(accepted)
  const entry =
    listed.find(({ type }) => type.toLowerCase() === coding) ??
    listed.find(({ type }) => type === '*')
  return entry !== undefined && entry.q > 0
}
