import { actorOf } from '@remit/core/caller'
import { toClientError } from '@remit/core/ledger/lanes'
import type { EntryDraft, Requester } from '@remit/core/ledger/lanes'
import type { Deps } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { RefusalLog } from './refusal-log.ts'
import type { TokenRefusal } from './refusal.ts'
import { digest } from './token-uses.ts'
import type { CheckedFacts } from './verify.ts'

const SETTLE_MS = 10_000

/** Records refused tokens, with a limited number of entries. */
export class Refusals {
  readonly #deps: Pick<Deps, 'clock' | 'writer' | 'log'>
  readonly #log = new RefusalLog()
  #timer: NodeJS.Timeout | undefined
  #settling: Promise<void> = Promise.resolve()

  constructor(deps: Pick<Deps, 'clock' | 'writer' | 'log'>) {
    this.#deps = deps
  }

  /** Records one refusal durably before the response. */
  async record(
    orgId: string,
    requester: Requester,
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
    const recording = writer.work(orgId, requester, (_scope, admitted) =>
      Promise.resolve({
        entries: [{ kind: 'token.refused', actor: actorOf(admitted), reason, data }],
        reply: () => undefined,
      }),
    )
    await recording.catch((error: unknown) => {
      throw toClientError(error)
    })
  }

  start(): void {
    this.#timer = setInterval(() => {
      this.#settling = this.settle()
    }, SETTLE_MS).unref()
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#settling
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
        await writer.work(orgId, OPERATOR, () =>
          Promise.resolve({ entries: [entry], reply: () => undefined }),
        )
      } catch (error) {
        log.error({ err: error, orgId, count }, 'recording refused tokens failed')
      }
    }
  }
}
