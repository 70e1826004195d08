import { readFileSync } from 'node:fs'

/** JSON with names in it; see `requests.txt`. */
export type Template = unknown

/** A kind of request. */
export interface Row {
  readonly weight: number
  /** Who sends it: a name of `World.keys`. */
  readonly by: string
  readonly method: string
  readonly path: string
  readonly body?: Template
  readonly headers?: Template
}

export interface Part {
  /** Requests of a whole run. */
  readonly requests: number
  /** What its installation has. */
  readonly has: string
  /** Sent first, in this order. */
  readonly setup: readonly Row[]
  readonly rows: readonly Row[]
}

/** The alternatives of a name. */
export const NAMES = new Map<string, Template[]>()
export const PARTS = new Map<string, Part>()

interface Open {
  readonly setup: Row[]
  readonly rows: Row[]
}

function rowOf(line: string): Row {
  const [weight = '', by = '', method = '', path = ''] = line.split(' ', 4)
  const rest = line.slice([weight, by, method, path].join(' ').length).trim()
  const [body = '', headers = ''] = rest.split(' ;; ')
  return {
    weight: Number(weight === 'setup' ? 1 : weight),
    by,
    method,
    path,
    ...(body !== '' && { body: JSON.parse(body) as Template }),
    ...(headers !== '' && { headers: JSON.parse(headers) as Template }),
  }
}

const groups = new Map<string, Open>()
let name = ''
let open: Open = { setup: [], rows: [] }
for (const line of readFileSync(`${import.meta.dirname}/requests.txt`, 'utf8').split('\n')) {
  if (line === '' || line.startsWith('#')) continue
  const [, alternatives] = /^(\S+):$/.exec(line) ?? []
  const [, kind = '', title = '', rest = ''] = /^@(\w+) (\S+) ?(.*)$/.exec(line) ?? []
  const [, group = '', share = ''] = /^use (\S+) (\S+)$/.exec(line) ?? []
  const [, times = '1', text = ''] = /^ {2}(?:(\d+)x )?(.*)$/.exec(line) ?? []
  if (alternatives !== undefined) NAMES.set((name = alternatives), [])
  else if (text !== '')
    NAMES.get(name)?.push(...Array<Template>(Number(times)).fill(JSON.parse(text)))
  else if (kind !== '') {
    open = { setup: [], rows: [] }
    const [requests = '', ...has] = rest.split(' ')
    if (kind === 'group') groups.set(title, open)
    else PARTS.set(title, { requests: Number(requests), has: has.join(' '), ...open })
  } else if (group !== '') {
    const { setup = [], rows = [] } = groups.get(group) ?? {}
    open.setup.push(...setup)
    open.rows.push(...rows.map((row) => ({ ...row, weight: row.weight * Number(share) })))
  } else (line.startsWith('setup') ? open.setup : open.rows).push(rowOf(line))
}
