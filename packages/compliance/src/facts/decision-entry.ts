import type { Actor } from '@remit/contract'
import { GOVERNING } from './outcome.ts'
import type { DecisionFacts, Matched, RecordedSpend, RecordedWindow } from './outcome.ts'
import type { FactEntry, FactRow } from './entry.ts'
import type { Interner } from './meter.ts'
import { actorIn, dataIn, parsePayload } from './lazy-entry.ts'
import type { RecordedJson } from './recorded-json.ts'
import { JsonScanner } from './scan.ts'

const A = 97
const C = 99
const CLOSE_BRACE = 125

/**
 * An `authorization.decided` entry, read without parsing the request: its context can be most of
 * the payload, and decisions are most of a ledger. Returns the same values as `LazyEntry` in about a third of
 * the time; plain fields for the same reason. See docs/adr/0023-reports-scan-decisions.md.
 */
export class DecisionEntry implements FactEntry, DecisionFacts {
  readonly seq: number
  readonly time: number
  readonly kind: string
  readonly erased = false
  agent_id: string | null = null
  action: string | null = null
  resource: string | null = null
  decision: string | null = null
  reason: string | null = null
  configVersion: number | null = null
  plan: string | null = null
  matches: number | null = null
  isGoverned = false
  approval: DecisionFacts['approval'] = null
  spend: RecordedSpend | null = null
  hasInvalidAmount = false
  heldMicro = 0
  readonly #text: string
  #contextAt = -1
  #matchedAt = -1
  #payload: RecordedJson | null | undefined

  private constructor(row: FactRow, time: number, text: string) {
    this.seq = row.seq
    this.kind = row.kind
    this.time = time
    this.#text = text
  }

  /** Returns null if the payload was erased or does not have the layout of the writer. */
  static of(row: FactRow, time: number, names: Interner): DecisionEntry | null {
    const { payload } = row
    if (payload === null) return null
    const entry = new DecisionEntry(row, time, payload)
    const scan = new JsonScanner(payload)
    entry.#scan(scan)
    if (scan.failed || scan.at !== payload.length) return null
    if (entry.agent_id !== null) entry.agent_id = names.of(entry.agent_id)
    if (entry.action !== null) entry.action = names.of(entry.action)
    return entry
  }

  get decided(): DecisionFacts {
    return this
  }

  get actor(): Actor | null {
    return actorIn(this.#parsed)
  }

  get data(): RecordedJson {
    return dataIn(this.#parsed)
  }

  get #parsed(): RecordedJson | null {
    if (this.#payload === undefined) this.#payload = parsePayload(this.#text)
    return this.#payload
  }

  contextText(name: string): string | null {
    if (this.#contextAt === -1) return null
    const scan = new JsonScanner(this.#text, this.#contextAt)
    scan.expect('{')
    for (let member = scan.name(); member !== null; member = scan.name()) {
      if (member !== name) scan.skip()
      else return scan.isAtString ? scan.string() : null
    }
    return null
  }

  get matched(): readonly Matched[] {
    if (this.#matchedAt === -1 || this.matches === 0) return []
    const scan = new JsonScanner(this.#text, this.#matchedAt)
    const matched: Matched[] = []
    scan.expect('[')
    do matched.push(scanMatch(scan))
    while (scan.takes(','))
    return matched
  }

  /** Counts the matches and checks whether one of them governs. */
  #scanMatches(scan: JsonScanner): void {
    this.matches = 0
    scan.expect('[')
    if (scan.takes(']')) return
    do {
      scan.expect('{"id":')
      scan.skip()
      scan.expect(',"kind":')
      if (scan.takes('"policy"')) this.isGoverned = true
      else this.isGoverned = GOVERNING.has(scan.string()) || this.isGoverned
      endMatch(scan)
      this.matches += 1
    } while (!scan.failed && scan.takes(','))
    scan.expect(']')
  }

  #scan(scan: JsonScanner): void {
    scan.expect('{"action":')
    this.action = scan.textOrNull()
    scan.expect(',"actor":')
    scan.skip()
    scan.expect(',"agent_id":')
    this.agent_id = scan.textOrNull()
    scan.expect(',"data":{')
    while (!scan.failed && scan.char() !== CLOSE_BRACE) {
      this.#scanMember(scan)
      if (!scan.takes(',')) break
    }
    scan.expect('},"decision":')
    this.decision = scan.textOrNull()
    scan.expect(',"reason":')
    this.reason = scan.textOrNull()
    scan.expect(',"resource":')
    this.resource = scan.textOrNull()
    scan.expect('}')
  }

  /** The first letter of a name avoids most comparisons. */
  #scanMember(scan: JsonScanner): void {
    const letter = scan.char(1)
    if (letter === C) {
      if (scan.takes('"context":')) {
        this.#contextAt = scan.at
        scan.skip()
        return
      }
      if (scan.takes('"config_version":')) {
        this.configVersion = versionOf(scan.whole())
        return
      }
    } else if (letter === A) {
      if (scan.takes('"approval":')) {
        this.approval = scanApproval(scan)
        return
      }
      if (scan.takes('"amount_invalid":true')) {
        this.hasInvalidAmount = true
        return
      }
    } else if (scan.takes('"matched":')) {
      this.#matchedAt = scan.at
      this.#scanMatches(scan)
      return
    } else if (scan.takes('"plan":')) {
      this.plan = scan.string()
      return
    } else if (scan.takes('"hold":')) {
      this.heldMicro = scanHold(scan)
      return
    } else if (scan.takes('"spend":')) {
      this.spend = scanSpend(scan)
      return
    }
    scan.skip()
    scan.expect(':')
    scan.skip()
  }
}

/** Reads the next match of a list, up to and including its kind. */
function scanMatch(scan: JsonScanner): Matched {
  scan.expect('{"id":')
  const id = scan.string()
  scan.expect(',"kind":')
  const kind = scan.string()
  endMatch(scan)
  return { kind, id }
}

/** Skips the revision of a policy, which other matches do not have. */
function endMatch(scan: JsonScanner): void {
  if (scan.takes('}')) return
  scan.expect(',"revision":')
  scan.skip()
  scan.expect('}')
}

const versionOf = (version: number): number | null =>
  Number.isSafeInteger(version) ? version : null

function scanApproval(scan: JsonScanner): DecisionFacts['approval'] {
  scan.expect('{"id":')
  const id = scan.string()
  scan.expect(',"status":')
  const status = scan.string()
  scan.expect('}')
  return { id, status }
}

function scanHold(scan: JsonScanner): number {
  scan.expect('{"expires_at":')
  scan.skip()
  scan.expect(',"usd":')
  const micro = scan.micro()
  scan.expect('}')
  return micro
}

function scanSpend(scan: JsonScanner): RecordedSpend {
  scan.expect('{"amount_usd":')
  const amountMicro = scan.takes('null') ? null : scan.micro()
  scan.expect(',"daily":')
  const daily = scanWindow(scan)
  scan.expect(',"monthly":')
  const monthly = scanWindow(scan)
  scan.expect('}')
  return { amountMicro, daily, monthly }
}

function scanWindow(scan: JsonScanner): RecordedWindow | null {
  if (scan.takes('null')) return null
  scan.expect('{"limit_usd":')
  const limitMicro = scan.micro()
  scan.expect(',"spent_usd":')
  const spentMicro = scan.micro()
  scan.expect('}')
  return { limitMicro, spentMicro }
}
