import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { SessionFindings } from './results.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

describe('the findings of a session', () => {
  it('hold no earlier check, however many there were', async () => {
    const findings = new SessionFindings()
    const checks = Array.from({ length: 50 }, (_, i) => {
      const finding = { reasons: [`reason-${i % 3}`], action: 'flag' } as never
      void findings.add(Promise.resolve(finding))
      return new WeakRef<object>(finding)
    })
    await findings.facts()

    await expect
      .poll(
        () => {
          collectGarbage()
          return checks.filter((check) => check.deref() !== undefined).length
        },
        { timeout: 60_000 },
      )
      .toBe(0)
    expect(await findings.facts()).toEqual({
      flagged: true,
      reasons: ['reason-0', 'reason-1', 'reason-2'],
    })
  })

  it('are complete before the next decision, in whatever order the checks end', async () => {
    const findings = new SessionFindings()
    const slow = Promise.withResolvers<never>()
    void findings.add(slow.promise)
    void findings.add(Promise.resolve(null))
    const facts = findings.facts()
    slow.resolve({ reasons: ['late'], action: 'flag' } as never)

    expect(await facts).toEqual({ flagged: true, reasons: ['late'] })
  })
})
