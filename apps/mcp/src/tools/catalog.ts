import { createHash } from 'node:crypto'
import type { McpToolMapping } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { declaredMapping } from '@remit/contract/coaz'
import { compileCoaz } from '../mapping/coaz.ts'
import type { Coaz } from '../mapping/coaz.ts'
import { errorAnswer, CODES, resultAnswer } from '../rpc/answers.ts'
import { isMembers, textOf } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'
import { readUpstream } from '../rpc/message.ts'
import type { Request } from '../rpc/message.ts'
import { metaOf } from '../rpc/protocol.ts'
import type { Era } from '../rpc/protocol.ts'
import type { Visibility } from './visibility.ts'

/** Sends a request to the upstream under an id of the gateway, and resolves with its response. */
export type Call = (bytes: Buffer) => Promise<Buffer>

export interface CatalogOptions {
  readonly client: Client
  readonly upstream: string
  /** `first-use` admits the tools of an upstream that Remit does not know. */
  readonly trust: 'pinned' | 'first-use'
  readonly visibility: Visibility
}

interface Known {
  readonly print: string
  readonly state: string
  /** The mapping that the definition declares, where it is pinned. */
  readonly declared: Coaz | null
}

/** Milliseconds until a withdrawal by an administrator is known here. */
const MAX_AGE_MS = 30_000
const MAX_PAGES = 100
const BATCH = 200
const PINNED = ['name', 'title', 'description', 'inputSchema', 'outputSchema', 'annotations']

/** The tools of one upstream and the states that Remit has for their definitions. */
export class Catalog {
  readonly #options: CatalogOptions
  #known = new Map<string, Known>()
  #definitions = new Map<string, Members>()
  /** Names that are offered twice, on whatever pages: neither of their tools can be told from the other. */
  #shadowed: ReadonlySet<unknown> = new Set()
  #reading: Promise<void> | null = null
  #readAt = 0
  #isRead = false

  constructor(options: CatalogOptions) {
    this.#options = options
  }

  /** The upstream said that its tools changed: they are read again before the next call. */
  expire(): void {
    this.#isRead = false
  }

  /** Null if a tool may be called; else why not. Throws if the server or Remit does not say. */
  async reasonToWithhold(name: string, request: Request, call: Call): Promise<string | null> {
    const failure = await this.#read(request, call)
    if (failure !== null) throw new Error(failure)
    const known = this.#known.get(name)
    if (known?.state === 'admitted') return null
    return known
      ? `Not executed: the tool ${name} is not admitted (${known.state}). An administrator of Remit can admit it.`
      : `Not executed: the server does not offer the tool ${name}.`
  }

  /** The mapping that the definition of a tool declares; null unless an administrator has pinned it. */
  declaredMapping(name: string): Coaz | null {
    return this.#known.get(name)?.declared ?? null
  }

  /** The response to `tools/list` without tools that are not admitted, or that the agent may not call. */
  async filtered(request: Request, era: Era, bytes: Buffer, call: Call): Promise<Buffer | string> {
    const message = readUpstream(bytes)
    if (message.kind !== 'response' || message.result === null) return bytes
    const { result } = message
    const failure = (await this.#read(request, call)) ?? (await this.#learn(toolsIn(result)))
    if (failure !== null) return errorAnswer(request.id, CODES.internal, failure)
    const tools = toolsIn(result)
    const names = tools.map(({ name }) => name)
    const shown: Members[] = []
    for (const tool of tools) {
      const { name } = tool
      const known = this.#known.get(String(name))
      const isOnce = names.indexOf(name) === names.lastIndexOf(name)
      const isAdmitted = known?.state === 'admitted' && known.print === printOf(tool)
      if (!isOnce || !isAdmitted) continue
      const isDeclared = known.declared !== null
      if (await this.#options.visibility.isVisible(String(name), isDeclared)) shown.push(tool)
    }
    const listed = Array.isArray(result['tools']) ? result['tools'].length : -1
    const isPrivate =
      era === 'legacy' || (result['cacheScope'] === 'private' && ttlOf(result) <= MAX_AGE_MS)
    if (shown.length === listed && isPrivate) return bytes
    const own =
      era === 'legacy' ? {} : { cacheScope: 'private', ttlMs: Math.min(ttlOf(result), MAX_AGE_MS) }
    return resultAnswer(request.id, era, { ...result, tools: shown, ...own })
  }

  /** Reads the whole list of the upstream, or its states from Remit where the list is known. */
  async #read(request: Request, call: Call): Promise<string | null> {
    if (this.#isRead && Date.now() - this.#readAt < MAX_AGE_MS) return null
    this.#reading ??= this.#readAll(request, call).finally(() => {
      this.#reading = null
    })
    try {
      await this.#reading
      return null
    } catch (error) {
      return `Not executed: ${error instanceof Error ? error.message : String(error)}`
    }
  }

  async #readAll(request: Request, call: Call): Promise<void> {
    const isListed = this.#isRead
    // A change that the server announces from now on is read at the next call.
    this.#isRead = true
    this.#readAt = -Infinity
    const known = this.#known
    const definitions = this.#definitions
    try {
      const tools = isListed ? [...definitions.values()] : await listAll(request, call)
      if (!isListed) this.#shadowed = repeatedIn(tools)
      this.#known = new Map()
      this.#definitions = new Map()
      await this.#report(tools)
      this.#readAt = Date.now()
    } catch (error) {
      this.#known = known
      this.#definitions = definitions
      this.#isRead = false
      throw error
    }
  }

  /** Reports definitions that differ from those that were read: the upstream changed them without saying so. */
  async #learn(tools: readonly Members[]): Promise<string | null> {
    const news = tools.filter(
      (tool) => this.#known.get(String(tool['name']))?.print !== printOf(tool),
    )
    try {
      await this.#report(news)
      return null
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  async #report(tools: readonly Members[]): Promise<void> {
    const repeated = repeatedIn(tools)
    const single = tools.filter(
      ({ name }) =>
        typeof name === 'string' && name !== '' && !repeated.has(name) && !this.#shadowed.has(name),
    )
    for (let at = 0; at < single.length; at += BATCH) await this.#send(single.slice(at, at + BATCH))
  }

  /** Reports a batch; a definition that Remit does not take stays out, and the others do not. */
  async #send(batch: readonly Members[]): Promise<void> {
    const { client, upstream, trust } = this.#options
    const body = { upstream, trust, tools: batch.map(sendable) as { name: string }[] }
    try {
      const { data } = await client.reportMcpTools({ body })
      for (const [index, tool] of batch.entries()) this.#know(tool, data[index])
    } catch (error) {
      const isRefused = error instanceof RemitError && [400, 413].includes(error.status)
      const [first] = batch
      if (!isRefused) {
        const why = error instanceof Error ? error.message : String(error)
        throw new Error(`Remit has no states of the tools: ${why}`, { cause: error })
      }
      if (batch.length === 1 && first) this.#know(first, { state: 'refused' })
      else for (const tool of batch) await this.#send([tool])
    }
  }

  #know(tool: Members, { state, mapping }: Status = { state: 'seen' }): void {
    const name = String(tool['name'])
    const declared = mapping === 'declared' ? declaredBy(tool) : null
    this.#known.set(name, { print: printOf(tool), state, declared })
    this.#definitions.set(name, tool)
  }
}

interface Status {
  readonly state: string
  readonly mapping?: McpToolMapping
}

/** The mapping that Remit has pinned. If it cannot be used, each call is refused. */
function declaredBy(tool: Members): Coaz {
  try {
    return compileCoaz(declaredMapping(sendable(tool)))
  } catch (error) {
    return () => {
      throw error
    }
  }
}

const ttlOf = ({ ttlMs }: Members): number => (typeof ttlMs === 'number' ? ttlMs : 0)

/** The names that more than one tool has. */
function repeatedIn(tools: readonly Members[]): Set<unknown> {
  const seen = new Set<unknown>()
  return new Set(
    tools.flatMap(({ name }) => {
      if (seen.has(name)) return [name]
      seen.add(name)
      return []
    }),
  )
}

const toolsIn = ({ tools }: Members): Members[] =>
  Array.isArray(tools) ? (tools as unknown[]).filter(isMembers) : []

/** Identifies a definition in this process; the digest of record is computed by Remit. */
function printOf(tool: Members): string {
  const pinned = PINNED.flatMap((member) =>
    member in tool ? [[member, tool[member]] as const] : [],
  )
  return createHash('sha256')
    .update(canonicalJson(Object.fromEntries(pinned)))
    .digest('base64')
}

let listings = 0

async function listAll(request: Request, call: Call): Promise<Members[]> {
  const tools: Members[] = []
  let cursor: unknown
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const { progressToken: _, ...meta } = metaOf(request.params)
    const params = {
      ...(Object.keys(meta).length > 0 && { _meta: meta }),
      ...(cursor !== undefined && { cursor }),
    }
    const id = `remit-list-${++listings}`
    const asked = { jsonrpc: '2.0', id, method: 'tools/list', params }
    const message = readUpstream(await call(Buffer.from(textOf(asked))))
    if (message.kind !== 'response' || message.result === null)
      throw new Error('the server does not list its tools')
    tools.push(...toolsIn(message.result))
    cursor = message.result['nextCursor']
    if (typeof cursor !== 'string') return tools
  }
  throw new Error(`the server lists its tools on more than ${MAX_PAGES} pages`)
}

/**
 * A definition as Remit takes JSON: numbers that a double cannot hold exactly, such as the bounds of 64-bit
 * integers in a schema, become texts, and U+0000 and half surrogate pairs become visible. Pure.
 */
export const sendable = (definition: Members): Members => converted(definition) as Members

function converted(value: unknown): unknown {
  if (typeof value === 'number')
    return Math.abs(value) > Number.MAX_SAFE_INTEGER ? String(value) : value
  if (typeof value === 'string') return cleaned(value)
  if (Array.isArray(value)) return value.map(converted)
  if (!isMembers(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [cleaned(name), converted(member)]),
  )
}

const cleaned = (text: string): string => text.toWellFormed().replaceAll('\0', '\u2400')
