import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createWitness, openRemoteKey, parseKeyReference } from '@remit/core/kms'
import { deleteOrganization, scheduleDeletion, suspendOrganization } from '@remit/core/orgs'
import { KEY_SERVICE_ENV, createClock, someDialects, startKeyService } from '@remit/testing'
import type { TestClock, TestRemitOptions } from '@remit/testing'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { readNotes } from '../src/watch/checkpoint-files.ts'
import { createWatching } from './support/watching.ts'
import type { Watching } from './support/watching.ts'

const HOUR = 60 * 60_000
const DAY = 24 * HOUR

describe.each(someDialects())(
  'the last checkpoint of a deleted organization, with %s',
  (dialect) => {
    let folder: string
    let clock: TestClock
    let logged: string[]
    let process: Watching
    let id: string
    beforeEach(async () => {
      folder = mkdtempSync(join(tmpdir(), 'remit-deleted-'))
      clock = createClock('2026-11-20T08:00:00.000Z')
      logged = []
      process = await start({ dialect })
      ;({ id } = await process.remit.organization())
    })
    afterEach(async () => {
      await process.remit.close()
      rmSync(folder, { recursive: true, force: true })
    })

    const start = (
      database: Pick<TestRemitOptions, 'dialect' | 'url' | 'signingKey'>,
      settings: TestRemitOptions['settings'] = {},
    ) =>
      createWatching({
        ...database,
        clock,
        log: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
        settings: { checkpointDir: folder, ...settings },
      })
    const look = async (after = 2 * HOUR, { watch } = process) => {
      clock.advance(after)
      await watch.look()
      return (await readNotes(folder, id)).notes
    }
    const sizes = (notes: readonly string[]) => notes.map((note) => Number(note.split('\n')[1]))
    const schedule = async () => {
      await suspendOrganization(process.remit.writer, id)
      await scheduleDeletion(process.remit.writer, id, 7)
    }
    const remove = async () => {
      clock.advance(7 * DAY)
      return (await deleteOrganization({ ...process.remit, clock }, id)).ledger
    }

    test('is saved once, after those of the suspended organization', async () => {
      await look()
      await schedule()
      const [, suspended] = sizes(await look())
      const { size, checkpoint } = await remove()
      const ended = await look()

      expect(suspended).toBe(size - 1)
      expect(ended.at(-1)).toBe(checkpoint)
      expect(await look()).toEqual(ended)
      expect(logged).toEqual([])
    })

    test('is saved by a server that looks for the first time long after the deletion', async () => {
      await schedule()
      const { checkpoint } = await remove()
      await process.watch.close()
      const later = await start(process.remit)

      expect(await look(90 * DAY, later)).toEqual([checkpoint])
      await later.remit.close()
    })

    test('is saved by the next run if the folder could not be written', async () => {
      await look()
      await schedule()
      const { checkpoint } = await remove()
      const aside = `${folder}-aside`
      renameSync(folder, aside)
      writeFileSync(folder, 'not a folder')
      clock.advance(2 * HOUR)
      await process.watch.look()
      expect(logged.join('\n')).toContain(
        'saving the last checkpoint of a deleted organization failed',
      )
      rmSync(folder)
      renameSync(aside, folder)

      expect((await look()).at(-1)).toBe(checkpoint)
    })

    test('has the signature of the witness', async () => {
      await using service = await startKeyService()
      const reference = parseKeyReference('vault+transit:transit/remit')
      if (!reference) throw new Error('no reference')
      const witness = createWitness(openRemoteKey(reference, KEY_SERVICE_ENV, service.url))
      await process.watch.close()
      const witnessed = await start(process.remit, { witness })
      await look(2 * HOUR, witnessed)
      await schedule()
      const { checkpoint } = await remove()
      const last = (await look(2 * HOUR, witnessed)).at(-1) ?? ''

      expect(last.startsWith(checkpoint)).toBe(true)
      expect(last.match(/^— /gm)).toHaveLength(2)
      await witnessed.remit.close()
    })

    test('of one organization is saved although that of another is damaged', async () => {
      await process.remit.db
        .insertInto('deleted_organization')
        .values({
          // The first one of the list.
          id: 'org_0',
          deleted_at: '2026-11-20T09:00:00.000Z',
          origin: 'remit.test/ledger/org_0/led_0',
          size: 1,
          entry: '{}',
          note: 'no checkpoint',
        })
        .execute()
      await schedule()
      const { checkpoint } = await remove()

      expect((await look()).at(-1)).toBe(checkpoint)
      expect(existsSync(join(folder, 'org_0.txt'))).toBe(false)
      expect(logged.join('\n')).toContain('"orgId":"org_0"')
    })
  },
)
