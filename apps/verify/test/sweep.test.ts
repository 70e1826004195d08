import { sampled } from '@remit/testing/pure'
import { describe, expect, test } from 'vitest'
import { both, bytesOf, comparable } from './support/agree.ts'
import { ATTACKS, sealedFrom, signedBy } from './support/forge.ts'
import { sound, vectors } from './support/vectors.ts'

const { lines, vkey } = sound
const bytes = bytesOf(lines)
const kept = vectors.find(({ name }) => name === 'sound, a checkpoint kept outside')!.checkpoints

/** Both verifiers on each file: how many were not found sound, and that they never disagreed. */
async function sweep(files: Iterable<Uint8Array>, checkpoints: readonly string[] = []) {
  const statuses: Record<string, number> = {}
  for (const file of files) {
    const { own, core } = await both({ bytes: file, vkey, checkpoints })
    expect(comparable(own)).toEqual(comparable(core))
    statuses[own.status] = (statuses[own.status] ?? 0) + 1
  }
  return statuses
}

/** One file for every so many places in the export: all of them take minutes. */
function* map<T>(from: number, step: number, make: (at: number) => T): Generator<T> {
  const places = Array.from(
    { length: Math.ceil((bytes.length - from) / step) },
    (_, nth) => from + nth * step,
  )
  for (const at of sampled(places, 5, 1)) yield make(at)
}

describe('a changed export is judged as the server judges it', () => {
  test.each([
    ['its lowest bit', 1],
    ['its case bit', 32],
    ['its highest bit, so that it is no UTF-8', 128],
  ])('a byte, %s flipped: never sound', { timeout: 300_000 }, async (_name, bit) => {
    const flipped = map(bit % 11, 11, (at) => {
      const copy = Uint8Array.from(bytes)
      copy[at]! ^= bit
      return copy
    })

    expect(await sweep(flipped)).not.toHaveProperty('ok')
  })

  test('cut after a byte: sound only where nothing but the last newline is gone', async () => {
    const cut = map(0, 11, (at) => bytes.subarray(0, at))

    expect(await sweep(cut)).not.toHaveProperty('ok')
    expect(await sweep([bytes.subarray(0, -1), bytes])).toEqual({ ok: 2 })
  })

  test('a byte left out, or written twice', { timeout: 300_000 }, async () => {
    const without = map(3, 23, (at) =>
      Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
    )
    const twice = map(5, 23, (at) => Buffer.concat([bytes.subarray(0, at + 1), bytes.subarray(at)]))

    expect(await sweep(without)).not.toHaveProperty('ok')
    expect(await sweep(twice)).not.toHaveProperty('ok')
  })

  test('each line left out, doubled, and exchanged with each other', async () => {
    const files = lines.flatMap((line, at) => [
      lines.toSpliced(at, 1),
      lines.toSpliced(at, 0, line),
      ...lines.slice(at + 1).map((other, more) => lines.with(at, other).with(at + 1 + more, line)),
    ])

    expect(await sweep(files.map(bytesOf))).not.toHaveProperty('ok')
  })

  test('each run of lines left out', async () => {
    const files = lines.flatMap((_, from) =>
      lines.slice(from).map((__, count) => lines.toSpliced(from, count + 1)),
    )

    expect(await sweep(files.map(bytesOf), kept)).not.toHaveProperty('ok')
  })

  test.each(sampled(ATTACKS, 3, 1))('each entry: $name', async ({ change }) => {
    for (const reseal of [false, true]) {
      const files = lines.slice(1, -1).flatMap((_, seq) => {
        const changed = change(lines, seq, reseal)
        return changed === null ? [] : [bytesOf(changed)]
      })

      expect(await sweep(files)).not.toHaveProperty('ok')
      expect(await sweep(files, kept)).not.toHaveProperty('ok')
    }
  })
})

test('the end is not confirmed beside a checkpoint from outside that disagrees', async () => {
  const checkpointsOf = (ending: string) =>
    vectors.find(({ name }) => name.endsWith(ending))!.checkpoints
  // It covers the last entry of this export.
  const last = checkpointsOf('outside is ahead')
  const agreed = await both({ bytes, vkey, checkpoints: last })
  const disputed = await both({
    bytes,
    vkey,
    checkpoints: [...last, ...checkpointsOf('outside disagrees')],
  })

  for (const { own, core } of [agreed, disputed]) expect(comparable(own)).toEqual(comparable(core))
  expect(agreed.own).toMatchObject({ status: 'ok', truncation_checked: true })
  expect(disputed.own).toMatchObject({ status: 'tampered', truncation_checked: false })
})

describe('a ledger that was rewritten with fresh hashes', () => {
  const rewritten = sealedFrom(lines, 3, ({ payload }) => ({
    payload: payload?.replace('4.5', '9.5') ?? null,
  }))

  test('shows at the checkpoint, which is of another root', async () => {
    const { own } = await both({ bytes: bytesOf(rewritten), vkey, checkpoints: [] })

    expect(own.status).toBe('tampered')
    expect(own.errors.map(({ code }) => code)).toEqual(['checkpoint_root'])
  })

  test('and signed with another key shows by the pinned key, and by nothing else', async () => {
    const forged = bytesOf(
      signedBy(
        'forger',
        sealedFrom(lines, 0, () => ({}), 'forger'),
      ),
    )
    const alone = await both({ bytes: forged, vkey: null, checkpoints: [] })
    const pinned = await both({ bytes: forged, vkey, checkpoints: [] })
    const outside = await both({ bytes: forged, vkey: null, checkpoints: kept })

    for (const { own, core } of [alone, pinned, outside])
      expect(comparable(own)).toEqual(comparable(core))
    expect(alone.own).toMatchObject({ status: 'ok', anchored_by: 'none' })
    expect(alone.own.not_checked).toContainEqual(expect.stringMatching(/^The signer/))
    expect(pinned.own.status).toBe('tampered')
    expect(outside.own.status).toBe('tampered')
  })

  test('and signed with the real key shows by a checkpoint from elsewhere alone', async () => {
    const forged = bytesOf(signedBy('one', rewritten))
    const before = await both({ bytes: forged, vkey, checkpoints: [] })
    const after = await both({ bytes: forged, vkey, checkpoints: kept })

    expect(before.own).toMatchObject({ status: 'ok', anchored_by: 'signature' })
    expect(before.own.not_checked).toContainEqual(
      expect.stringMatching(/holder of the signing key/),
    )
    expect(after.own).toMatchObject({
      status: 'tampered',
      first_invalid: { code: 'checkpoint_root' },
    })
  })
})
