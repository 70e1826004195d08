import { canonicalJson } from '@remit/contract/json'
import { runs } from '@remit/testing/pure'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { DecisionEntry } from './decision-entry.ts'
import type { FactEntry } from './entry.ts'
import { Interner } from './meter.ts'
import { LazyEntry } from './lazy-entry.ts'

const rowOf = (payload: string) => ({
  seq: 7,
  recorded_at: '2026-01-01T00:00:00.000Z',
  kind: 'authorization.decided',
  payload,
})

const scanned = (payload: string) => DecisionEntry.of(rowOf(payload), 0, new Interner())

/** Everything that a meter can ask an entry for. */
function said(entry: FactEntry) {
  const { seq, time, kind, erased, actor, agent_id, action, resource, decision, reason, data } =
    entry
  const { decided } = entry
  return {
    seq,
    time,
    kind,
    erased,
    actor,
    agent_id,
    action,
    resource,
    decision,
    reason,
    data,
    decided: decided && {
      configVersion: decided.configVersion,
      plan: decided.plan,
      matches: decided.matches,
      isGoverned: decided.isGoverned,
      matched: decided.matched,
      approval: decided.approval,
      spend: decided.spend,
      hasInvalidAmount: decided.hasInvalidAmount,
      heldMicro: decided.heldMicro,
      texts: NAMES.map((name) => decided.contextText(name)),
    },
  }
}

const NAMES = ['session_id', 'request_id', 'decision_id', '', '"', '__proto__', 'a\n']

/** Text that could be taken for the layout around it. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }).filter((one) => one.isWellFormed()),
  fc.constantFrom('"', '\\', '\\"', ',"decision":"deny"', '}}', '"},"decision":', '\u2028', '𝒳\\'),
)
/**
 * No name has a backslash: once V8 13.6 has seen an object with the name `x\`, `JSON.parse` takes `x\n`
 * in the same place of another one for it.
 */
const name = fc
  .oneof(text, fc.constantFrom(...NAMES, 'matched', 'plan', 'hold', 'decision'))
  .filter((one) => !one.includes('\\'))
const { free } = fc.letrec((tie) => ({
  free: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.constantFrom(null, true, false, 0, -1.5e-9, 1e21, 12.5),
    fc.array(tie('free'), { maxLength: 3 }),
    fc.dictionary(name, tie('free'), { maxKeys: 3 }),
  ),
}))
const context = fc.dictionary(name, free, { maxKeys: 5 })
const usd = fc.integer({ min: 0, max: 1e15 }).map((micro) => micro / 1e6)
const maybe = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined })
const orNull = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: null })

const window = orNull(fc.record({ limit_usd: usd, spent_usd: usd }))
const data = fc
  .record({
    action_properties: maybe(context),
    amount_invalid: maybe(fc.constantFrom(true, false, 'true')),
    approval: maybe(fc.record({ id: text, status: text })),
    config_version: maybe(fc.nat()),
    context,
    decision_id: text,
    hold: maybe(fc.record({ usd, expires_at: orNull(text) })),
    matched: maybe(
      fc.array(
        fc.record(
          {
            kind: fc.oneof(text, fc.constantFrom('policy', 'permission', 'spend_limit')),
            id: text,
            revision: fc.nat(),
          },
          { requiredKeys: ['kind', 'id'] },
        ),
        { maxLength: 3 },
      ),
    ),
    plan: fc.constantFrom('team', 'enterprise'),
    resource_properties: maybe(context),
    resource_type: maybe(text),
    spend: maybe(fc.record({ amount_usd: orNull(usd), daily: window, monthly: window })),
    subject: maybe(context),
    warnings: maybe(fc.array(text)),
    whatever_comes_later: maybe(free),
  })
  .map((one) => Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)))

const payload = fc
  .record({
    action: orNull(text),
    actor: fc.record({ id: text, type: text }),
    agent_id: orNull(text),
    data,
    decision: orNull(text),
    reason: orNull(text),
    resource: orNull(text),
  })
  .map((one) => canonicalJson(one))

describe('a decision that is scanned', () => {
  it('equals the parsed payload, for any request', () => {
    fc.assert(
      fc.property(payload, (one) => {
        const fast = scanned(one)

        expect(fast).not.toBeNull()
        expect(said(fast!)).toEqual(said(new LazyEntry(rowOf(one), 0)))
      }),
      { numRuns: runs(2000) },
    )
  })

  it('is never made of a text that is cut off, and no text makes the scan fail', () => {
    fc.assert(
      fc.property(payload, fc.nat(), text, (one, at, wrong) => {
        const place = at % one.length

        expect(scanned(one.slice(0, place))).toBeNull()
        const fast = scanned(one.slice(0, place) + wrong + one.slice(place + 1))
        if (fast) said(fast)
      }),
      { numRuns: runs(2000) },
    )
  })

  it('is left to the parser where the layout is another', () => {
    for (const one of ['', '{}', 'null', '{"action":null}', `${minimal} `, ` ${minimal}`])
      expect(scanned(one)).toBeNull()
    expect(scanned(minimal)).not.toBeNull()
  })

  it('has money in whole micro-USD, to the last digit', () => {
    const held = (digits: string) =>
      scanned(minimal.replace('"data":{', `"data":{"hold":{"expires_at":null,"usd":${digits}},`))
        ?.heldMicro

    expect(held('0.1')).toBe(100_000)
    expect(held('0.000001')).toBe(1)
    expect(held('999999999.999999')).toBe(999_999_999_999_999)
    expect(held('1000000000')).toBe(1_000_000_000_000_000)
    expect(held('1e+3')).toBe(1_000_000_000)
  })
})

const minimal =
  '{"action":null,"actor":{"id":"k","type":"key"},"agent_id":null,"data":{"context":{}},"decision":null,"reason":null,"resource":null}'
