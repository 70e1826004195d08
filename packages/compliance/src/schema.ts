import type { Migration } from 'kysely/migration'

export const migrations: Readonly<Record<string, Migration>> = {}
