import { existsSync, readdirSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Kysely } from 'kysely'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createDatabase, openPatiently, scratchFolder } from '@remit/testing'
import type { TestDatabase } from '@remit/testing'
import { copySqlite } from './backup.ts'

let created: TestDatabase
let db: Kysely<never>
let folder: string
beforeEach(async () => {
  created = await createDatabase('sqlite')
  db = openPatiently<never>(created.url)
  folder = scratchFolder('copies')
})
afterEach(async () => {
  await db.destroy()
  await created.drop()
  rmSync(folder, { recursive: true })
})

describe('copySqlite', () => {
  it('writes a file that only its owner can read at any time, and that has no name before its end', async () => {
    const seen: [string, number][] = []
    const watched = db.withPlugin({
      transformQuery: ({ node }) => node,
      // The copy has its content, and nothing has been done with it since.
      transformResult: ({ result }) => {
        for (const name of readdirSync(folder))
          seen.push([name, statSync(join(folder, name)).mode & 0o777])
        return Promise.resolve(result)
      },
    })
    await copySqlite(watched, join(folder, 'copy.db'))

    expect(seen).toEqual([[expect.stringMatching(/^copy\.db\..+\.partial$/), 0o600]])
    expect(readdirSync(folder)).toEqual(['copy.db'])
  })

  it('does not write through a link', async () => {
    const elsewhere = join(folder, 'elsewhere.db')
    symlinkSync(elsewhere, join(folder, 'copy.db'))

    await expect(copySqlite(db, join(folder, 'copy.db'))).rejects.toThrow(/already exists/)
    expect(existsSync(elsewhere)).toBe(false)
  })

  it('leaves nothing behind when it fails', async () => {
    const inTransaction = db
      .transaction()
      .execute((transaction) => copySqlite(transaction, join(folder, 'copy.db')))

    await expect(inTransaction).rejects.toThrow(/VACUUM/)
    expect(readdirSync(folder)).toEqual([])
  })
})
