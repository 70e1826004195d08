import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createDatabase, runStatement, testServerUrl } from '@remit/testing'

const ROLES = resolve(import.meta.dirname, '../../../../deploy/postgres/roles.sql')

/** A database with the two roles of `deploy/postgres/roles.sql`, under names of its own. */
export interface TwoRoles {
  readonly ownerUrl: string
  readonly appUrl: string
  drop(): Promise<void>
}

/** Creates an empty PostgreSQL database and both roles. */
export async function createTwoRoles(): Promise<TwoRoles> {
  const database = await createDatabase('postgres')
  const mark = randomBytes(4).toString('hex')
  const own = (text: string) => text.replaceAll(/remit_(owner|app)/g, `remit_$1_${mark}`)
  await runStatement(database.url, own(readFileSync(ROLES, 'utf8')))
  const urlOf = async (role: string) => {
    await runStatement(database.url, `alter role ${role} password 'remit'`)
    const url = new URL(database.url)
    url.username = role
    url.password = 'remit'
    return url.toString()
  }
  return {
    ownerUrl: await urlOf(own('remit_owner')),
    appUrl: await urlOf(own('remit_app')),
    async drop() {
      for (const role of ['remit_owner', 'remit_app'])
        await runStatement(database.url, own(`drop owned by ${role} cascade`))
      await database.drop()
      await runStatement(testServerUrl(), own('drop role remit_owner, remit_app'))
    },
  }
}
