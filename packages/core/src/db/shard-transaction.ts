import {
  DefaultQueryExecutor,
  DummyDriver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  Transaction,
} from 'kysely'
import type { DatabaseConnection, Dialect, QueryExecutor } from 'kysely'
import { wrapConnection } from './frequent-statements.ts'
import type { AnyDatabase } from './portable.ts'
import type { Shard } from './shard.ts'
import type { ShardTexts } from './shard-texts.ts'

/** A transaction uses its executor only. */
const dialect: Dialect = {
  createAdapter: () => new PostgresAdapter(),
  createDriver: () => new DummyDriver(),
  createQueryCompiler: () => new PostgresQueryCompiler(),
  createIntrospector: (db) => new PostgresIntrospector(db),
}
const UNUSED = { config: { dialect }, dialect, driver: new DummyDriver() }

class ShardExecutor extends DefaultQueryExecutor {
  constructor(inner: QueryExecutor, { texts }: Shard) {
    super(
      new PostgresQueryCompiler(),
      inner.adapter,
      {
        provideConnection: (use) => inner.provideConnection((own) => use(onTexts(own, texts))),
      },
      [...inner.plugins],
    )
  }
}

const onTexts = (own: DatabaseConnection, texts: ShardTexts): DatabaseConnection =>
  wrapConnection(own, {
    executeQuery: (query) => own.executeQuery({ ...query, sql: texts.of(query.sql) }),
    streamQuery: (query, size) => own.streamQuery({ ...query, sql: texts.of(query.sql) }, size),
  })

/**
 * Returns a transaction whose statements use the tables of a shard. Those that cannot still use the
 * distributed tables: both see the same rows.
 */
export function onShard<T>(tx: Transaction<T>, shard: Shard): Transaction<T> {
  const executor = new ShardExecutor(tx.getExecutor(), shard)
  return new Transaction<T>({ ...UNUSED, executor })
}

/** Returns true if statements of this transaction use the tables of a shard. */
export const isOnShard = (tx: AnyDatabase): boolean => tx.getExecutor() instanceof ShardExecutor

/** A statement without distributed tables: its plan can be kept. */
export const isForShard = (text: string): boolean =>
  /_\d+ as |\bpg_dist_placement\b|\block_shard_metadata\b/.test(text)
