import { Periodic } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import { recording, toClientError } from '@remit/core/ledger/lanes'
import type { EntryDraft, WorkOrigin } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { digest } from './token-uses.ts'
import type { CheckedFacts } from './verify.ts'

const SETTLE_MS = 10_000

/** Records refused tokens, with a limited number of entries. */
export class Refusals {
  readonly #deps: Pick<Deps, 'clock' | 'writer' | 'log'>
  readonly #log = new RefusalLog()
  readonly #runs: Periodic

  constructor(deps: Pick<Deps, 'clock' | 'writer' | 'log'>) {
    this.#deps = deps
    this.#runs = new Periodic(
      SETTLE_MS,
      () => this.settle(),
      (error) => deps.log.error({ err: error }, 'recording refused tokens failed'),
    )
  }

  /** Records one refusal durably before the response. */
  async record(
    orgId: string,
    origin: WorkOrigin,
    { reason, difference }: TokenRefusal,
    { issuer, facts }: CheckedFacts,
  ): Promise<void> {
    const { clock, writer } = this.#deps
    await this.settle()
    if (!this.#log.admit(orgId, issuer?.id ?? null, clock.now())) return
    const data = {
      reason,
      idp_id: issuer?.id ?? null,
      ...(issuer && { issuer: issuer.issuer }),
      ...(facts && { subject: facts.subject }),
      ...(facts?.jti != null && { jti_hash: digest(facts.jti) }),
      ...difference,
    }
    const work = writer.work(orgId, origin, (_scope, admitted) =>
      recording({ kind: 'token.refused', actor: actorOf(admitted), reason, data }),
    )
    await work.catch((error: unknown) => {
      throw toClientError(error)
    })
  }

  start(): void {
    this.#runs.start()
  }

  close(): Promise<void> {
    return this.#runs.close()
  }

  /** Records one entry for all counted refusals. */
  async settle(): Promise<void> {
    const { clock, writer, log } = this.#deps
    for (const { orgId, idpId, count } of this.#log.settle(clock.now())) {
      const data = { reason: 'too_many', idp_id: idpId, count }
      const entry: EntryDraft = {
        kind: 'token.refused',
        actor: actorOf(null),
        reason: 'too_many',
        data,
      }
      try {
        await writer.work(orgId, OPERATOR, () => recording(entry))
      } catch (error) {
        log.error({ err: error, orgId, count }, 'recording refused tokens failed')
      }
    }
  }
}

/** Recorded refusals per issuer and minute; further ones are only counted. */
const PER_MINUTE = 60
const MINUTE_MS = 60_000
const MAX_NAMES = 10_000

interface Minute {
  readonly orgId: string
  readonly idpId: string | null
  since: number
  seen: number
}

/** Refusals without their own entry. */
interface Unrecorded {
  readonly orgId: string
  readonly idpId: string | null
  readonly count: number
}

/** Limits the entries of refusals: the holder of a key can cause any number of them. */
export class RefusalLog {
  readonly #minutes = new Map<string, Minute>()

  /** Returns whether a refusal gets its own entry. */
  admit(orgId: string, idpId: string | null, now: number): boolean {
    const name = `${orgId} ${idpId}`
    let minute = this.#minutes.get(name)
    if (!minute) {
      if (this.#minutes.size >= MAX_NAMES) return false
      this.#minutes.set(name, (minute = { orgId, idpId, since: now, seen: 0 }))
    }
    return ++minute.seen <= PER_MINUTE
  }

  /** Returns and resets the counts of past minutes. */
  settle(now: number): Unrecorded[] {
    const unrecorded: Unrecorded[] = []
    for (const [name, { orgId, idpId, since, seen }] of this.#minutes) {
      if (now - since < MINUTE_MS) continue
      this.#minutes.delete(name)
      if (seen > PER_MINUTE) unrecorded.push({ orgId, idpId, count: seen - PER_MINUTE })
    }
    return unrecorded
  }
}

/** The reason of a refused token; visible to administrators in the ledger, never to the sender. */
type RefusalReason =
  | 'malformed'
  | 'header'
  | 'alg'
  | 'typ'
  | 'iss'
  | 'aud'
  | 'exp'
  | 'iat'
  | 'nbf'
  | 'life'
  | 'sub'
  | 'jti'
  | 'events'
  | 'cnf'
  | 'rate'
  | 'subject_rate'
  | 'kid_unknown'
  | 'fetch_failed'
  | 'signature'
  | 'condition'
  | 'mapping'
  | 'ambiguous'
  | 'agent_inactive'
  | 'consent'
  | 'agent_mismatch'
  | 'target'
  | 'scope'
  | 'limit'
  | 'jti_reused'

/** Values by the claim, header or setting that has them; null: absent. */
type Named = Readonly<Record<string, unknown>>

/** The members of a refused token and the accepted values, for the entry of the refusal. */
interface Difference {
  readonly found?: Named
  readonly allowed?: Named
}

export class TokenRefusal extends Error {
  readonly reason: RefusalReason
  readonly difference: Difference
  constructor(reason: RefusalReason, found?: Named, allowed?: Named) {
    super(reason)
    this.name = 'Refusal'
    this.reason = reason
    this.difference = {
      ...(found && { found: shownAll(found) }),
      ...(allowed && { allowed: shownAll(allowed) }),
    }
  }
}

const MAX_SHOWN = 256
const MAX_VALUES = 10

const shownAll = (named: Named): Named => shown(named, 2) as Named

/** A value in a size that an entry has room for: nobody may have vouched for the token yet. */
function shown(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return shownText(value)
  if (typeof value !== 'object' || value === null) return value ?? null
  if (levels === 0) return shownText(JSON.stringify(value))
  if (Array.isArray(value)) return value.slice(0, MAX_VALUES).map((one) => shown(one, levels - 1))
  const members = Object.entries(value).slice(0, MAX_VALUES)
  return Object.fromEntries(
    members.map(([name, member]) => [shownText(name), shown(member, levels - 1)]),
  )
}

function shownText(text: string): string {
  const whole = text.toWellFormed()
  return whole.length <= MAX_SHOWN ? whole : `${whole.slice(0, MAX_SHOWN).toWellFormed()}…`
}
